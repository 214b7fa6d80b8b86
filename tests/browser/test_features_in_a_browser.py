"""A feature from the idea to the yes, by its pages alone: on a phone, without scripts, with a real daemon and a Shaper."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import EVIL, PHONE, Person
from tests.browser.test_pages_in_a_browser import AXE, RULES, SMALL
from tests.support.scripted import Scripted, until
from tests.support.web_process import WebProcess, web_process

pytestmark = pytest.mark.slow
ASKS = f"""nobrakes agent ask 'Which store? {EVIL}' --option "Postgres: what we have" --option "SQLite: simpler" --priority 1
nobrakes agent ask 'Who logs in?'
echo "I asked."; echo "NOBRAKES: BLOCKED"
"""
PLANS = f"""nobrakes agent propose - <<'PLAN'
beads:
  - {{id: login-table, title: 'The table {EVIL}', estimate: 30, needs_tests: false, acceptance: [It is there]}}
  - {{id: login-form, title: The form, needs: [login-table], needs_tests: false}}
PLAN
nobrakes agent plan-ready; echo "It is whole."; echo "NOBRAKES: COMPLETED"
"""
FINDS = """nobrakes agent finding "No limit of tries" --category security --priority 2 --impact "Bots." --option "three tries"
echo "Looked."; echo "NOBRAKES: COMPLETED"
"""


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    """A project whose Shaper and reviewer are told what to do."""
    made = Scripted(tmp_path, more="[forge]\nmost_domains = 1\nclean_rounds = 1\n")
    made.configure('test_writer = "script"', 'shaper = "script"\ntest_writer = "script"')
    made.does("session~1", ASKS, 1)
    made.does("session~1", PLANS, 2)
    made.does("session~2", FINDS)
    return made


@pytest.fixture
def web(project: Scripted) -> Iterator[WebProcess]:
    """Its pages."""
    with web_process(project.folder, project.env()) as made:
        yield made


class Pages:
    """What a person does on the pages; each is loaded again until it shows what is waited for.

    `other` has scripts, without which axe does not come to an end: what the page has then is looked at with it.
    """

    def __init__(self, person: Person, other: Person) -> None:
        self.person, self.page, self.other = person, person.page, other

    def goes(self, path: str, wanted: str) -> None:
        """To the page, once it shows the text (a pattern)."""
        pattern = re.compile(wanted, re.DOTALL)

        def shows() -> bool:
            self.person.goes(path)
            return bool(pattern.search(self.text()))

        until(shows, what=self.text)
        assert self.page.evaluate("() => window.hit") is None
        assert not self.page.evaluate("() => document.documentElement.scrollWidth > innerWidth"), path
        assert self.page.evaluate(SMALL) == [], path
        if AXE.exists():
            page = self.other.goes(path)
            page.evaluate(AXE.read_text())
            found = page.evaluate("rules => axe.run(rules)", RULES)["violations"]
            assert [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found] == [], path

    def text(self) -> str:
        return str(self.page.locator("#main").inner_text())

    def presses(self, button: str) -> None:
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).first.click()

    def unfolds(self, summary: str) -> Any:
        found = self.page.locator("details", has=self.page.get_by_text(summary, exact=True))
        if found.get_attribute("open") is None:
            found.locator("summary").first.click()
        return found


def test_a_feature_is_begun_asked_about_read_and_signed_off_on_a_phone(
    chromium: Any, project: Scripted, web: WebProcess
) -> None:
    person, other = (
        Person(chromium, web, project.folder.name, viewport=PHONE, has_touch=True, java_script_enabled=scripts)
        for scripts in (False, True)
    )
    play = Pages(person.log_in(), other.log_in())
    play.goes("features", "Begin a feature")
    form = play.unfolds("Begin a feature")
    form.get_by_label("Title", exact=True).fill(f"Login {EVIL}")
    form.get_by_label("What you want, and why").fill("People log in.")
    form.get_by_role("checkbox").first.uncheck()
    form.get_by_label("Your own criteria").fill("review: nobody waits\nIt is fast")
    play.presses("Begin")
    (one,) = project.ask("forge", "list")["features"]
    here = f"features/{one['id']}"
    made = project.ask("forge", "show", one["id"])["feature"]["criteria"]
    assert len(made) == 9 and [(own["text"], own["how"]) for own in made[-2:]] == [
        ("nobody waits", "review"), ("It is fast", "manual")]  # fmt: skip
    project.nobrakes("run", expect=40)

    play.goes(here, "discovery.*Questions for you.*P1.*Which store.*P2.*Who logs in")
    play.page.get_by_role("radio", name="SQLite").check()
    play.page.get_by_label("Your answer").fill("Everybody")
    play.presses("Answer all 2")
    assert "2 questions answered: Which store" in play.text() and "Who logs in? Everybody" in play.text()
    project.nobrakes("run", expect=40)
    told = project.prompt("session~1", 2)
    assert told.count("The answer: SQLite") == 1 and told.count("The answer: Everybody") == 1

    for way in ("tree", "timeline", "kanban"):
        play.goes(f"{here}?as={way}", "review.*plan version 1.*1/10.*No limit of tries")
        plan = play.page.locator("section", has=play.page.locator("#h-plan")).text_content()
        assert re.search("The table.*The form", plan, re.DOTALL), "in the order of work"
        assert "tries\nsecurity" in play.text(), "each finding is apart from its category"
    play.unfolds("Versions (1)")
    assert "new: The form" in play.text()
    play.page.get_by_role("button", name="Sign off", exact=True).click()
    assert project.ask("forge", "reviews", one["id"])["signed"] is None, "no risk was taken, so nothing was sent"
    play.goes(here, "I accept the risk: 1 of 10 reviews")
    play.page.get_by_role("checkbox", name="I accept the risk").check()
    play.page.get_by_label("Reason to sign off while 1 finding is undecided").fill("Nobody waits for it")
    play.presses("Sign off")
    assert "you signed off" in play.text()
    assert project.ask("forge", "show", one["id"])["findings"][0]["answer"] == "Nobody waits for it"
    play.goes(
        here, r"\(web\) signed off version 1, .*accepted the risk.*Reason: Nobody waits for it.*Approve and implement"
    )
    assert play.page.get_by_role("button", name="Sign off", exact=True).count() == 0
    play.goes("plan", "Approve all of this.*The table")
    play.presses("Approve all of this")
    assert f"agents now build feature {one['id']}" in play.page.content()
    assert {project.status(bead) for bead in ("login-table", "login-form")} == {"needs_doer"}
    play.goes(here, "implementation.*Add the collected items to the plan now")
    for each in (person, other):
        each.made_no_errors()
    for each in (person, other):
        each.close()
    if not AXE.exists():
        pytest.skip("all but axe-core was seen, which is not here: npm ci --prefix .ci/web")
