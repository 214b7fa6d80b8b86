"""The web process, the daemon, the network and the machine's sleep fail at the worst time, while pages are open.

1. A page says so, comes back by itself, and then shows what the store holds, line by line: its text is that of the page
   loaded anew, its tiles are those of `nobrakes board`, and no line of an agent is missing or there twice.
2. What a person did meanwhile is sent once, and what was typed, its focus and its place stay.
3. The page's own clock is moved on where it would wait; no test waits for seconds to pass.
"""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Person, launched
from tests.support.cuttable import Network
from tests.support.scripted import Scripted, lives, until
from tests.support.web_process import WebProcess, web_process

pytestmark = pytest.mark.slow
TALKS = """
n=0
while [ ! -e "$BOOK/enough" ]; do
    if [ -e "$BOOK/say" ]; then mv "$BOOK/say" "$BOOK/said"; for i in 1 2 3 4 5; do n=$((n + 1)); echo "line $n of it"; done; fi
    sleep 0.05
done
work
"""
AGES = re.compile(r"\b\d+ (?:s|min|h)(?: \d\d)?\b|\b\d\d:\d\d(?::\d\d)?\b")
SILENCE = 90_000
"""Milliseconds after which a page takes its connection for lost."""


class World:
    """A project with a daemon whose agent talks, a person at its pages, and the ways in which all of that fails."""

    def __init__(self, folder: Path) -> None:
        self.project = Scripted(folder, doers=1)
        self.project.add("talk", "next", "last")
        self.project.does("talk", TALKS)
        self.project.nobrakes("depend", "next", "talk")
        self.project.nobrakes("depend", "last", "next")
        self.project.nobrakes("daemon", "start")
        until(lambda: self.project.turns("talk"))
        self.lines = 0

    def says(self) -> None:
        """The agent says five lines more."""
        said = self.project.flag("said")
        said.unlink(missing_ok=True)
        self.project.flag("say").touch()
        until(said.exists)
        self.lines += 5

    def daemon(self) -> int:
        """Its process."""
        return int(self.project.ask("daemon", "status")["pid"])

    def transcript(self) -> list[str]:
        """What the agent said, as its log has it."""
        (path,) = self.project.folder.glob(".nobrakes/runs/*-agent/agent.out")
        return path.read_text().splitlines()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    try:
        yield made
    finally:
        made.project.flag("enough").touch()
        made.project.nobrakes("daemon", "stop", expect=None)
        made.project.kill_orphans()


@pytest.fixture
def web(world: World) -> Iterator[WebProcess]:
    with web_process(world.project.folder, world.project.env()) as made:
        yield made


class Pages:
    """One person's open pages, in tabs of one browser that goes through a network of ours."""

    def __init__(self, world: World, web: WebProcess) -> None:
        self.world = world
        self.network = Network(web.port)
        self._launched = launched(f"--host-resolver-rules=MAP *.localhost 127.0.0.1:{self.network.port}")
        self.person = Person(self._launched.__enter__(), web, "repository").log_in()
        self.tabs: dict[str, Any] = {}

    def end(self) -> None:
        self.network.end()
        self._launched.__exit__(None, None, None)

    def opens(self, path: str) -> Any:
        """A tab on the page, whose clock can be moved on."""
        page = self.person.context.new_page()
        page.clock.install()
        page.goto(f"/r/repository/{path}")
        page.wait_for_selector("#link-state.on", state="attached")
        page.evaluate("() => { window.isTheSame = true; }")
        self.tabs[path] = page
        return page

    def waits(self, condition: Callable[[], Any], what: str, told: Callable[[], Any] = lambda: "") -> None:
        """Until it is so."""
        end = time.monotonic() + 40
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"{what}: {told() or [page.inner_text('body') for page in self.tabs.values()]}")
            self.person.page.wait_for_timeout(50)

    def all_say(self, words: str) -> None:
        """In the bar, about the connection; their clocks are moved on until they do."""

        def is_so() -> bool:
            left = [page for page in self.tabs.values() if words not in page.inner_text("#link-state")]
            for page in left:
                page.clock.fast_forward(35_000 if words == "Live" else 10_000)
            return not left

        self.waits(is_so, f"every page says {words}")

    def show_what_the_store_holds(self) -> None:
        """All tabs do, and none of them was loaded again."""
        fresh = self.person.context.new_page()
        for path, page in self.tabs.items():
            is_so = lambda page=page, path=path: _shown(page) == _loaded(fresh, path)  # noqa: E731
            self.waits(
                is_so,
                f"{path} is as loaded anew",
                lambda page=page: "\n".join(unified_diff(_shown(page), _shown(fresh), lineterm="")),
            )
            assert page.evaluate("() => window.isTheSame"), path
        fresh.close()
        if "board" in self.tabs:
            told = self.world.project.ask("board")["columns"]
            tiles = "() => [...document.querySelectorAll('.stack')].map(it => [it.id.slice(7), [...it.querySelectorAll('.tile')].map(one => one.id.slice(5))])"
            shown = dict(self.tabs["board"].evaluate(tiles))
            assert {name: sorted(ids) for name, ids in shown.items()} == {
                name: sorted(one["id"] for one in beads) for name, beads in told.items()
            }
        if "live" in self.tabs:
            said = [line for line in self.world.transcript() if line.startswith("line ")]
            assert said == [f"line {n} of it" for n in range(1, self.world.lines + 1)]
            lines = "() => [...document.querySelectorAll('.stream li')].map(one => one.lastChild.textContent)"
            self.waits(
                lambda: [one for one in self.tabs["live"].evaluate(lines) if one.startswith("line ")] == said, "lines"
            )


TEXT = """() => {
  const folded = "details > :not(summary), details > :not(summary) *, [hidden], [hidden] *";
  const found = [];
  for (const part of ["#bar-state", "#main"]) {
    const walk = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (node.nodeValue.trim() && !node.parentElement.matches(folded)) found.push(node.nodeValue.replace(/\\s+/g, " ").trim());
    }
  }
  return found;
}"""


def _shown(page: Any) -> list[str]:
    """The page's text, piece by piece, but for what may be folded in or out; without ages and times."""
    return [AGES.sub("T", line) for line in page.evaluate(TEXT)]


def _loaded(page: Any, path: str) -> list[str]:
    page.goto(f"/r/repository/{path}")
    return _shown(page)


@pytest.fixture
def pages(world: World, web: WebProcess) -> Iterator[Pages]:
    made = Pages(world, web)
    yield made
    made.end()


def test_the_web_process_is_killed_and_started_again(world: World, web: WebProcess, pages: Pages) -> None:
    ask = world.project.nobrakes
    ask("add", "May it be cut?", "--id", "asks")
    board, live, desk = pages.opens("board"), pages.opens("live"), pages.opens("bead/last")
    world.says()
    desk.get_by_text("Edit here", exact=True).click()
    field = desk.get_by_role("textbox", name="Description")
    field.fill("Half a senten")
    field.evaluate("one => one.setSelectionRange(4, 4)")
    web.kill()
    pages.all_say("Reconnecting…")
    world.says()
    ask("add", "Added meanwhile", "--id", "more", "--draft")
    ask("hold", "last", "--reason", "meanwhile")
    board.locator("#bar-state").get_by_role("button", name="Pause").click()
    board.get_by_text("1 not sent yet").wait_for()
    board.locator("#bar-state").get_by_role("button", name="Pause").click()
    pages.all_say("Connection lost")
    assert "1 not sent yet" in board.inner_text("#link-state"), "the same command waits once"
    web.begin()
    pages.all_say("Live")
    pages.waits(lambda: "Paused" in board.inner_text("#bar-state"), "what waited was sent")
    world.says()
    pages.show_what_the_store_holds()
    assert len(world.project.events("paused")) == 1, "it was sent once"
    assert field.input_value() == "Half a senten"
    assert desk.evaluate("() => [document.activeElement.name, document.activeElement.selectionStart]") == [
        "description",
        4,
    ]
    assert "Held: meanwhile" in desk.inner_text("#main")
    assert live.evaluate("() => document.querySelector('.stream').dataset.n") != "0"


def test_the_daemon_is_killed_and_hangs(world: World, web: WebProcess, pages: Pages) -> None:
    board, live, health = pages.opens("board"), pages.opens("live"), pages.opens("health")
    world.says()
    first = world.daemon()
    pages.waits(lambda: f"process {first}" in health.inner_text("#main"), "the daemon's number")
    os.kill(first, signal.SIGKILL)
    until(lambda: not lives(first))
    pages.waits(lambda: "No daemon" in board.inner_text("#bar-state"), "no daemon is running")
    pages.waits(lambda: "No daemon is running" in health.inner_text("#main"), "no daemon is running, says Health")
    world.says()
    pages.show_what_the_store_holds()
    board.locator("#bar-state").get_by_role("button", name="Start").click()
    pages.waits(lambda: "Running" in board.inner_text("#bar-state"), "a daemon works again")
    second = world.daemon()
    assert second != first
    pages.waits(lambda: f"process {second}" in health.inner_text("#main"), "the new daemon's number")
    os.kill(second, signal.SIGSTOP)
    try:
        board.locator("#bar-state").get_by_role("button", name="Pause").click()
        wake = world.project.folder / ".nobrakes" / "wake"
        until(lambda: [entry for entry in wake.iterdir() if entry.is_file()])
        for entry in wake.iterdir():
            os.utime(entry, (time.time() - 60, time.time() - 60))  # it has been lying there for a while
        pages.waits(lambda: "Paused" in board.inner_text("#bar-state"), "the command is done without the daemon")
        board.locator("#bar-state").get_by_role("button", name="Resume").click()
        pages.waits(lambda: "Daemon silent for" in board.inner_text("#bar-state"), "the daemon is silent")
        pages.waits(lambda: "has not responded for" in health.inner_text("#main"), "it is silent, says Health")
    finally:
        os.kill(second, signal.SIGCONT)
    pages.waits(lambda: "Running" in board.inner_text("#bar-state"), "it turns again")
    world.says()
    world.project.flag("enough").touch()
    pages.waits(lambda: len(world.project.landed()) == 3, "all work is done")
    pages.waits(lambda: "Merged\n3" in board.inner_text("#main").replace(" ", "\n"), "the board says so")
    pages.tabs.pop("live")
    pages.show_what_the_store_holds()
    assert "No agent is at work" in live.inner_text("#main")
    assert len(world.project.turns("talk")) == 1, "the agent went on through all of it"
    pages.person.made_no_errors()


def test_the_network_fails_in_three_ways(world: World, web: WebProcess, pages: Pages) -> None:
    ask = world.project.nobrakes
    board, now, _ = pages.opens("board"), pages.opens(""), pages.opens("live")
    world.says()
    pages.network.becomes("cut")
    pages.all_say("Reconnecting…")
    world.says()
    ask("hold", "last", "--reason", "in the tunnel")
    os.kill(world.daemon(), signal.SIGKILL)  # no event tells of it
    pages.network.becomes("open")
    pages.all_say("Live")
    pages.waits(lambda: "No daemon" in board.inner_text("#bar-state"), "no daemon is running")
    pages.show_what_the_store_holds()
    # everything stays open, and nothing comes through: the machine sleeps, or the phone is in a tunnel
    pages.network.becomes("swallows")
    world.says()
    ask("release", "last")
    for page in pages.tabs.values():
        page.clock.fast_forward(SILENCE)
    pages.all_say("Reconnecting…")
    pages.network.becomes("open")
    pages.all_say("Live")
    pages.show_what_the_store_holds()
    # the command arrives, and its answer does not
    pages.network.becomes("one way")
    now.locator("#bar-state").get_by_role("button", name="Start").click()
    until(lambda: world.project.ask("daemon", "status")["pid"])
    pages.network.becomes("cut")
    now.get_by_text("1 not sent yet").wait_for()
    pages.network.becomes("open")
    pages.all_say("Live")
    pages.waits(lambda: "not sent" not in now.inner_text("#link-state"), "it is sent")
    pages.waits(lambda: "Running" in now.inner_text("#bar-state"), "the daemon works")
    pages.show_what_the_store_holds()
    # offline as the browser knows it
    pages.person.context.set_offline(True)
    board.locator("#bar-state").get_by_role("button", name="Pause").click()
    board.get_by_text("1 not sent yet").wait_for()
    pages.person.context.set_offline(False)
    for page in pages.tabs.values():
        page.clock.fast_forward(35_000)
    pages.waits(lambda: "Paused" in board.inner_text("#bar-state"), "it is sent")
    assert len(world.project.events("paused")) == 1
    pages.show_what_the_store_holds()


def test_the_machine_sleeps(world: World, web: WebProcess, pages: Pages) -> None:
    board, live = pages.opens("board"), pages.opens("live")
    world.says()
    web.tell(signal.SIGSTOP)
    board.locator("#bar-state").get_by_role("button", name="Pause").click()
    for page in pages.tabs.values():
        page.clock.fast_forward(SILENCE)
    pages.all_say("Reconnecting…")
    world.says()
    world.project.nobrakes("hold", "last")
    web.tell(signal.SIGCONT)
    pages.all_say("Live")
    pages.waits(lambda: "Paused" in board.inner_text("#bar-state"), "the command was done")
    world.says()
    pages.show_what_the_store_holds()
    assert len(world.project.events("paused")) == 1
    assert live.locator(".stream li").count() >= world.lines
