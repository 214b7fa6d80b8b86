"""The eight journeys of docs/journeys.md in a browser: a real daemon, scripted agents, `nobrakes web` in its own process.

1. They are played at a desk, on a phone, and without scripts. With scripts nothing is loaded again: a page that is open
   has to show by itself what the next step needs. Without them the person loads it again until it does.
2. What the pages said is compared with what the commands say; any error on a console fails the play.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Person
from tests.support import journeys
from tests.support.shop import NOBRAKES, PLAN, Shop
from tests.support.web_process import WebProcess, web_process

pytestmark = pytest.mark.slow
TIMEOUT = 60
HOW = {
    "desktop": {"viewport": DESKTOP},
    "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True},
    "no-scripts": {"viewport": DESKTOP, "java_script_enabled": False},
}

CLICKS = {"sets_up": 3, "plans": 7, "looks_at_the_board": 4, "decides": 3, "asks_whether_it_runs": 2, "watches": 1,
          "reads_reviews": 2, "breaks": 7}  # fmt: skip
"""The journeys in order, and how many clicks each may take, from the page on which the one before it ended."""


@pytest.fixture
def shop() -> Iterator[Shop]:
    """Set up in a terminal, with the scripted agent for each role."""
    with tempfile.TemporaryDirectory(prefix="nb-") as folder:
        made = Shop(Path(folder))
        try:
            made.type(("init",), "[y/N]: ", lambda: "y\n")
            made.configure()
            yield made
        finally:
            subprocess.run([NOBRAKES, "daemon", "stop"], cwd=made.folder, env=made.env(), capture_output=True)


@pytest.fixture
def web(shop: Shop) -> Iterator[WebProcess]:
    """The pages of the shop."""
    with web_process(shop.folder, shop.env()) as made:
        yield made


class Play:
    """One person's play of the journeys."""

    def __init__(self, shop: Shop, web: WebProcess, person: Person) -> None:
        self.shop, self.web, self.person, self.page = shop, web, person, person.page
        self.clicks = 0
        person.page.expose_function("nbClicked", self.count)
        person.context.add_init_script("addEventListener('click', (one) => one.isTrusted && window.nbClicked(), true)")
        person.page.reload()

    def count(self) -> None:
        self.clicks += 1

    def plays(self, journey: str) -> tuple[str, int]:
        """How many clicks it took."""
        before = self.clicks
        getattr(self, journey)()
        return journey, self.clicks - before

    def sees(self, wanted: str, where: str = "#main") -> None:
        """The open page shows the text (a pattern), by itself or, without scripts, when the file is loaded again."""
        place, end = self.page.locator(where), time.monotonic() + TIMEOUT
        pattern = re.compile(wanted, re.DOTALL)
        while not pattern.search(place.first.inner_text() if place.count() else ""):
            assert time.monotonic() < end, f"{wanted!r} is not in {where}: {place.all_inner_texts()}"
            if self.person.scripts:
                self.page.wait_for_timeout(50)
            else:
                self.page.wait_for_timeout(300)
                self.page.reload()

    def goes(self, path: str) -> None:
        """By a link of the open page: no address is typed."""
        self.page.locator(f"a[href='{self.person.base}{path}']").locator("visible=true").first.click()
        self.page.wait_for_url(f"**{self.person.base}{path}")
        if self.person.scripts:
            self.page.wait_for_selector("#link-state.on", state="attached")

    def presses(self, button: str, within: "str | Any" = "#main") -> None:
        place = self.page.locator(within) if isinstance(within, str) else within
        found = place.get_by_role("button", name=button, exact=True).first
        if self.person.scripts:
            found.click()
            return
        with self.page.expect_navigation():
            found.click()

    def unfolds(self, summary: str) -> Any:
        found = self.page.locator("details", has=self.page.get_by_text(summary, exact=True))
        if found.get_attribute("open") is None:
            found.locator("summary").first.click()
        return found

    def confirms(self, found: Any, word: str) -> None:
        found.get_by_label("to confirm").fill(word)
        if found.get_by_label("Code from").count():
            found.get_by_label("Code from").fill(self.web.new_code())

    # the journeys

    def sets_up(self) -> None:
        self.goes("set-up")
        self.sees("python3 -m unittest -v")
        self.sees("(?i)agent")
        self.goes("health")
        self.presses("Check everything now")
        self.sees("config.toml is valid")
        self.sees("the database is sound")

    def plans(self) -> None:
        self.goes("plan")
        self.sees("Nothing is waiting for your approval")
        self.unfolds("File a plan as drafts").get_by_role("textbox").fill(PLAN)
        self.presses("File it")
        self.sees("3 new beads.*A discount on the total")
        for way in ("kanban", "timeline", "tree"):
            self.goes(f"plan?as={way}")
            self.sees("Vouchers that lower the total")
        assert self.shop.ask("list", "--status", "draft")
        self.presses("Approve all of this")
        self.sees("Nothing is waiting for your approval")
        self.presses("Start", ".bar")
        self.sees("Running", "#bar-state")

    def looks_at_the_board(self) -> None:
        self.goes("board")
        self.sees("A discount on the total", "#column-done")
        self.sees("A receipt", "#column-escalated")
        self.sees("Vouchers that lower the total", "#column-blocked")
        self.goes("graph")
        self.goes("graph?mode=all")
        self.sees("discount · done.*receipt · needs you.*vouchers · blocked", ".listed")
        self.goes("bead/discount")
        self.sees("Attempts 5.*Mended.*failed review.*The total takes a discount")
        self.sees("test_total")

    def decides(self) -> None:
        self.goes("desk")
        self.sees("May a receipt be empty")
        self.page.get_by_role("link", name="May a receipt be empty?").first.click()
        self.sees("an agent's question.*holds up 1 bead")
        self.page.get_by_label("Your answer").fill("Yes: it prints only its total, 0.")
        self.presses("Answer", "form.answer")
        self.page.wait_for_url("**/desk")
        self.sees("Nothing is waiting for you")
        assert self.shop.ask("escalation", "1")["answer"] == "Yes: it prints only its total, 0."

    def asks_whether_it_runs(self) -> None:
        self.goes("health")
        pid = self.shop.ask("daemon", "status")["pid"]
        self.sees(f"process {pid}")
        self.goes("")
        self.sees("doer.*A receipt", "#now-working")
        self.sees("1", "#now-counts .done")

    def watches(self) -> None:
        self.goes("live")
        self.sees("wrote the files of receipt/code")
        self.sees("1/2 one line an item")
        self.shop.let("receipt")
        self.sees("reading what a voucher is")
        assert "A receipt" not in self.page.locator("#live-agents").inner_text()

    def reads_reviews(self) -> None:
        self.goes("merges")
        self.sees("A receipt.*Merged as.*A discount on the total.*Merged as.*A discount on the total.*✗ failed test")
        self.sees("missing 1 required positional argument")
        self.goes("bead/receipt/diff")
        self.sees("shop/receipt.py.*One line an item, in the order of adding, and the total")

    def breaks(self) -> None:
        self.goes("breaker")
        self.presses("Pause new work")
        self.sees("Paused", "#bar-state")
        self.sees("paused: no new work starts")
        limit = self.page.locator("#limit-doers")
        limit.fill("2")
        self.presses("Set", limit.locator("xpath=.."))
        self.sees(r"2 \(config: 1\)", "#breaker-limits")
        self.presses("Resume")
        self.sees("Agents start when a slot is free")
        found = self.unfolds("Stop the daemon")
        self.confirms(found, "stop")
        self.presses("Stop the daemon", found)
        self.sees("No daemon", "#bar-state")
        self.presses("Start", "#breaker-daemon")
        self.sees("Running", "#bar-state")
        assert self.shop.ask("set")["limits"]["doers"] == 2, self.shop.ask("set")


@pytest.mark.parametrize("device", HOW)
def test_the_eight_journeys(chromium: Any, shop: Shop, web: WebProcess, device: str) -> None:
    person = Person(chromium, web, **HOW[device]).log_in()
    play = Play(shop, web, person)
    took = dict(map(play.plays, CLICKS))
    if person.scripts:
        assert {name: most for name, most in CLICKS.items() if took[name] > most} == {}, took
    person.made_no_errors()
    person.close()
    counts = shop.ask("status")["counts"]
    assert (counts["done"], counts["escalated"]) == (2, 0)
    assert [one["bead"] for one in shop.ask("escalations", "--all")] == ["receipt"], "the answer was given once"
    journeys.VOUCHERS(shop)
