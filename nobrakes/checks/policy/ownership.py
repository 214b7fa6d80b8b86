"""Whose a path is: why a role may not change it.

Pure, and the only such rule: the law (checks.policy.boundaries) and the guard
that advises agents both ask it, so it imports nothing that costs.
"""

from nobrakes.globs import folded as folded_globs
from nobrakes.globs import matches

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...beads.model import Bead, Role
    from ...decisions.model import Escalation


OWN_FOLDER = ".nobrakes"
CONTRACT = ".nobrakes/config.toml"
"""The only file there that a scaffolding bead's Doer may change, with a person's approval."""
WRITER = "test_writer"
DOER = "doer"
SETTING = "boundaries.tests in .nobrakes/config.toml says which files are"
ONLY_TESTS = f"the Test Writer changes only tests ({SETTING})"
NO_TESTS = f"the Doer does not change tests ({SETTING})"
GATE = (
    "this file is protected: only a scaffolding bead may change files that decide whether work passes "
    "(boundaries.gates in .nobrakes/config.toml)"
)
FIXTURES = (
    "conftest.py", "**/fixtures/**", "**/__fixtures__/**", "**/testdata/**",
    "CMakeLists.txt", "meson.build", "Makefile.am", "BUILD", "BUILD.bazel",
)  # fmt: skip
"""Helpers of tests and their build files, even with a protected name: a Test Writer may change them among tests."""


def is_helper(role: str, path: str, tests: "Sequence[str]") -> bool:
    return role == WRITER and matches(path, FIXTURES) and matches(path, tests)


def is_covered(path: str, globs: "Sequence[str]") -> bool:
    """Compares without case (make reads `makefile` first), except for pages of docs."""
    folded = path.casefold()
    is_page = "/" in path and path == folded and path.endswith(".md")
    return matches(path, globs) if is_page else matches(folded, folded_globs(tuple(globs)))


def why_not(
    role: str, path: str, tests: "Sequence[str]", gates: "Sequence[str]", scaffolding: bool = False
) -> str | None:
    """Why the role (`test_writer`, `doer`) may not change this path."""
    parts = path.casefold().split("/")
    if scaffolding and role == DOER and path == CONTRACT:
        return None
    if OWN_FOLDER in parts:  # one deeper down would be found first by a person who works there
        return "only nobrakes may change .nobrakes/"
    if ".git" in parts or any(part.startswith("git~") and part[4:].isdecimal() for part in parts):
        return "agents may not change git's own folder"
    if scaffolding:
        return None
    is_test = matches(path, tests)
    if not is_helper(role, path, tests) and is_covered(path, gates):
        return GATE
    if role == WRITER and not is_test:
        return ONLY_TESTS
    return NO_TESTS if role == DOER and is_test else None


# A plan is approved by the decision "approve" alone; an answer in words means: change it. Compared are the enums' own
# words, so that a row of the store as JSON does as well as a Bead: nothing that costs is imported.
LABEL = "plan-review"
_PLAN = "plan_review"  # EscalationType.PLAN_REVIEW


def needed(bead: "Bead", role: "Role") -> bool:
    return role == "doer" and LABEL in bead.labels


def approved(escalations: "Iterable[Escalation]") -> "Escalation | None":
    from ...beads.branches import is_approval  # the guard judges no plan

    found = [e for e in escalations if e.type == _PLAN and is_approval(e.resolution)]
    return max(found, key=lambda e: e.id, default=None)


def waiting(escalations: "Iterable[Escalation]") -> "Escalation | None":
    found = (one for one in escalations if one.type == _PLAN and one.resolved_at is None)
    return max(found, key=lambda one: one.id, default=None)
