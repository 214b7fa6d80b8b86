"""Comments on lines of a bead's difference, with a mouse, by keyboard and on a phone; and the links of its workspace."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Status
from nobrakes.beads.service import bead_commands
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import open_store
from tests.browser.conftest import DESKTOP, PHONE, Person
from tests.browser.test_pages_in_a_browser import AXE, RULES

pytestmark = pytest.mark.slow


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def write(folder: Path, lines: str) -> str:
    """A commit on main with these lines in src/a.py."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "a.py").write_text(lines)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Work\n\nBead: till")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def merged(repository: Path) -> str:
    """`till` is merged as a commit that replaces a line."""
    git(repository, "commit", "-qm", "Settings", "-a", "--allow-empty")
    (repository / "src").mkdir()
    (repository / "src" / "a.py").write_text("one\nold <b>\nthree\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "Before")
    return finish(repository, write(repository, "one\nnew <i>\nthree\nfour\n"))


def finish(repository: Path, commit: str) -> str:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.record(Event(Kind.FOUND_MERGED, "till", data={"merged_commit": commit}))
    store.close()
    return commit


def notes(repository: Path) -> tuple[str, Status]:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    bead = store.bead("till")
    store.close()
    return bead.notes, bead.status


def barriers(page: Any) -> list[str]:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm ci --prefix .ci/web")
    page.evaluate(AXE.read_text())
    return [
        (one["id"], [node["html"][:160] for node in one["nodes"]])
        for one in page.evaluate("rules => axe.run(rules)", RULES)["violations"]
    ]


@pytest.mark.parametrize("sides", ["", "?sides=2"])
def test_comments_are_typed_under_their_lines_kept_and_sent_at_once(merged, repository, person, sides) -> None:
    page = person.goes(f"bead/till/diff{sides}")
    page.get_by_text("new <i>").click()
    page.get_by_role("textbox", name="Comment on src/a.py:2").fill('Not <img src=x onerror="window.hit=1">')
    page.get_by_text("old <b>").click()
    page.get_by_role("textbox", name="Comment on src/a.py:-2").fill("Why is it gone?")
    page.get_by_text("four").click()
    page.keyboard.press("Escape")
    assert page.get_by_role("textbox", name="Comment on src/a.py:4").count() == 0, "an empty one leaves nothing"
    page.reload()
    page.locator("summary").filter(has_text="Send back").click()
    assert page.locator("summary .comment-count").inner_text() == "2 comments"
    assert page.get_by_role("textbox", name="Comment on src/a.py:-2").input_value() == "Why is it gone?"
    assert barriers(page) == [] and page.evaluate("() => window.hit") is None
    page.get_by_role("textbox", name="Note about the whole change").fill("Twice, please")
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url("**/bead/till")
    page.get_by_text("till is sent back to agents with 2 comments").wait_for()
    text, status = notes(repository)
    assert status is Status.NEEDS_DOER and text.split("\n") == [
        f"A person read commit {merged[:12]} and sends the work back.",
        "1. src/a.py, line 2, before the change: `old <b>`",
        "   Why is it gone?",
        "2. src/a.py, line 2: `new <i>`",
        '   Not <img src=x onerror="window.hit=1">',
        "Twice, please",
    ]
    page.go_back()
    assert page.locator(".patch textarea").count() == 0, "what was sent is no draft"
    person.made_no_errors()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_line_is_commented_on_by_keyboard_and_by_a_finger(merged, repository, chromium, served, size) -> None:
    person = Person(chromium, served, viewport=size, has_touch=size is PHONE).log_in()
    page = person.goes("bead/till/diff")
    stop = page.get_by_role("button", name="Comment on line", exact=False)
    assert stop.count() == 1, "Tab stops once in a file"
    stop.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Comment on line 2"
    page.keyboard.press("Enter")
    page.keyboard.type("By hand")
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Comment on line 2"
    if size is PHONE:
        page.get_by_text("four").tap()
    else:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
    page.keyboard.type("Another")
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Comment on src/a.py:4"
    page.locator("summary").filter(has_text="Send back").click()
    page.get_by_role("button", name="src/a.py:2 By hand").click()
    assert page.evaluate("() => document.activeElement.value") == "By hand"
    assert barriers(page) == []
    assert not page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    page.get_by_role("button", name="Remove the comment on src/a.py:2").click()
    page.reload()
    assert page.locator(".patch textarea").count() == 1, "what was removed is no draft"
    page.locator("summary").filter(has_text="Send back").click()
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url("**/bead/till")
    assert "4: `four`\n   Another" in notes(repository)[0] and "By hand" not in notes(repository)[0]
    person.made_no_errors()
    person.close()


def test_of_work_that_changed_meanwhile_a_person_is_warned_and_may_send_all_the_same(
    merged, repository, person
) -> None:
    page = person.goes("bead/till/diff")
    page.get_by_text("new <i>").click()
    page.get_by_role("textbox", name="Comment on src/a.py:2").fill("Not this")
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    bead_commands.reopen(store, "till", "ada")
    store.close()
    finish(repository, write(repository, "one\nnewer\nthree\n"))
    page.locator("summary").filter(has_text="Send back").click()
    page.get_by_role("button", name="Send back").click()
    page.get_by_text("the work has changed: your comments refer to").wait_for()
    person.errors[:] = [one for one in person.errors if "409" not in one]
    page.reload()
    page.locator("summary").filter(has_text="Send back").click()
    page.get_by_text(f"Your comments refer to commit {merged[:7]}").wait_for()
    page.get_by_text("newer").click()
    page.get_by_text("about an earlier commit").first.wait_for()
    page.get_by_label("Send the comments anyway").check()
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url("**/bead/till")
    assert f"commit {merged[:12]}" in notes(repository)[0] and "line 2: `new <i>`\n   Not this" in notes(repository)[0]
    person.made_no_errors()


def test_the_page_opens_the_folder_of_a_bead_in_an_editor_and_copies_the_line_that_takes_it(repository, person) -> None:
    page = person.goes("bead/till")
    assert page.get_by_role("link", name="Open in editor").count() == 0, "nobody works on it"
    clone = repository / ".nobrakes" / "workspaces" / "till"
    git(repository, "init", "-q", str(clone))
    page.reload()
    assert page.get_by_text(str(clone)).is_visible() and page.get_by_text("Agents wrote the files").is_visible()
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy nobrakes take till").click()
    page.get_by_text("Copied: nobrakes take till").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == "nobrakes take till"
    assert page.get_by_role("link", name="Open in editor").count() == 0, "the setting names none"
    assert barriers(page) == []
    person.made_no_errors()
