"""Bugs of one line, planted one at a time into a copy of the program: the simulation must find each of them.

A line that is not there any more fails the test: then the bug has to be planted anew.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nobrakes

PACKAGE = Path(nobrakes.__file__).parent


@dataclass(frozen=True)
class Bug:
    """One line of one file, and what takes its place.

    `seed` found it when it was planted; the search goes on from there for `runs` seeds, since every change of the
    program gives the seeds other stories.
    """

    name: str
    file: str
    line: str
    instead: str
    seed: int = 0
    runs: int = 60
    options: tuple[str, ...] = ()


OUTCOMES = "for outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN, CheckOutcome.FAIL):"

BUGS = (
    Bug(
        "two reviews at once",
        "core/reviewer.py",
        "if any(attempt.role is Role.REVIEWER for attempt in board.attempts):",
        "if False:",
    ),
    Bug(
        "the limit is off by one",
        "core/assigner.py",
        "free = board.limits.doers - agents",
        "free = board.limits.doers - agents + 1",
        seed=1,
    ),
    Bug("a pause is ignored", "core/assigner.py", "if board.paused or board.stopping:", "if board.stopping:"),
    Bug("a name is given twice", "core/names.py", "if name not in in_use:", "if True:"),
    Bug(
        "boundaries are not checked",
        "core/boundaries.py",
        "    return found",
        "    return []",
        seed=1,
    ),
    Bug("a failed check is a pass", "core/checks.py", OUTCOMES, OUTCOMES.replace(", CheckOutcome.FAIL", "")),
    Bug(
        "a broken check is a pass",
        "core/checks.py",
        OUTCOMES,
        OUTCOMES.replace("CheckOutcome.BROKEN, ", ""),
        options=("--machine", "0.3"),
        seed=1,
    ),
    Bug(
        "one failure too many is allowed",
        "core/escalations.py",
        "return failures >= max_failures",
        "return failures > max_failures",
        seed=9,
    ),
    Bug("nobody is killed", "core/supervision.py", "actions.append(Kill(run.id))", "pass"),
    Bug(
        "what a crash cut off is not taken up",
        "core/supervision.py",
        "actions.append(Resume(attempt.id))",
        "pass",
    ),
    Bug(
        "the merge is recorded before main moves",
        "daemon/review.py",
        "return replace(self._folded(attempt, bead, journal), step=Step.SWAP)",
        "return replace(self._folded(attempt, bead, journal), step=Step.VALIDATE_MAIN)",
    ),
    Bug(
        "main is swapped from wherever it is",
        "daemon/review.py",
        "land = self.doors.git.land(journal.candidate, journal.base)",
        "land = self.doors.git.land(journal.candidate, self.doors.git.main())",
        seed=1,
    ),
    Bug(
        "a stop forgets that the merge has landed",
        "daemon/review.py",
        "if journal.candidate and doors.git.contains(journal.candidate, doors.git.main()):",
        "if False:",
        runs=120,
        seed=4,
    ),
    Bug(
        "a validation is judged again after a crash",
        "daemon/judging.py",
        "if not commit:  # dealt with already, and a crash hid it",
        "if False:",
        seed=3,
    ),
    Bug(
        "the red proof is skipped",
        "daemon/agents.py",
        "if why_not is not None:",
        "if False:",
        seed=6,
    ),
    Bug("failures are not counted", "daemon/closing.py", "counts=consequence.counts,", "counts=False,"),
    Bug("a restart clears no locks", "daemon/loop.py", "doors.git.clear_locks()", "pass"),
    Bug(
        "a bead with a living process is given away",
        "daemon/loop.py",
        "if not (isinstance(action, StartAgent) and action.bead in haunted)",
        "if True",
        seed=3,
    ),
    Bug(
        "a start that failed leaves its process",
        "daemon/perform.py",
        "            self.doors.processes.kill(run)\n",
        "",
        seed=3,
    ),
    Bug(
        "people are not told",
        "daemon/news.py",
        "if event.kind in (Kind.ESCALATED, Kind.SUGGESTED):",
        "if event.kind is Kind.SUGGESTED:",
    ),
    Bug(
        "closed beads keep their clones",
        "daemon/news.py",
        "if bead.status not in (Status.DONE, Status.CANCELLED):",
        "if True:",
    ),
    Bug(
        "a cancelled blocker counts as done",
        "store/moving.py",
        'was_done, is_done = (row["status"] == Status.DONE for row in (before, after))',
        'was_done, is_done = (row["status"] in CLOSED for row in (before, after))',
        seed=1,
    ),
    Bug(
        "a new dependency is not counted",
        "store/planning.py",
        'if moving.state(db, dependency.needs)["status"] != Status.DONE:',
        "if False:",
    ),
    Bug(
        "an epic forgets the children that join it",
        "store/moving.py",
        "(sign, sign * (not closed), sign * done, parent),",
        "(sign, 0, sign * done, parent),",
        seed=1,
    ),
    Bug(
        "a cancelled bead keeps its attempt",
        "store/recording.py",
        'row = db.maybe("SELECT id FROM attempts WHERE bead = ? AND outcome IS NULL", (bead.id,))',
        "row = None",
        seed=1,
    ),
    Bug(
        "a token outlives its attempt",
        "store/conditions.py",
        'WHERE attempts.id = ? AND outcome IS NULL"""',
        'WHERE attempts.id = ?"""',
    ),
    Bug(
        "an attempt can be ended twice",
        "store/attempts.py",
        '"SELECT * FROM attempts WHERE id = ? AND outcome IS NULL", (attempt_.id,)',
        '"SELECT * FROM attempts WHERE id = ?", (attempt_.id,)',
    ),
    Bug(
        "an answer is applied twice",
        "store/escalations.py",
        'if row["resolved_at"] is not None:\n        what',
        "if False:\n        what",
    ),
)


def planted(bug: Bug, place: Path) -> Path:
    """A copy of the program with the bug in it."""
    shutil.copytree(PACKAGE, place / "nobrakes", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("NAMES.json", "config", "hooks"):
        source = PACKAGE.parent / name
        if source.is_dir():
            shutil.copytree(source, place / name)
        else:
            shutil.copy(source, place / name)
    file = place / "nobrakes" / bug.file
    text = file.read_text()
    assert text.count(bug.line) == 1, f"{bug.file} does not have this line once: {bug.line}"
    file.write_text(text.replace(bug.line, bug.instead))
    return place


def simulate(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-m", "nobrakes.simulate", "--quiet", *options]
    return subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)


QUICK = {
    "two reviews at once",
    "a name is given twice",
    "a failed check is a pass",
    "boundaries are not checked",
    "the merge is recorded before main moves",
    "what a crash cut off is not taken up",
    "failures are not counted",
    "a new dependency is not counted",
}
"""Those of every push; the others are planted by night."""
assert {bug.name for bug in BUGS} > QUICK


def in_turn(bug: Bug) -> Any:
    marks = [] if bug.name in QUICK else [pytest.mark.slow]
    return pytest.param(bug, id=bug.name.replace(" ", "-"), marks=marks)


@pytest.mark.parametrize("bug", [in_turn(bug) for bug in BUGS])
def test_the_simulation_finds(bug: Bug, tmp_path: Path) -> None:
    found = simulate(planted(bug, tmp_path), "--seed", str(bug.seed), "--runs", str(bug.runs), *bug.options)
    assert "python -m nobrakes.simulate --seed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]
    assert found.returncode == 1


def test_without_a_bug_nothing_is_found(tmp_path: Path) -> None:
    nothing = Bug("nothing", "core/names.py", "if name not in in_use:", "if name not in in_use:")
    found = simulate(planted(nothing, tmp_path), "--runs", "3")
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]
