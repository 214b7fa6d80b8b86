"""Who may change which file. Checked on the tree after the fact: hooks and prompts only advise.

1. Nobody changes a `.nobrakes/`; but a scaffolding bead's Doer its config.toml, of which a person is asked
   (core.policy.new_contract). Nobody but a scaffolding bead changes a protected file:
   of others a person is asked, but for git's own rules and hooks and the agents' settings, which are refused where
   git and agents look first, at the top. What steers agents and git is protected also among fixtures. Of what bends
   the runner (`bends_runner`) a person is asked whoever changed it.
2. A Test Writer changes only tests, a Doer never does; scaffolding beads may do both. Of a Doer's change to a
   snapshot, which is a test's recorded outcome, a person is asked.
3. Of an ignore file that hides files of the tree from git, or new ones beside them, a person is asked.
4. No link leads out of the repository, and no submodule is added or moved. What git keeps through a filter comes
   through it, or does not come.
"""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from ..beads.bead import Role
from ..checks.test_names import SNAPSHOTS
from ..globs import folded as folded_globs
from ..globs import matches
from .ownership import GATE, OWN_FOLDER, is_helper, why_not
from .shadows import PLANTED, framework, hidden, hides, new_names
from .steering import is_covered, starts_by_itself
from .usual_protected import GIT_RULES

REFUSED = (
    ".githooks/**", ".husky/**", *GIT_RULES,
    ".claude/**", ".codex/**", ".gemini/**", ".mcp.json"
)  # fmt: skip
"""Gates that nobody is asked about: they decide what git and agents do, and not whether work is good."""
ABSENT = "000000"
GITLINK = "160000"
SYMLINK = "120000"


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs. Modes are git's octal strings, "000000" where the file is absent."""

    path: str
    before: str
    after: str
    link: str | None = None  # where a new symbolic link leads
    sections: tuple[str, ...] = ()  # the protected sections of a shared file that differ
    dependencies: bool = False  # its lists of dependencies differ
    hooks: tuple[str, ...] = ()  # what bends the runner and differs, in words (core.policy.runner_hooks)
    hidden: tuple[str, ...] = ()  # paths that git ignores by it, and did not before
    unfiltered: str = ""  # why what it brings cannot come through the filter that git keeps the path by


@dataclass(frozen=True, slots=True)
class Boundary:
    """The project's globs (core.globs).

    `tests` are those of a tree (core.checks.test_layout), or what the settings say.
    """

    tests: tuple[str, ...]
    gates: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()  # the paths that the checks' commands name (core.policy.protected_files)
    roots: tuple[str, ...] = ()  # where a new module may hide an installed one (core.policy.shadows)
    standing: frozenset[str] = frozenset()  # the modules that are there already
    paths: frozenset[str] = frozenset()  # those of the tree that the work began from
    installed: frozenset[str] = frozenset()  # the modules that the checks' interpreters resolve without the checkout
    steering: tuple[str, ...] = ()  # globs of what steers agents and git (core.policy.steering)
    asks_dependencies: bool = False  # of changed lists of dependencies alone a person is asked too
    loaded: frozenset[str] = frozenset()  # what the runner's settings load, tests or not (core.policy.protected_files)


def may_write(role: Role, path: str, boundary: Boundary, scaffolding: bool = False) -> str | None:
    """Why this role may not change this repository path, or None where it may."""
    return why_not(role.value, path, boundary.tests, boundary.gates, scaffolding)


def is_asked(change: Change, boundary: Boundary) -> bool:
    """Whether the change is one of what decides, or of an outcome that tests recorded, and a person may accept it."""
    folded = change.path.casefold()
    if matches(folded, REFUSED):
        return False
    if bends_runner(change, boundary) or change.sections or change.hidden:
        return True
    if change.dependencies and boundary.asks_dependencies:
        return True
    if is_covered(change.path, boundary.gates) or matches(folded, folded_globs(PLANTED)):
        return True
    if starts_by_itself(change.path, boundary.paths):
        return True
    if matches(change.path, boundary.tests):
        return matches(change.path, SNAPSHOTS)
    if hides(_new_modules(change, boundary), boundary.installed) or _is_framework(change, boundary):
        return True
    if _hides_a_test(change, boundary):
        return True
    return folded in {path.casefold() for path in boundary.named}


def bends_runner(change: Change, boundary: Boundary) -> bool:
    """Whether the change is one of a runner's hooks, or of what steers agents or git: no role makes it alone."""
    return is_covered(change.path, boundary.steering) or bool(change.hooks) or change.path in boundary.loaded


def adds_modules(changes: Sequence[Change], boundary: Boundary) -> bool:
    """Whether a change makes a new module where Python's path begins, so that it matters which ones are installed."""
    return any(_new_modules(change, boundary) for change in changes)


def _new_modules(change: Change, boundary: Boundary) -> frozenset[str]:
    if change.before != ABSENT or change.after == ABSENT:
        return frozenset()
    return new_names(change.path, change.after == SYMLINK, boundary.roots, boundary.standing)


def _is_framework(change: Change, boundary: Boundary) -> bool:
    """Whether the change adds to a test framework that the tree did not have."""
    name = framework(change.path) if change.before == ABSENT else ""
    return bool(name) and name not in boundary.standing


def _hides_a_test(change: Change, boundary: Boundary) -> bool:
    """Whether Python takes what the change adds in the place of a test that the tree has."""
    if change.before != ABSENT or change.after == ABSENT:
        return False
    path = hidden(change.path, change.after == SYMLINK)
    return path in boundary.paths and matches(path, boundary.tests)


def gate_changes(changes: Sequence[Change], boundary: Boundary) -> list[Change]:
    """The changes that a person has to accept where the bead is not scaffolding."""
    return [change for change in changes if is_asked(change, boundary)]


def violations(
    role: Role, changes: Sequence[Change], boundary: Boundary, scaffolding: bool = False, asks: bool = False
) -> list[str]:
    """One line for each change that the role may not make, "path: why", in the changes' order.

    `asks`: a person is asked about gates, so they are left out here.
    """
    found = []
    for change in changes:
        is_gate = asks and is_asked(change, boundary)
        shown = () if is_gate and matches(change.path, SNAPSHOTS) else boundary.tests
        why = may_write(role, change.path, Boundary(shown) if is_gate else boundary, scaffolding)
        free = scaffolding or is_gate or is_helper(role.value, change.path, boundary.tests)
        if why is None and not free and matches(change.path.casefold(), REFUSED):
            why = GATE
        if why is None and change.sections and not free:
            why = f"it changes {', '.join(change.sections)}, which decide whether work is good"
        if why is None and change.hidden and not free:
            why = f"it hides files from git: {', '.join(change.hidden[:3])}"
        if why is None and GITLINK in (change.before, change.after):
            why = "submodules are not added, moved or removed by agents"
        if why is None and change.after == SYMLINK and change.link is not None and _leads_out(change):
            why = f"the link leads out of the repository: {change.link}"
        if why is None and change.unfiltered:
            why = change.unfiltered
        if why is not None:
            found.append(f"{change.path}: {why}")
    return found


def _leads_out(change: Change) -> bool:
    link = change.link or ""
    end = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), link))
    top = end.split("/")[0].casefold()
    return link.startswith("/") or top == ".." or top in (".git", OWN_FOLDER)
