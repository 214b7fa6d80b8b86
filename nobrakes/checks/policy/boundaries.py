"""Who may change which file. Checked on the resulting tree: hooks and prompts only advise.

1. Nobody changes `.nobrakes/`, except a scaffolding bead's Doer its config.toml, with a person's approval. Only
   scaffolding beads change protected files: for others a person is asked, but git's rules and hooks and agents'
   settings are refused where they take effect, at the top. What steers agents and git is protected even in fixtures. A
   person is always asked about what bends the runner (`bends_runner`).
2. A Test Writer changes only tests, a Doer none; scaffolding beads may do both. A Doer's change to a snapshot, a
   recorded outcome, needs a person.
3. So does an ignore file that hides files of the tree, or new ones beside them.
4. No link leads out of the repository, no submodule is added or moved. Filtered content comes through its filter or not
   at all; a filter that is not allowed needs a person.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...beads.model import Bead, Outcome, Role
from ...decisions.model import COMMANDS, FILTERS
from ...git.port import ABSENT, GITLINK, SYMLINK, Change
from ...globs import folded as folded_globs
from ...globs import matches
from ...paths import GIT_RULES
from ...records import frozen
from ...text.cleaning import first_of, is_seen, shorten
from ..test_paths import SNAPSHOTS
from .ownership import CONTRACT, FIXTURES, GATE, OWN_FOLDER, is_covered, is_helper, why_not
from .protected_files import in_unknown_folder, starts_by_itself
from .shadows import PLANTED, framework, hidden, hides, new_names

if TYPE_CHECKING:
    from ...store import Store

REFUSED = (
    ".githooks/**", ".husky/**", *GIT_RULES,
    ".claude/**", ".codex/**", ".gemini/**", ".mcp.json"
)  # fmt: skip
"""Refused without a question: they decide what git and agents do, not whether work is good."""
SPRINT = "sprint"
"""In the metadata of a sprint's epic: its number. All beads below the epic are the sprint's."""
SPRINT_DOCUMENTS = ("task.md", "DECISIONS.md", "DEVIATIONS.md", "WISHLIST.md", "docs/ROADMAP.md", "docs/sprints/**")
"""Documents that nobrakes writes for a sprint, so its agents may not."""


def is_in_sprint(store: "Store", bead: Bead) -> bool:
    """Whether the bead, or an epic above it, has the mark of a sprint."""
    while SPRINT not in bead.metadata:
        if bead.epic is None:
            return False
        bead = store.bead(bead.epic)
    return True


@frozen
class Boundary:
    """The project's globs. `tests`: of a tree (checks.test_paths), or the settings."""

    tests: tuple[str, ...]
    gates: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()  # the paths that the checks' commands name (checks.policy.protected_files)
    roots: tuple[str, ...] = ()  # where a new module may hide an installed one (checks.policy.shadows)
    standing: frozenset[str] = frozenset()  # the modules that are there already
    paths: frozenset[str] = frozenset()  # those of the tree that the work began from
    installed: frozenset[str] = frozenset()  # the modules that the checks' interpreters resolve without the checkout
    steering: tuple[str, ...] = ()  # globs of what steers agents and git (checks.policy.protected_files)
    asks_dependencies: bool = False  # of changed lists of dependencies alone a person is asked too
    loaded: frozenset[str] = (
        frozenset()
    )  # what the runner's settings load, tests or not (checks.policy.protected_files)
    documents: tuple[str, ...] = ()  # those of a sprint, which nobrakes writes


def may_write(role: Role, path: str, boundary: Boundary, scaffolding: bool = False) -> str | None:
    return why_not(role.value, path, boundary.tests, boundary.gates, scaffolding)


def is_asked(change: Change, boundary: Boundary) -> bool:
    """Whether a person may accept this change of a gate or recorded outcome."""
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
    return _hides_a_test(change, boundary) or folded in {path.casefold() for path in boundary.named}


def bends_runner(change: Change, boundary: Boundary) -> bool:
    """Whether the change affects a runner's hooks or steers agents or git: no role makes it alone. Files that are never
    written by hand (PLANTED) count too, except test data."""
    if is_covered(change.path, boundary.steering) or in_unknown_folder(change.path):
        return True
    if matches(change.path.casefold(), folded_globs(PLANTED)) and not matches(change.path, FIXTURES):
        return True
    return bool(change.hooks) or change.path in boundary.loaded


def edits_tests(change: Change, boundary: Boundary) -> bool:
    """Whether it changes a test or fixture that was there, or brings a conftest.py, which acts on those there are."""
    if change.path.rpartition("/")[2] == "conftest.py":
        return True
    return change.before != ABSENT and (matches(change.path, boundary.tests) or matches(change.path, FIXTURES))


def adds_modules(changes: Sequence[Change], boundary: Boundary) -> bool:
    """A new module at the start of Python's path makes the installed modules matter."""
    return any(_new_modules(change, boundary) for change in changes)


def _new_modules(change: Change, boundary: Boundary) -> frozenset[str]:
    if change.before != ABSENT or change.after == ABSENT:
        return frozenset()
    return new_names(change.path, change.after == SYMLINK, boundary.roots, boundary.standing)


def _is_framework(change: Change, boundary: Boundary) -> bool:
    name = framework(change.path) if change.before == ABSENT else ""
    return bool(name) and name not in boundary.standing


def _hides_a_test(change: Change, boundary: Boundary) -> bool:
    if change.before != ABSENT or change.after == ABSENT:
        return False
    path = hidden(change.path, change.after == SYMLINK)
    return path in boundary.paths and matches(path, boundary.tests)


def gate_changes(changes: Sequence[Change], boundary: Boundary) -> list[Change]:
    return [change for change in changes if is_asked(change, boundary)]


def violations(
    role: Role, changes: Sequence[Change], boundary: Boundary, scaffolding: bool = False, asks: bool = False
) -> list[str]:
    """A line "path: why" for each forbidden change, in order. `asks`: without gates, which a person is asked about."""
    found = []
    for change in changes:
        is_gate = asks and is_asked(change, boundary)
        shown = () if is_gate and matches(change.path, SNAPSHOTS) else boundary.tests
        why = may_write(role, change.path, Boundary(shown) if is_gate else boundary, scaffolding)
        free = scaffolding or is_gate or is_helper(role.value, change.path, boundary.tests)
        if why is None and not free and matches(change.path.casefold(), REFUSED):
            why = GATE
        if why is None and change.sections and not free:
            why = f"the branch changes {', '.join(change.sections)}, which decide whether work passes"
        if why is None and change.hidden and not free:
            why = f"the file hides other files from git: {', '.join(change.hidden[:3])}"
        if why is None and matches(change.path.casefold(), folded_globs(boundary.documents)):
            why = "nobrakes writes a sprint's documents: hand in the text with `nobrakes agent document`"
        if why is None and GITLINK in (change.before, change.after):
            why = "agents may not add, move or remove submodules"
        if why is None and change.after == SYMLINK and change.link is not None and _leads_out(change):
            why = f"the symbolic link points outside the repository: {change.link}"
        if why is None and change.unfiltered and not change.barred:
            why = change.unfiltered
        if why is not None:
            found.append(f"{change.path}: {why}")
    return found


def barred(changes: Iterable[Change]) -> dict[str, list[str]]:
    found = [change.barred for change in changes if change.barred]
    names, commands = (one[0] for one in found), (command for one in found for command in one[1:])
    return {FILTERS: [*dict.fromkeys(names)], COMMANDS: [*dict.fromkeys(commands)]} if found else {}


def fault(found: Sequence[str], changes: Iterable[Change]) -> tuple[Outcome, str] | None:
    """How unacceptable work ends. `found`: its violations, which alone are its own failure."""
    if found:
        return Outcome.BOUNDARY, "The branch changes files that its role may not change:\n" + "\n".join(found[:50])
    lines = [f"{change.path}: {change.unfiltered}" for change in changes if change.barred]
    if not lines:
        return None
    return Outcome.FILTER_NOT_ALLOWED, "The work needs a git filter that is not allowed:\n" + "\n".join(lines[:50])


def _leads_out(change: Change) -> bool:
    link = change.link or ""
    top = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), link)).split("/")[0].casefold()
    return link.startswith("/") or top == ".." or top in (".git", OWN_FOLDER)


ESTABLISHED = ("checks", "boundaries.tests")
MAX_CHECKS = 30
MAX_COMMAND = 1000
MAX_CONTRACT = 12_000
_NAMED = 5
_STAYS = "a bead can set only checks and boundaries.tests, so this setting must be the same as on main"

Settings = Mapping[str, Any]
"""Every setting of a config.toml: tables as mappings, checks as a sequence of mappings."""


# Established are the checks and the globs of tests; every other setting stays as main has it. The globs let go of no
# file that is a test by those in force, and leave the Doer something to do. What is long or has invisible characters is
# not asked about, since a person approves what they have seen.
def beyond(before: Settings, after: Settings) -> list[str]:
    return [name for name in _differing(before, after, "") if name not in ESTABLISHED]


def _differing(before: Any, after: Any, name: str) -> Iterable[str]:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return [name] if before != after else []
    keys = dict.fromkeys((*before, *after))
    return [found for key in keys for found in _differing(before.get(key), after.get(key), f"{name}.{key}".lstrip("."))]


def faults(
    before: Settings, after: Settings, paths: Iterable[str], tests: Sequence[str], will_be: Sequence[str]
) -> list[str]:
    """Why the contract cannot be established, a line each. `paths`: of its commit; `tests`: present globs of tests,
    `will_be`: later ones."""
    found = [f"{CONTRACT}: {name} = {_value(after, name)}: {_STAYS}" for name in beyond(before, after)]
    checks = after.get("checks", ())
    if not checks:
        found.append(f"{CONTRACT} has no [[checks]], so no work could be checked")
    if len(checks) > MAX_CHECKS:
        found.append(f"{CONTRACT} has more than {MAX_CHECKS} checks; remove some checks")
    for check in checks:
        if len(str(check["command"])) > MAX_COMMAND:
            found.append(f"{CONTRACT}: the command of check '{check['name']}' is too long to review: put it in a file")
    work = [path for path in paths if OWN_FOLDER not in path.casefold().split("/")]
    if freed := [path for path in work if matches(path, tests) and not matches(path, will_be)]:
        found.append(f"{CONTRACT}: boundaries.tests would let a Doer change tests: {_some(freed)}")
    if work and all(matches(path, will_be) for path in work):
        found.append(f"{CONTRACT}: boundaries.tests matches every file, so a Doer could change none")
    told = "\n".join(tell(before, after, work, will_be))
    if not found and len(told) > MAX_CONTRACT:
        found.append(f"{CONTRACT} is too long to review: put the commands in files")
    if not is_seen(told):
        found.append(f"{CONTRACT} contains control, text-direction or invisible characters")
    return found


def tell(before: Settings, after: Settings, paths: Iterable[str], tests: Sequence[str]) -> list[str]:
    """Text for a person: new, changed and removed checks, what weakens them, and what the globs cover."""
    old = {check["name"]: check for check in before.get("checks", ())}
    new = {check["name"]: check for check in after.get("checks", ())}
    lines = []
    for name, check in new.items():
        word = "as before" if old.get(name) == check else "changed" if name in old else "new"
        lines.append(f"check {name} ({check['kind']}, {word}): {check['command']}")
        if word == "changed" and old[name]["command"] != check["command"]:
            lines.append(f"    the check's command was: {old[name]['command']}")
        lines += [f"    {line}" for line in _terms(check, old.get(name, {}))]
    lines += [f"check {name} is removed: {check['command']}" for name, check in old.items() if name not in new]
    own = after["boundaries"]["tests"]
    held = [path for path in paths if matches(path, tests)]
    lines.append(f"tests: {', '.join(own) if own else 'found by nobrakes'}; matching files: {_some(held) or 'none'}")
    return lines


def _terms(check: Settings, old: Settings) -> list[str]:
    """How a check is read and its timeout; then what makes it prove less."""
    terms = {name: value for name, value in check.items() if name not in ("name", "command", "kind") and value != ""}
    said = [", ".join(f"{name} = {value}" for name, value in terms.items())]
    said += [f"{name} was {old[name]}" for name in ("kind", *terms) if name in old and old[name] != check[name]]
    if check["kind"] == "test" and check["format"] == "exit":
        said.append("only the check's exit code decides: nobrakes cannot notice missing tests")
    if check["kind"] == "test" and check["min_tests"] == 0:
        said.append("the check passes even without a test")
    return said


def _value(settings: Settings, name: str) -> str:
    value: Any = settings
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    text = repr(value)
    return shorten(text if is_seen(text) else ascii(value), 80)


def _some(paths: Sequence[str]) -> str:
    return first_of(sorted(paths), _NAMED)
