"""What a bead costs, in counts that no machine changes: programs that are started, and statements to the store.

1. What is counted is what many beads cost beyond a few, so that the start and the end of a run do not count. The agent's
   own programs do (sh, git add, git commit, nobrakes' hook twice), and the check's (sh).
2. The numbers may only fall: whoever raises one says why in the commit. The slack is for what depends on the moment,
   such as how many turns the daemon takes.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.programs import executed
from tests.support.sandboxes import in_both

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"none": 212, "bubblewrap": 248}
"""Of ten beads, with main checked out, whose files two `read-tree` bring up to date."""
STATEMENTS = 2750
"""Of twenty beads."""
DOERS = 4
FEW = 4

pytestmark = [pytest.mark.slow, pytest.mark.night, pytest.mark.usefixtures("benchmark")]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def programs(folder: Path, beads: int, sandbox: str) -> "Counter[str]":
    from pipeline import config, set_up, verify  # type: ignore[import-not-found]

    folder.mkdir()
    set_up(str(folder), beads, config(DOERS, sandbox))
    found = executed([sys.executable, "-P", "-m", "nobrakes", "run"], str(folder), os.environ)
    if found is None:
        pytest.skip("nobody may trace programs here")
    verify(str(folder), beads)
    return found


def is_within(now: float, allowed: int, slack: float, shown: object) -> None:
    assert now <= allowed * slack, f"{now:g} now, and {allowed} are allowed: {shown}"
    assert now >= allowed / slack, f"{now:g} now: write it down"


@pytest.mark.skipif(sys.platform != "linux", reason="traces programs")
@in_both
def test_a_bead_starts_no_more_programs_than_before(tmp_path: Path, sandbox: str) -> None:
    found = []
    for turn in range(3):  # on a busy machine more lands by itself, and git is asked again for settings that are young
        few, many = (programs(tmp_path / f"{turn}-{beads}", beads, sandbox) for beads in (FEW, FEW + 10))
        many.subtract(few)
        found.append(many)
        if many.total() <= PROGRAMS[sandbox] * 1.1:
            break
    least = min(found, key=lambda one: one.total())
    is_within(least.total(), PROGRAMS[sandbox], 1.1, {name: count for name, count in least.items() if count})


def test_a_bead_asks_no_more_statements_than_before() -> None:
    from statements import a_bead  # type: ignore[import-not-found]

    few, many = (a_bead(beads, DOERS)[0] * beads for beads in (FEW, FEW + 20))
    is_within(many - few, STATEMENTS, 1.15, "see benchmarks/statements.py")
