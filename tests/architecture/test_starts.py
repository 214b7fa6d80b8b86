"""Each place that starts a program, or loads code by a name, stands in docs/security.md: what, and how it is confined."""

import ast
import re
from collections.abc import Iterator
from functools import cache
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
    "importlib": ("import_module", "reload", "__import__"),
    "importlib.util": ("spec_from_file_location", "module_from_spec", "find_spec"),
    "importlib.metadata": ("entry_points", "distributions"),
    "pkgutil": ("walk_packages", "iter_modules", "resolve_name", "find_loader", "get_loader"),
    "zipimport": ("zipimporter",),
    "site": ("addsitedir", "main"),
    "logging.config": ("dictConfig", "fileConfig"),
    "multiprocessing": ("Process", "Pool", "get_context"),
    "concurrent.futures": ("ProcessPoolExecutor",),
    "ctypes": ("CDLL", "PyDLL", "LibraryLoader", "cdll", "pydll"),
    "ctypes.util": ("find_library",),
    "pickle": ("load", "loads", "Unpickler"),
    "marshal": ("load", "loads"),
    "shelve": ("open",),
    "git": ("Git", "Repo"),
}
KNOWN = {f"{module}.{name}" for module, of in STARTS.items() for name in of}
LAST = {name for of in STARTS.values() for name in of}
BARE = ("exec", "eval", "__import__")
MAY = re.compile(
    rf"^\s*(?:import|from)\b.*\b(?:{'|'.join({module.split('.')[0] for module in STARTS})})\b"
    rf"|\b(?:{'|'.join(BARE)})\(",
    re.MULTILINE,
)
"""What a module has that starts anything: it imports one of these, or calls one that needs no import."""


def starts(source: str) -> Iterator[str]:
    """What in a module starts a program or loads code by a name, called or handed on, however it was imported."""
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            bound |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            bound |= {one.asname: one.name for one in node.names if one.asname}
    for node in ast.walk(tree):
        named = (isinstance(node, ast.Attribute) and node.attr in LAST) or (
            isinstance(node, ast.Name) and node.id in bound
        )
        if named and isinstance(node.ctx, ast.Load):
            root, dot, rest = ast.unparse(node).partition(".")
            if (found := f"{bound.get(root, root)}{dot}{rest}") in KNOWN:
                yield found
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BARE:
            yield node.func.id


def listed() -> dict[str, str]:
    """File to row, of the table on the page."""
    section = PAGE.read_text().partition("## What nobrakes starts")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {f"nobrakes/{file}": row for row in rows for file in re.findall(r"`([\w/]+\.py)`", row.split(" | ")[0])}


@cache
def found() -> dict[str, list[str]]:
    paths = (path for path in sorted((ROOT / "nobrakes").rglob("*.py")) if "simulate" not in path.parts)
    texts = ((path, path.read_text()) for path in paths)
    told = {str(path.relative_to(ROOT)): list(starts(text)) for path, text in texts if MAY.search(text)}
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
        "import subprocess as s\nstart = partial(s.run, check=True)",
        "from importlib import metadata\nmetadata.entry_points(group=x)",
        "import importlib.util\nimportlib.util.spec_from_file_location(a, b)",
    )
    whole = ("subprocess.run", "subprocess.Popen", "os.execv", "subprocess.run", "importlib.metadata.entry_points")
    assert [list(starts(way)) for way in ways] == [[one] for one in (*whole, "importlib.util.spec_from_file_location")]
    assert list(starts("eval(x)\nprint(x)\nself.run(x)")) == ["eval"]
