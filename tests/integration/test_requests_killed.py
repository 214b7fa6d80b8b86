"""A request whose daemon is killed before and after whatever it changes, and killed again after that, at every pair.

The real exchange and its deciders, the real gh, a GitHub of the tests' own; a kill is an exception that nothing catches, and
the next life knows rows and pins alone. What only reads changes nothing: wherever between two changes the daemon ends, the
next one finds the same. So of the calls between two changes the first stands for all, and each alone is a case of its own.
"""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.host.messages import Asked, Asking
from nobrakes.requests.hosts.calls import Address
from nobrakes.requests.hosts.github import Gh, GitHub
from nobrakes.requests.model import PullRequest, Seen
from nobrakes.review.waits import Land, Landing
from tests.contracts.codehosts.host_worlds import HAS_GH, RealGitHub
from tests.support.asker import Asker

pytestmark = pytest.mark.skipif(not HAS_GH, reason="gh is not installed")
CALLS, MOMENTS = 35, 11
"""So many calls, pushes and rows that are written, and so many stretches between two changes, are in a life that nobody ends."""


class Killed(BaseException):
    """The daemon is gone."""


class Life(Asker):
    """One bead from its first push to its merge: remarks and another base on the way."""

    def __init__(self, folder: Path, kills: Sequence[int], at_calls: bool = False) -> None:
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        self.place = RealGitHub(folder)
        self.place.push("feature/big", {"big": "begun\n"}, onto=self.place.head("main"))
        self.asking = Asking(self.place.env, 20.0)
        self.bases, self.labels = {"one": "feature/big"}, ("by-agents",)
        self.kills, self.at_calls = list(kills), at_calls
        self.calls = self.moments = self.work = self.waited = self.deed = 0
        self.has_changed = True
        self.begin()

    def begin(self) -> None:
        """A new life."""
        hub = self.place.hub.host
        self.host = GitHub(Gh(hub, self.ask_gh, lambda: 1000.0 + self.calls * 60), Address(hub, "team", "thing"))

    def point(self, changes: bool) -> None:
        self.calls += 1
        self.moments += self.has_changed
        is_it = self.has_changed or self.at_calls
        self.has_changed = False
        if is_it and self.kills and (self.calls if self.at_calls else self.moments) == self.kills[0]:
            self.kills.pop(0)
            raise Killed
        self.has_changed = changes

    def ask_gh(self, argv: Sequence[str], given: bytes) -> Asked:
        self.point(changes="--method" in argv and "GET" not in argv)
        return self.asking(argv, given)

    def publish(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        self.point(changes=True)
        known = self.place.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        if known and known not in ours and known != commit:
            return Land(Landing.LOST, "somebody else's")
        self.place.git("update-ref", f"refs/heads/{branch}", commit)
        return Land(Landing.MOVED)

    def built(self, bead: str) -> str:
        self.work += 1
        base = self.place.head(self.bases[bead])
        made = self.place.push("building", {bead: f"work {self.work}\n"}, onto=base)
        self.place.git("update-ref", "-d", "refs/heads/building")
        return made

    def heard(self, bead: str, row: PullRequest, seen: Seen) -> None:
        self.point(changes=True)
        super().heard(bead, row, seen)

    def people(self) -> None:
        """What they do next, once they see what they waited for."""
        row = self.rows.get("one")
        if row is None or not row.number or not row.text:
            return
        if self.deed == 0:
            self.place.comment(1, "ann", "Name it better.", "one", 1)
        elif self.deed == 1 and row.heard and row.head:
            self.place.push("main", {"big": "begun\n"})
            self.bases["one"] = "main"
            self.rows["one"] = replace(row, head="")  # it is built anew, for its new base
        elif self.deed == 2 and row.head and self.place.hub.pull(1)["base"]["ref"] == "main":
            self.place.merge(1, "squash")
        else:
            return
        self.deed += 1

    def run(self) -> None:
        while "one" not in self.done:
            self.waited += 1
            assert self.waited < 30, f"it never ends: {self.rows}, {self.place.hub.calls[-8:]}"
            with contextlib.suppress(Killed):
                self.ask("one")
                self.people()
                self.seen()
                continue
            self.begin()
            self.seen()

    def seen(self) -> None:
        """What holds at any time."""
        hub = self.place.hub
        assert len(hub.pulls) <= 1, f"{len(hub.pulls)} requests: {hub.calls}"
        if "one" in self.done:
            assert hub.pull(1)["merged"] and self.done["one"] == self.place.head("main"), "done before its merge"

    def end(self) -> None:
        hub = self.place.hub
        assert len(hub.pulls) == 1 and hub.pull(1)["merged"] and hub.pull(1)["labels"] == ["by-agents"]
        assert self.place.git("show", "main:one").startswith("work ") and not self.kills
        assert all(count == 1 for count in self.told.values()), self.told
        self.place.over()


def lived(folder: Path, *kills: int, at_calls: bool = False) -> Life:
    life = Life(folder, kills, at_calls)
    life.run()
    life.end()
    return life


def test_a_life_that_nobody_ends_has_as_many_calls_and_moments_as_are_looked_at(tmp_path: Path) -> None:
    life = lived(tmp_path)
    assert (life.calls, life.moments) == (CALLS, MOMENTS)


@pytest.mark.parametrize("call", range(1, CALLS + 1))
def test_it_is_one_request_merged_once_wherever_its_daemon_is_killed(tmp_path: Path, call: int) -> None:
    lived(tmp_path, call, at_calls=True)


@pytest.mark.parametrize("first", range(1, MOMENTS + 1))
def test_it_is_one_request_merged_once_wherever_its_daemon_is_killed_twice(tmp_path: Path, first: int) -> None:
    """TimePoints are counted on from one life to the next: a kill and a new life change nothing."""
    for second in range(first + 1, 3 * MOMENTS):
        life = Life(tmp_path / str(second), [first, second])
        life.run()
        if life.kills:  # it was merged before there was a moment for the second
            assert second > MOMENTS
            life.place.over()
            return
        life.end()
    pytest.fail("there are more moments than this looks at")
