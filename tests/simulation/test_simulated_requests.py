"""Exchanges with a code host, by the hundred: people who approve, ask for changes, merge in three ways, close and push by
force; a host that is out, or answers and is not heard; a daemon that is killed at any call.

The real exchange, its decider and its events, on the simulation's host. At every step: a bead has one open request at most,
and is done when its merge is on the base and not before; at the end none is lost. Planted bugs show that it would be seen.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import pytest

from nobrakes.errors import HostRefused, HostUnavailable
from nobrakes.requests import model as requests_model
from nobrakes.requests.hosts.port import Wanted
from nobrakes.requests.model import CheckState, PullState, Turn
from nobrakes.requests.worker import exchange as exchanging
from nobrakes.review.waits import Land, Landing
from tests.support.asker import Asker
from tests.world.crashing import Crash
from tests.world.fake_code_host import WAYS, FakeCodeHost
from tests.world.objects import Objects

BEADS = ("one", "two", "three")


class Requests(Asker):
    """What outlives a daemon: rows, pins and the host."""

    host: FakeCodeHost

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = random.Random(seed)
        self.objects = Objects()
        first = self.objects.commit({"README": "a project"}, (), "first", "human", 0.0).id
        self.host = FakeCodeHost(self.objects, "main", first)
        self.host.answers = self.answers
        self.pins = {bead: set() for bead in BEADS}
        self.trouble = 0.15
        self.work = self.said = 0

    def answers(self, call: str) -> None:
        drawn = self.rng.random()
        if drawn < self.trouble / 3:
            raise Crash(call)
        if drawn < self.trouble:
            raise HostUnavailable(f"{call} has no answer")

    def publish(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        self.answers("push")
        there = self.host.branches.get(branch, "")
        if there and there not in ours and there != commit:
            return Land(Landing.LOST, "somebody else's")
        self.host.branches[branch] = commit
        self.answers("pushed")
        return Land(Landing.MOVED)

    def built(self, bead: str) -> str:
        """A candidate on the base as it is now."""
        self.work += 1
        base = self.host.branches[self.bases.get(bead, "main")]
        tree = {**self.objects.tree_of(base), f"src/{bead}": f"work {self.work}"}
        return self.objects.commit(tree, (base,), bead, "nobrakes", float(self.work)).id

    def people(self) -> None:
        """Somebody does something at the host."""
        waiting = self.host.open_ones()
        if not waiting:
            return
        self.said += 1
        one, drawn = self.rng.choice(waiting), self.rng.random()
        head = self.host.branches[one.branch]
        if drawn < 0.15:
            try:
                self.host.merge(one.number, self.rng.choice(WAYS))
            except HostRefused:
                return
        elif drawn < 0.25:
            self.quietly(one.number)
        elif drawn < 0.4:
            self.host.comment(one.number, self.rng.choice(["ann", "eve"]), f"change {self.said}", "src/one", 1)
        elif drawn < 0.5:
            if not one.judged:
                self.host.review(one.number, "bob", "", state="APPROVED")
        elif drawn < 0.7:
            self.host.check(head, "build", self.rng.choice(list(CheckState)))
        elif drawn < 0.75:
            self.host.push(one.branch, {"by": f"hand {self.work}"}, onto=self.host.branches["main"])
        elif drawn < 0.85:
            self.host.push("main", {f"other{self.work}": "else"})

    def quietly(self, number: int) -> None:
        trouble, self.trouble = self.trouble, 0.0
        self.host.close(number)
        self.trouble = trouble

    def broken(self) -> list[str]:
        """The promises that do not hold."""
        opened = Counter(one.branch for one in self.host.open_ones())
        found = [f"{branch} has {count} open requests" for branch, count in opened.items() if count > 1]
        for bead, commit in self.done.items():
            merged = [one for one in self.host.requests if one.state is PullState.MERGED and one.merged_as == commit]
            if not merged or not self.objects.contains(commit, self.host.branches["main"]):
                found.append(f"{bead} is done, and nobody merged it")
        for bead in BEADS:
            # what a person pushed by force and merged before we had heard of the request is not known to be ours
            ours = [one for one in self.host.requests if one.branch.endswith(bead) and one.head in self.pins[bead]]
            merged = [one for one in ours if one.state is PullState.MERGED]
            if len(merged) > 1:
                found.append(f"{bead} was merged {len(merged)} times")
        return found + [f"{what} was told {count} times" for what, count in self.told.items() if count > 1]

    def run(self, steps: int = 150) -> list[str]:
        for step in range(steps + 120):
            if step == steps:
                self.trouble = 0.0
            todo = [bead for bead in BEADS if bead not in self.done]
            if not todo:
                break
            if step >= steps:  # in the end people merge what waits
                self.settle()
            else:
                self.people()
            with contextlib.suppress(Crash):  # the next daemon has the rows, and nothing else
                self.ask(self.rng.choice(todo))
            if found := self.broken():
                return found
        return [f"{bead} was lost" for bead in BEADS if bead not in self.done]

    def settle(self) -> None:
        """People take back what they pushed to our branches, and merge what can be merged."""
        for bead, row in self.rows.items():
            if row.branch in self.host.branches and self.host.branches[row.branch] not in self.pins[bead]:
                self.host.branches[row.branch] = row.head or max(self.pins[bead])
        for one in self.host.open_ones():
            row = self.rows.get(one.branch.rpartition("-")[2])
            ours = row is not None and row.number == one.number
            if ours and not self.host._told(one).conflicts:
                self.host.merge(one.number, self.rng.choice(WAYS))


def runs(seeds: int) -> list[str]:
    return [f"seed {seed}: {one}" for seed in range(seeds) for one in Requests(seed).run()]


def test_whatever_happens_each_bead_has_one_request_and_is_done_when_that_is_merged() -> None:
    assert runs(150) == []


def done_early(patch: pytest.MonkeyPatch) -> None:
    real = requests_model.turn
    patch.setattr(requests_model, "turn", lambda seen, pull: Turn.MERGED if seen.checks else real(seen, pull))


def a_second_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exchanging, "_found", lambda order, ports: None)
    real = FakeCodeHost.open

    def open_(self: FakeCodeHost, wanted: Wanted) -> object:
        hidden, self.requests = self.requests, []
        try:
            told = real(self, wanted)
        finally:
            made, self.requests = self.requests, hidden
            for one in made:
                one.number = len(hidden) + 1
                hidden.append(one)
        return replace(told, number=len(hidden))

    patch.setattr(FakeCodeHost, "open", open_)  # a host that would let it


def a_lost_one(patch: pytest.MonkeyPatch) -> None:
    real = requests_model.turn
    patch.setattr(
        requests_model, "turn", lambda seen, pull: Turn.WAIT if real(seen, pull) is Turn.MERGED else real(seen, pull)
    )


def told_twice(patch: pytest.MonkeyPatch) -> None:
    real = requests_model.happened
    patch.setattr(requests_model, "happened", lambda pull, seen: (pull, real(pull, seen)[1]))


@pytest.mark.parametrize("bug", [done_early, a_second_one, a_lost_one, told_twice])
def test_a_planted_bug_is_seen(bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)  # type: ignore[operator]
    assert runs(40)
