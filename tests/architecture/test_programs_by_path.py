"""A program that Python is given by its path has no package, and finds no nobrakes unless it says where that lies.

Found are all modules whose own file is handed to somebody: by a name beside or below a folder that is worked out from
`__file__` (`os.path.join(…, "proxy.py")`), or as the `__file__` of a module that was imported.
"""

import ast
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"
STARTS: dict[str, tuple[tuple[str, ...], str]] = {
    "git/lfs_filter.py": ((os.devnull,), ""),
    "hooks/guard.py": (("--canary",), "nobrakes-guard: ready\n"),
    "host/proxy.py": ((os.devnull, "", "", "--", "echo", "begun"), "begun\n"),
    "host/runs/forkserver.py": ((str(PACKAGE), ""), ""),
    "programs.py": (("recorder", "1000", "--", "echo", "begun"), "begun\n"),
    "sandbox/inside.py": (("data=0", "--", "echo", "begun"), "begun\n"),
    "sandbox/walled.py": (("--", "echo", "begun"), "begun\n"),
}
"""What is said to each, and what it prints then."""
OF_AN_AGENT = {f"NOBRAKES_{name}": "" for name in ("TESTS", "GATES")} | {
    "NOBRAKES_ROLE": "doer",
    "NOBRAKES_WORKSPACE": "/work",
}


def handed_on(path: Path) -> Iterator[Path]:
    """The modules whose file this module hands to somebody by its path."""
    source = path.read_text()
    if "__file__" not in source:
        return
    tree = ast.parse(source)
    known: dict[str, object] = {"os": os, "__file__": str(path)}
    modules: dict[str, Path] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if any(isinstance(one, ast.Name) and one.id == "__file__" for one in ast.walk(node.value)):
                known[node.targets[0].id] = _value(node.value, known)
        elif isinstance(node, ast.ImportFrom):
            folder = (path.parents[node.level - 1] if node.level else ROOT).joinpath(*(node.module or "").split("."))
            modules |= {one.asname or one.name: folder / f"{one.name}.py" for one in node.names}
    looked_at = {
        node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == "os.stat"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__file__" and node not in looked_at:
            yield from (modules[one] for one in [_name(node.value)] if one in modules)
        elif isinstance(node, ast.Call) and _name(node.func) == "os.path.join":
            found = _value(node, known)
            if isinstance(found, str) and found.endswith(".py"):
                yield Path(found).resolve()


def _name(node: ast.AST) -> str:
    return ast.unparse(node)


def _value(node: ast.expr, known: dict[str, object]) -> object:
    """What an expression of paths gives; None where it needs what is not known here."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    calls = {_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
    if names - known.keys() or not all(call.startswith("os.path.") for call in calls):
        return None
    return eval(compile(ast.Expression(node), "a path", "eval"), dict(known))


def programs() -> list[str]:
    found = {one for path in PACKAGE.rglob("*.py") for one in handed_on(path) if one.is_relative_to(PACKAGE)}
    return sorted(str(one.relative_to(PACKAGE)) for one in found if one.is_file())


def faults(source: str) -> list[str]:
    """The imports that fail where there is no package: relative ones, and nobrakes before its folder is named."""
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    told = [node.lineno for node in calls if _name(node.func) in ("sys.path.insert", "sys.path.append")]
    wrong = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        else:
            continue
        is_early = not any(line < node.lineno for line in told)
        wrong += [name for name in names if name[0] == "." or (name.split(".")[0] == "nobrakes" and is_early)]
    return wrong


PROGRAMS = programs()


def test_all_that_are_known_are_found() -> None:
    assert set(STARTS) == set(PROGRAMS), "say in STARTS how the new one is started, or take the old one out"


def test_paths_are_worked_out_in_the_way_that_is_searched() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if "Path(__file__" in path.read_text()]
    assert others == [], "os.path.join(os.path.dirname(os.path.abspath(__file__)), …) is how a file beside is named"


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_import_needs_a_package(program: str) -> None:
    assert faults((PACKAGE / program).read_text()) == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_begins_when_it_is_started_by_its_path(program: str, tmp_path: Path) -> None:
    words, wanted = STARTS[program]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **OF_AN_AGENT}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.shutdown(socket.SHUT_WR)  # who asks it for something has nothing to ask
        argv = [sys.executable, "-I", "-S", str(PACKAGE / program), *words]
        ran = subprocess.run(argv, stdin=theirs, cwd="/", env=env, capture_output=True, text=True, timeout=60)
    if "without the wall" in ran.stderr:  # all is loaded, and this kernel has no Landlock
        return
    assert (ran.stdout, ran.stderr, ran.returncode) == (wanted, "", 0)


@pytest.mark.parametrize(
    "source",
    [
        "from ...paths import process_environment",
        "def f():\n    from . import x",
        "import nobrakes.paths",
        "from nobrakes.paths import x\nimport sys\nsys.path.insert(0, 'there')",
    ],
)
def test_an_import_that_fails_is_seen(source: str) -> None:
    assert len(faults(source)) == 1
    assert faults("import sys\nsys.path.append('there')\nfrom nobrakes.paths import x\nimport os") == []
