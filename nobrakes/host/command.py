"""What agents find in .nobrakes/bin: the `nobrakes` of just this interpreter and this package, and git's hooks.

1. It imports only what answers. pip's own script may import `re` first, which costs half a start of Python, and agents
   call the command all night.
   `site` is an eighth of what `nobrakes agent …` takes, which needs nothing that it finds (cli.entry).
2. What it imports is compiled first: a sandbox is read-only, so Python could not keep what it compiles there, and each
   answer would cost three times as much.
3. Where the kernel would not read the first line to its end (a space, a long path), /bin/sh starts the interpreter.
"""

import os
import sys
from collections.abc import Iterator

from ..paths import HOOKS, Paths, resource
from .files import private_folder, write_atomic

LONGEST = 127
_ASKED_ALL_NIGHT = (
    *("", "cli", "core", "core/beads", "core/forge", "core/public", "core/text", "operations", "operations/agent"),
    *("host", "store", "store/agent", "store/fast", "wording"),
)
"""The folders of the package that `nobrakes agent …` imports from."""
_PROGRAM = """
import sys
sys.path.append({package!r})
from nobrakes.cli.entry import main
sys.exit(main())
"""
_BY_SHELL = """#!/bin/sh
'''exec' {python} -PS "$0" "$@"
' '''"""


def script(python: str, package: str) -> bytes:
    """The script for this interpreter and the folder that the package lies in."""
    first = f"#!{python} -PS"  # nothing is imported from the script's own folder, and `site` only where it is needed
    if " " in python or len(os.fsencode(first)) > LONGEST:
        import shlex

        first = _BY_SHELL.format(python=shlex.quote(python))
    return os.fsencode(first + _PROGRAM.format(package=package))


def install(paths: Paths) -> None:
    """Put the `nobrakes` that runs now into .nobrakes/bin, and the hooks of workspaces below it."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    compile_for_agents(os.path.join(package, "nobrakes"))
    _put(os.path.join(paths.folder, "bin", "nobrakes"), script(sys.executable, package))
    for name in HOOKS:
        with open(resource(os.path.join("hooks", name)), "rb") as file:
            _put(os.path.join(paths.hooks, name), file.read())


def compile_for_agents(package: str) -> int:
    """Compile what agents' commands import, where a compiled file is missing; how many modules were.

    A package that may not be written stays as it is: the doctor tells of it.
    """
    from importlib.util import cache_from_source

    missing = [path for path in _sources(package) if not os.path.exists(cache_from_source(path))]
    if missing:
        import py_compile

        for number, path in enumerate(missing):
            try:
                py_compile.compile(path, doraise=True)
            except (OSError, py_compile.PyCompileError):
                return number
    return len(missing)


def _sources(package: str) -> Iterator[str]:
    for inner in _ASKED_ALL_NIGHT:
        folder = os.path.join(package, inner)
        yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py"))


def _put(path: str, wanted: bytes) -> None:
    if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.X_OK):
        with open(path, "rb") as file:
            if file.read() == wanted:
                return
    private_folder(os.path.dirname(path))
    write_atomic(path, wanted, 0o755)
