"""Each place that starts a program, or loads code by a name, stands in docs/security.md: what, and how it is confined."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
STARTS = {
    "subprocess": ("Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    "os": (
        *("system", "popen", "posix_spawn", "posix_spawnp", "startfile", "fork", "forkpty"),
        *(f"{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    ),
    "asyncio": ("create_subprocess_exec", "create_subprocess_shell"),
    "pty": ("spawn", "fork"),
    "webbrowser": ("open", "get", "open_new", "open_new_tab"),
    "runpy": ("run_path", "run_module"),
    "importlib": ("import_module",),
    "ctypes": ("CDLL", "PyDLL", "LibraryLoader"),
    "pickle": ("load", "loads"),
    "git": ("Git", "Repo"),
}
BARE = ("exec", "eval", "__import__")


def starts(source: str) -> Iterator[str]:
    """The calls in a module that start a program or load code by a name, however they were imported."""
    tree = ast.parse(source)
    names = {f"{module}.{name}": f"{module}.{name}" for module, names in STARTS.items() for name in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in STARTS:
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                f"{one.asname}.{name}": f"{one.name}.{name}"
                for one in node.names
                if one.asname and one.name in STARTS
                for name in STARTS[one.name]
            }
    known = {*BARE, *(f"{module}.{name}" for module, of in STARTS.items() for name in of)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if (found := names.get(called, called)) in known:
                yield found


def listed() -> dict[str, str]:
    """File to row, of the table on the page."""
    section = PAGE.read_text().partition("## What nobrakes starts")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {f"nobrakes/{file}": row for row in rows for file in re.findall(r"`([\w/]+\.py)`", row.split(" | ")[0])}


def found() -> dict[str, list[str]]:
    paths = (path for path in sorted((ROOT / "nobrakes").rglob("*.py")) if "simulate" not in path.parts)
    told = {str(path.relative_to(ROOT)): list(starts(path.read_text())) for path in paths}
    return {path: calls for path, calls in told.items() if calls}


def test_whoever_starts_a_program_or_loads_code_by_a_name_is_listed() -> None:
    missing = {path: calls for path, calls in found().items() if path not in listed()}
    assert missing == {}, "say in docs/security.md what is run, who can write it, and how it is confined"


def test_each_that_is_listed_does_it() -> None:
    assert sorted(set(listed()) - set(found())) == []


def test_a_start_is_seen_however_it_is_written() -> None:
    ways = (
        "import subprocess\nsubprocess.run(x)",
        "from subprocess import Popen as P\nP(x)",
        "import os as o\no.execv(a, b)",
    )
    assert [list(starts(way)) for way in ways] == [["subprocess.run"], ["subprocess.Popen"], ["os.execv"]]
    assert list(starts("eval(x)\nprint(x)\nself.run(x)")) == ["eval"]
