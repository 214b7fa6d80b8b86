"""From a repository without a bead to merged code and its evidence, by clicking alone: a real daemon, a scripted agent."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Person
from tests.browser.test_pages_in_a_browser import AXE, RULES
from tests.support.scripted import Scripted
from tests.support.web_process import WebProcess, web_process

pytestmark = pytest.mark.slow
PLAN = """beads:
  - {id: coins, title: Count the coins, needs_tests: false, estimate: 30}
  - {id: sum, title: Print the sum, needs_tests: false, needs: [coins]}
"""
HOW = {"desktop": {"viewport": DESKTOP}, "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True}}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    """A project without a bead, whose agent does good work."""
    made = Scripted(tmp_path)
    yield made
    if made.ask("daemon", "status")["running"]:
        made.nobrakes("daemon", "stop")


@pytest.fixture
def web(project: Scripted) -> Iterator[WebProcess]:
    """Its pages."""
    with web_process(project.folder, project.env()) as made:
        yield made


@pytest.mark.parametrize("device", HOW)
def test_a_person_begins_builds_and_reads_the_evidence(
    chromium: Any, project: Scripted, web: WebProcess, tmp_path: Path, device: str
) -> None:
    from playwright.sync_api import expect

    person = Person(chromium, web, project.folder.name, **HOW[device]).log_in()
    page = person.page
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)

    def link(name: str) -> None:
        page.get_by_role("link", name=name, exact=True).locator("visible=true").first.click()

    def sees(wanted: str, where: str = "#main") -> None:
        page.wait_for_function(
            "([where, wanted]) => new RegExp(wanted, 's').test(document.querySelector(where)?.innerText ?? '')",
            arg=[where, wanted],
            timeout=60_000,
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
        if AXE.exists():
            page.evaluate(AXE.read_text())
            found = page.evaluate("rules => axe.run(rules)", RULES)["violations"]
            assert [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found] == [], page.url

    sees("Begin.*Add a bead.*Bring a plan.*Begin a feature.*Start agents.*No decision is waiting for you")
    page.get_by_role("link", name="Bring a plan").click()
    expect(page.get_by_label("From a file")).to_be_visible()  # its script runs
    page.get_by_label("From a file").set_input_files(plan)
    expect(page.get_by_label("The plan")).to_have_value(PLAN)
    page.get_by_role("button", name="File it").click()
    sees("2 new beads.*Count the coins")
    page.get_by_role("button", name="Approve all of this").click()
    sees("Nothing is waiting for your approval")

    link("Board")
    page.get_by_role("link", name="New bead").click()
    page.get_by_label("Title").fill("Greet the customer")
    page.get_by_text("10 more fields").click()
    page.get_by_label("Needs tests").select_option("No")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/board")
    sees("Greet the customer")

    link("Now")
    expect(page.locator("#now-begins")).to_be_hidden()
    sees("No daemon is running, and 2 beads are waiting for it", "#now-broken")
    page.locator("#bar-state").get_by_role("button", name="Start").click()
    sees("Running", "#bar-state")
    sees("3 in all", "#now-merged")

    link("Evidence")
    sees("Records.*merged as")
    expect(page.locator("#main .list > .row")).to_have_count(3)
    page.get_by_role("link", name="Compare main with its records").click()
    sees(r"Main and its records agree: \d+ commits? on main, 3 records")
    link("all records of this bead")
    sees("Evidence of")
    expect(page.locator("#main .list > .row")).to_have_count(1)
    link("Cost")
    sees("By day.*By provider.*By bead.*By feature")
    expect(page.locator("#main")).to_contain_text(re.compile("Count the coins|Print the sum|Greet the customer"))
    link("Machine")
    sees("Agents at the same time.*Repositories")
    person.made_no_errors()
    person.close()
    assert project.ask("status")["counts"]["done"] == 3
