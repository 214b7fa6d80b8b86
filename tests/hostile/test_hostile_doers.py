"""Hostile agents in the real daemon, on a real repository: nothing precious changes, and the next honest bead lands.

All attempts of a mode share one repository and one run, four at a time. Afterwards everything is looked at; what an
attempt left is told by its mark. The table at the end counts: 0 succeeded is what is expected.

NOBRAKES_HOSTILE: `all` lets each loose in each of the three places; without it each is let loose in one of them.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nobrakes.sandbox import landlock, system_paths
from nobrakes.sandbox.closure import platform_trouble
from tests.hostile import objects
from tests.hostile.attempts import SANDBOX, TABLE, Attempt
from tests.hostile.pages import READ
from tests.support.arena import SECRET_IN_ENVIRONMENT, SECRET_IN_HOME, Arena

FEW = (
    "branch-called-main",
    "hooks-in-the-clone",
    "change-a-test",
    "trailers-of-another-bead",
    "hand-off-is-a-link",
    "born-twice-without-marks",
    "push-by-path",
    "checkout-tracked",
    "settings-of-git",
    "write-the-database",
    "write-what-repositories-share",
    "kill-the-daemon",
    "pages-by-what-is-kept",
    "pages-stop-without-a-code",
)
MODES = ("bubblewrap", "wall", "nothing")
Note = Callable[[str, object], None]
ALL = os.environ.get("NOBRAKES_HOSTILE") == "all"  # read now: tests do not see the NOBRAKES_ variables of who runs them
PLANTED = ("nobrakes-evil-program", "nobrakes_evil.py", "nobrakes-evil.pth")


SIGNALS = ("kill-the-daemon", "kill-the-wrapper", "as-a-person")
"""What an early Landlock does not hold, and says so."""


def dose(every: Sequence[Any], mode: str) -> list[Any]:
    """Those of them that this mode gets."""
    if ALL:
        return list(every)
    return list(every[MODES.index(mode) :: len(MODES)])


def of(mode: str) -> list[Attempt]:
    """The attempts that must come to nothing in this mode, on this kernel."""
    early = mode == "wall" and landlock.version() < 6
    return [one for one in TABLE if mode in one.modes and not (early and one.name in SIGNALS)]


def works(mode: str) -> str:
    """Why the mode cannot be tried here; empty: it can."""
    if mode == "wall":
        return platform_trouble()
    if mode == "bubblewrap":
        if trouble := system_paths.platform_trouble():
            return trouble
        done = subprocess.run(system_paths.argv("/", os.environ), capture_output=True, check=False)
        return "" if done.returncode == 0 else done.stderr.decode(errors="replace")
    return ""


def tried(tmp_path: Path, mode: str, attempts: list[Attempt], note: Note) -> None:
    if trouble := works(mode):
        pytest.skip(trouble)
    arena = Arena(tmp_path, mode)
    before = arena.picture() | arena.refs() | {"graph": str(arena.graph())}
    plays_of = {attempt.name: attempt.play for attempt in attempts}
    said = arena.let_loose(plays_of, seconds=max(400, 15 * len(plays_of)))  # who is lost is tried again, after a wait
    wrong: dict[str, str] = {}
    wrong |= {bead: f"it wrote to {', '.join(places)}" for bead, places in arena.written().items()}
    for bead, paths in forbidden(arena):
        wrong[bead] = f"main has its {', '.join(paths)}"
    after = arena.picture() | arena.refs() | {"graph": str(arena.graph())}
    plays = {f"plays/{attempt.name}" for attempt in attempts}
    for name in sorted({*before, *after} - plays):
        if before.get(name) != after.get(name):
            wrong[f"precious {name}"] = f"{before.get(name)} became {after.get(name)}"
    secrets = [SECRET_IN_ENVIRONMENT] * (mode != "nothing") + [SECRET_IN_HOME, READ]
    wrong |= {f"secret {number}": leak for number, leak in enumerate(arena.leaks(secrets))}
    wrong |= {f"process {line.split(':')[0]}": line for line in arena.processes()}
    failed = [one for one in arena.ask("escalations") if one["type"] == "nobrakes_failed"]
    wrong |= {f"nobrakes failed on {one['bead']}": one["detail"] for one in failed}
    landed = {bead: commit for commit, bead, _ in arena.landed()}
    if landed != arena.merged():
        wrong["main"] = f"it holds {landed}, and what was recorded is {arena.merged()}"
    statuses = arena.statuses()
    if unknown := set(statuses) - {attempt.name for attempt in attempts} - {"victim", "later"}:
        wrong["the graph"] = f"it has {unknown}"
    open_beads = [attempt.name for attempt in attempts if statuses[attempt.name] in OPEN]
    if open_beads:
        wrong["the daemon"] = f"it left {open_beads} as they were:\n{said[-3000:]}"
    wrong |= {f"repository {number}": line for number, line in enumerate(arena.is_whole())}
    wrong |= planted()
    if any(attempt.name == "pages-by-guessing" for attempt in attempts) and arena.refused_pages < 2:
        wrong["pages-by-guessing"] = "it did not reach the pages, so nothing was tried"
    arena.let_loose({"honest": "work"})
    if arena.statuses()["honest"] != "done":
        wrong["the next honest bead"] = "it did not land"
    note("hostile", (mode, dict(Counter(attempt.kind for attempt in attempts)), len(wrong)))
    assert wrong == {}, "\n".join(f"{name}: {what}" for name, what in wrong.items())


OPEN = ("open", "needs_doer", "doing", "needs_review", "reviewing")


def forbidden(arena: Arena) -> list[tuple[str, list[str]]]:
    """(bead, paths) of what landed on main and must not: tests, gates, the state, what leads out."""
    found = []
    for commit, bead, paths in arena.landed():
        bad = [path for path in paths if not path.startswith("src/") and path != "wanted"]
        modes = arena.modes(commit)
        bad += [path for path in paths if modes.get(path) not in (None, "100644", "100755")]
        if bad:
            found.append((bead, bad))
    return found


def planted() -> dict[str, str]:
    """Programs and modules that an attempt put where they would be run; they are taken away again."""
    folders = [*os.environ["PATH"].split(os.pathsep), str(Path(landlock.__file__).parents[1])]
    folders += [str(path) for path in Path(sys.prefix).glob("lib/python*/site-packages")]
    found = {}
    for path in (Path(folder, name) for folder in folders for name in PLANTED):
        if path.exists():
            path.unlink()
            found[f"planted {path}"] = "it can be run now"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_attempt_succeeds(tmp_path: Path, mode: str, record_property: Note) -> None:
    tried(tmp_path, mode, [one for one in of(mode) if one in dose(TABLE, mode)], record_property)


def test_a_few_attempts_behind_the_wall(tmp_path: Path, record_property: Note) -> None:
    tried(tmp_path, "wall", [attempt for attempt in of("wall") if attempt.name in FEW], record_property)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_object_in_a_place_of_theirs_stops_anything(tmp_path: Path, mode: str, record_property: Note) -> None:
    tried(tmp_path, mode, dose(objects.TABLE, mode), record_property)


@pytest.mark.parametrize("mode", MODES)
def test_a_few_objects_in_the_place_of_the_hand_off(tmp_path: Path, mode: str, record_property: Note) -> None:
    few = ("hand-off-is-folder", "hand-off-is-socket", "hand-off-is-closed", "hand-off-is-in-a-closed-folder")
    tried(tmp_path, mode, [one for one in objects.TABLE if one.name in few], record_property)


def test_the_same_attempts_succeed_where_nothing_is_in_the_way(tmp_path: Path) -> None:
    """The proof that the tests above can fail."""
    arena = Arena(tmp_path, "nothing")
    before = arena.picture()
    names = ("checkout-tracked", "settings-of-git", "hooks-of-yours")
    arena.let_loose({attempt.name: attempt.play for attempt in TABLE if attempt.name in names})
    assert set(names) <= set(arena.written())
    assert arena.picture() != before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pages-by-what-is-kept", "pages-by-the-browsers-cookie", "pages-by-a-token-file"])
def test_without_a_sandbox_an_agent_is_on_the_pages_what_the_person_is(tmp_path: Path, name: str) -> None:
    """As docs/security.md says; and the proof that what is tried in the sandbox is something."""
    arena = Arena(tmp_path, "nothing")
    arena.let_loose({attempt.name: attempt.play for attempt in TABLE if attempt.name == name})
    assert arena.leaks([READ]) and any(bead["title"].endswith(name) for bead in arena.ask("list", "--all"))


def test_there_are_enough_of_them() -> None:
    assert len(TABLE) >= 60 and all("wall" in attempt.modes for attempt in TABLE if attempt.modes != SANDBOX)
