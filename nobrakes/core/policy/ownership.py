"""Whose a path is: why a role may not change it.

Pure, and the only such rule: the law (core.policy.boundaries) and the guard
that advises agents both ask it, so it imports nothing that costs.
"""

from nobrakes.core.globs import folded as folded_globs
from nobrakes.core.globs import matches

TYPE_CHECKING = False  # importing `typing` or `collections` would cost more than deciding
if TYPE_CHECKING:
    from collections.abc import Sequence

OWN_FOLDER = ".nobrakes"
CONTRACT = ".nobrakes/config.toml"
"""The one file there that a scaffolding bead's Doer may change, as far as a person approves it."""
WRITER = "test_writer"
DOER = "doer"
SETTING = "boundaries.tests in .nobrakes/config.toml says which files are"
ONLY_TESTS = f"the Test Writer changes only tests ({SETTING})"
NO_TESTS = f"the Doer does not change tests ({SETTING})"
GATE = (
    "it is a protected file: only a scaffolding bead may change what decides whether work is good "
    "(boundaries.gates in .nobrakes/config.toml)"
)
FIXTURES = (
    "conftest.py", "**/fixtures/**", "**/__fixtures__/**", "**/testdata/**",
    "CMakeLists.txt", "meson.build", "Makefile.am", "BUILD", "BUILD.bazel",
)  # fmt: skip
"""Helpers of tests, and what names them to the build, also with the name of a protected file: a Test Writer may change
them among tests."""


def is_helper(role: str, path: str, tests: "Sequence[str]") -> bool:
    """Whether the path is a Test Writer's to change, though it may be called like a protected file."""
    return role == WRITER and matches(path, FIXTURES) and matches(path, tests)


def why_not(
    role: str, path: str, tests: "Sequence[str]", gates: "Sequence[str]", scaffolding: bool = False
) -> str | None:
    """Why the role (`test_writer`, `doer`) may not change this repository path, or None where it may."""
    folded = path.casefold()
    parts = folded.split("/")
    if scaffolding and role == DOER and path == CONTRACT:
        return None
    if OWN_FOLDER in parts:  # one deeper down would be found first by a person who works there
        return "nobody but nobrakes changes .nobrakes/"
    if ".git" in parts or any(part.startswith("git~") and part[4:].isdecimal() for part in parts):
        return "git's own folder is not work"
    if scaffolding:
        return None
    is_test = matches(path, tests)
    if not is_helper(role, path, tests) and matches(folded, folded_globs(tuple(gates))):  # make reads `makefile` first
        return GATE
    if role == WRITER and not is_test:
        return ONLY_TESTS
    if role == DOER and is_test:
        return NO_TESTS
    return None
