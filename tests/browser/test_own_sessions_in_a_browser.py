"""A person on a phone begins a session in a repository that was never set up, says more, and reads what it changed."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.cli import main
from nobrakes.machine import registry
from tests.browser.conftest import PHONE, Person
from tests.support.web import Served

pytestmark = pytest.mark.slow
PICTURES = os.environ.get("NOBRAKES_PICTURES")
AGENT = """#!/bin/sh
if grep -q "now sugar" "$NOBRAKES_PROMPT"; then echo sugar >>tea; git commit -qam "Add sugar"
else echo leaves >tea; git add tea; git commit -qm "Add leaves"; fi
echo "I did it."; echo "NOBRAKES: COMPLETED"
"""


@pytest.fixture
def tea(tmp_path: Path) -> Iterator[Path]:
    """A repository below a named folder; the person's own agent is a script."""
    folder = tmp_path / "code" / "tea"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    (tmp_path / "agent.sh").write_text(AGENT)
    config = Path(registry.made().config)
    command = json.dumps(["sh", str(tmp_path / "agent.sh")])
    settings = f"{config.read_text()}\n[agents]\ndoer = 'script'\n[agents.script]\ncommand = {command}\n[sandbox]\nmode = 'none'\n"
    config.write_text(settings)
    yield folder
    assert main.run(["daemon", "stop", "--user"]) == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_phone_begins_a_session_and_goes_on(chromium: Any, served: Served, tea: Path, scripts: bool) -> None:
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    person = Person(chromium, served, java_script_enabled=scripts, **phone).log_in()
    page = person.page

    def picture(name: str) -> None:
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name

    def sees(text: str) -> None:
        for _ in range(200):
            if text in page.locator("#main").inner_text():
                return
            page.wait_for_timeout(300)
            if not scripts:
                page.reload()
        raise AssertionError(f"{text!r} does not come: {person.errors} {page.locator('#main').inner_text()}")

    page.goto("/")
    page.get_by_role("link", name="Sessions in any repository").click()
    sees("nobrakes machine set session_roots=~/code")
    picture("unnamed")
    assert main.run(["machine", "set", f"session_roots={tea.parent}"]) == 0
    page.reload()
    picture("begin")
    page.get_by_label("Repository").select_option(str(tea))
    page.get_by_label("First message").fill("Pour the tea")
    page.get_by_role("button", name="Start").click()
    sees("Pour the tea")
    picture("list")
    page.get_by_role("link", name="Pour the tea").click()
    sees("I did it.")
    sees("is waiting for your answer")
    picture("session")
    page.get_by_label("Message").fill("And now sugar")
    page.get_by_role("button", name="Send").click()
    sees("Add sugar")
    sees("git merge relay/1")
    picture("continued")
    page.get_by_role("link", name="1 file changed").click()
    sees("sugar")
    picture("diff")
    page.goto("/")
    picture("repositories")
    row = page.get_by_role("listitem").filter(has_text="your own sessions")
    row.get_by_role("link", name="1 for you").click()
    sees("What next?")
    assert "doers" not in page.locator("#main").inner_text(), "what is about beads is not asked here"
    picture("desk")
    page.get_by_role("link", name="What next?").first.click()
    sees("relay/1")
    picture("decision")
    assert page.get_by_role("heading", name=re.compile("^what next$", re.I)).count() == 0, "an internal number"
    page.get_by_role("link", name="Session 1", exact=True).click()
    sees("git merge relay/1")
    page.goto("/r/~/sessions/1")
    page.get_by_role("button", name="End the session").click()
    sees("ended")
    picture("ended")
    show = subprocess.run(["git", "show", "relay/1:tea"], cwd=tea, capture_output=True, text=True)
    assert show.stdout == "leaves\nsugar\n" and os.listdir(tea) == [".git"]
    person.made_no_errors()
    person.close()
