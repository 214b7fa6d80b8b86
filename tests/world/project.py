"""The project that the simulated agents work on: what is in it, and what its checks say about a tree.

1. A tree is a dict of path to text. Whether it is green is a property of the tree, never drawn.
2. A line of a file in tests/ is one test: `PATH is VALUE` or `PATH is not VALUE`; anything else does not parse.
3. Lint fails where a file in src/ holds the word LINT.
"""

from collections.abc import Mapping

Tree = Mapping[str, str]

TESTS = "run-the-tests"
LINT = "run-the-linter"
SLOW = "TimeoutError: the clock was slow"

FIRST_TREE: Tree = {
    "README.md": "a project",
    "Makefile": "test:",
    "src/base.py": "ok",
    "src/shared.py": "nobody",
    "tests/test_base.t": "src/base.py is ok",
}
BASE_TESTS = "tests/test_base.t"


def code_path(bead: str) -> str:
    """The file that a bead's Doer writes."""
    return f"src/{bead}.py"


def test_path(bead: str) -> str:
    """The file that a bead's Test Writer writes."""
    return f"tests/test_{bead}.t"


test_path.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest


def wanted(tree: Tree, path: str) -> str | None:
    """What the tests of the tree want `path` to hold; None where they do not say."""
    for name in sorted(tree):
        if name.startswith("tests/"):
            for line in tree[name].splitlines():
                subject, verb, value = line.partition(" is ")
                if verb and subject == path and not value.startswith("not "):
                    return value
    return None


def forbidden(tree: Tree, path: str) -> set[str]:
    """What the tests of the tree do not want `path` to hold."""
    found = set()
    for name in tree:
        if name.startswith("tests/"):
            for line in tree[name].splitlines():
                subject, verb, value = line.partition(" is not ")
                if verb and subject == path:
                    found.add(value)
    return found


def run_tests(tree: Tree) -> tuple[int, str]:
    """Exit code and output of the project's test command, in the words of pytest."""
    passed, failures, broken = 0, [], []
    for name in sorted(tree):
        if not name.startswith("tests/"):
            continue
        for number, line in enumerate(tree[name].splitlines(), 1):
            subject, verb, value = line.partition(" is ")
            if not verb:
                broken.append(f"ERROR {name} - SyntaxError: invalid syntax")
                break
            present = tree.get(subject, "missing")
            good = present != value[4:] if value.startswith("not ") else present == value
            if good:
                passed += 1
            else:
                failures.append(f"FAILED {name}::test_{number} - AssertionError: assert '{present}' == '{value}'")
    if broken:
        errors = "\n".join(f"E   SyntaxError: invalid syntax in {line.split()[1]}" for line in broken)
        summary = f"!!!!!! Interrupted: {len(broken)} errors during collection !!!!!!\n"
        return 2, f"{errors}\n" + "\n".join(broken) + f"\n{summary}====== {len(broken)} error in 0.10s ======\n"
    if not passed and not failures:
        return 5, "collected 0 items\n====== no tests ran in 0.01s ======\n"
    why = "\n".join("E   " + line.split(" - ", 1)[1] for line in failures)
    names = "\n".join(failures)
    parts = ([f"{len(failures)} failed"] if failures else []) + ([f"{passed} passed"] if passed else [])
    text = f"collected {passed + len(failures)} items\n{why}\n{names}\n====== {', '.join(parts)} in 0.10s ======\n"
    return (1 if failures else 0), text


def flaked(output: str) -> str:
    """What the test command says when all is good (`output`), but one test fails by chance."""
    passed = int(output.rpartition("====== ")[0].split()[1])
    told = f"collected {passed} items\nE   {SLOW}\nFAILED tests/test_base.t::test_1 - {SLOW}\n"
    return told + f"====== 1 failed, {passed - 1} passed in 0.10s ======\n"


def run_lint(tree: Tree) -> tuple[int, str]:
    """Exit code and output of the project's linter."""
    bad = sorted(path for path in tree if path.startswith("src/") and "LINT" in tree[path])
    return (1, "\n".join(f"{path}: LINT" for path in bad)) if bad else (0, "clean\n")


def green(tree: Tree) -> bool:
    """Whether every check of the project passes on the tree."""
    return run_tests(tree)[0] == 0 and run_lint(tree)[0] == 0
