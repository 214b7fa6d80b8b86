"""A newcomer's evening and the morning after it: the first screen answers what a tired person asks.

A product text comes in and is approved; in the night twenty beads are merged, two agents ask, one meets the limit of its
provider, and a colleague breaks main.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from nobrakes.store import open_store
from tests.acceptance.test_sprints import FAKE
from tests.support.scripted import Scripted, until

pytestmark = pytest.mark.slow
DONE, ASKED = 20, 2
TITLES = [f"Part {number:02d} of the shop" for number in range(1, DONE + ASKED + 1)]
LIMITED = "The manual of the shop"
HOURS = 13 * 3600


class Newcomer(Scripted):
    """A person with two agents, of which one writes what is documentation."""

    tries_main = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        own = folder / "gemini"
        own.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "{folder}/agent.sh" "$@"\n')
        own.chmod(0o755)
        self.configure("[agents]\n", '[agents]\nby_type = { docs = { doer = "gemini" } }\n')
        with self.config.open("a") as config:
            config.write(f"\n[agents.gemini]\nexecutable = {json.dumps(str(own))}\n")

    def env(self) -> dict[str, str]:
        return {**super().env(), "GEMINI_API_KEY": "dummy"}

    def answers(self, *words: str) -> dict[str, str]:
        """What the screen begins with: the text of each line by its name."""
        found: dict[str, str] = {}
        for line in self.nobrakes(*words).stdout.splitlines():
            name, text = line[:9].strip(), line[9:].strip()
            if name in ("main", "merged", "cost", "you", "running", "done by"):
                found[name] = text
            elif found and not name and text:
                found[[*found][-1]] += f" {text}"
            else:
                break
        return found

    def sleeps(self) -> None:
        """The last look was in the evening: hours pass."""
        [kept] = (Path(os.environ["NOBRAKES_USER_HOME"]) / "state" / "visits").iterdir()
        kept.write_text(f" {float(kept.read_text().split()[-1]) - HOURS}\n")

    def reports(self) -> None:
        """What the agents' programs reported of their cost: the last one none, since it was killed."""
        store = open_store(str(self.folder / ".nobrakes" / "nobrakes.db"))
        attempts = [one for bead in store.beads() for one in store.attempts(bead.id) if one.provider == "script"]
        for one in attempts[:-1]:
            store.spend(one.id, 0.5, 50_000)
        store.spend(attempts[-1].id, 0.0, 100_000)
        store.close()
        self.cost = 0.5 * (len(attempts) - 1) + 1.0


def test_the_first_screen_answers_what_a_person_asks_in_the_morning(tmp_path: Path) -> None:
    place = Newcomer(tmp_path)
    text = tmp_path / "prd.md"
    text.write_text("# Shop\n\nPeople buy tea.\n\n" + "".join(f"- [ ] {one}\n" for one in [*TITLES, LIMITED]))
    place.nobrakes("propose", str(text))
    ids = {one["title"]: one["id"] for one in place.ask("list")}
    for title in [*TITLES, LIMITED]:
        place.nobrakes("edit", ids[title], "--no-tests", *(("--type", "docs") if title == LIMITED else ()))
    assert place.answers()["you"] == "23 drafts and 1 epic need your approval: `nobrakes approve`"
    place.nobrakes("approve", "--yes")
    for title in TITLES[DONE:]:
        place.does(
            ids[title], "nobrakes agent ask 'Which tea?' --wait 0; nobrakes agent done blocked --blockers tea", 1
        )
    place.does(ids[LIMITED], "echo LIMIT 30000")
    assert "done by" in place.answers()
    place.nobrakes("daemon", "start")
    try:
        until(lambda: sum(one["status"] == "done" for one in place.ask("list", "--all")) >= DONE, 240)
        until(lambda: len(place.open()) == ASKED and place.ask("providers")["gates"], 60)
        until(lambda: not place.ask("status")["working"])
        place.reports()
        place.sleeps()
        assert re.fullmatch(r"green [0-9a-f]{7}, passed its checks \d\d:\d\d", place.answers()["main"])
        assert not any(place.nobrakes(*words).stderr for words in (("list",), ("status",), ("board",)))
        place.sleeps()
        (place.folder / "tests" / "test_begin.sh").write_text("false\n")
        place.git("commit", "-qam", "Quick fix", "--author", "Ann <ann@example.invalid>")
        tip = place.git("rev-parse", "main")[:7]
        proven = r'"Quick fix" by Ann, \d\d:\d\d \(last passed its checks at [0-9a-f]{7}, \d\d:\d\d\)'
        for words in ((), ("status",)):
            found = place.answers(*words)
            assert re.fullmatch(f"not proven: {tip} {proven}", found["main"]), found
            assert re.match(rf"{DONE} since \d\d:\d\d( yesterday)?: Part \d\d of the shop; ", found["merged"]), found
            assert re.search(r"; … 1\d more$", found["merged"]), found
            cost = rf"\${place.cost:.2f} \(about \$1.00 of it estimated\), not reported by \w+, 1\.\dM tokens, \d+ \S+ of agents"
            assert re.fullmatch(cost, found["cost"]), found
            assert found["you"] == f"{ASKED} decisions: `nobrakes escalations`"
            assert re.fullmatch(
                r"0 of 3 agents; \w+ is at its usage limit until \d\d:\d\d( tomorrow)?", found["running"]
            )
            assert re.fullmatch(r"about \d\d:\d\d( tomorrow)? \(3 beads left\)", found["done by"]), found
        looks = (
            "list",
            "board",
            "escalations",
            f"history {ids[LIMITED]}",
            "providers",
            "ready",
            f"show {ids[LIMITED]}",
        )
        for words in map(str.split, looks):
            note = place.nobrakes(*words).stderr
            assert re.fullmatch(f"note: main is not proven: {tip} {proven}: `nobrakes status`\n", note), note
        assert not any(
            place.nobrakes(*words).stderr for words in ((), ("status",), ("list", "--json"), ("ready", "--json"))
        )
        place.git("pack-refs", "--all")
        for words in (("list",), ("ready",)):
            assert place.nobrakes(*words).stderr == note, "a packed branch has no file"
        alike = [{**place.ask(*words)["first"], "now": 0, "begins": 0, "since": 0} for words in ((), ("status",))]
        assert alike[0]["main"] == alike[1]["main"] and alike[0]["merges"] == alike[1]["merges"] == DONE
    finally:
        place.nobrakes("daemon", "stop")
    done = ids[TITLES[0]]
    assert "cost: $" in place.nobrakes("show", done).stdout and "cost: $" in place.nobrakes("history", done).stdout
    epic = place.ask("show", done)["epic"]
    assert f"cost: ${place.cost:.2f} (about $1.00 of it estimated)" in place.nobrakes("show", epic).stdout
    assert "nothing" in place.answers()["running"]
    place.nobrakes("run", expect=40)
    assert re.fullmatch(f"red: {tip} {proven}", place.answers()["main"])
    assert re.fullmatch(f"note: main is red: {tip} {proven}: `nobrakes status`\n", place.nobrakes("list").stderr)
