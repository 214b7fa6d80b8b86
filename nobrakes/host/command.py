"""What agents find in .nobrakes/bin: the `nobrakes` of just this interpreter and this package, and git's hooks.

1. It imports only what answers. pip's own script may import `re` first, which costs half a start of Python, and agents
   call the command all night.
   `site` is an eighth of what `nobrakes agent …` takes, which needs nothing that it finds (cli.entry).
2. Where the kernel would not read the first line to its end (a space, a long path), /bin/sh starts the interpreter.
"""

import os
import sys

from ..paths import HOOKS, Paths, resource
from .files import private_folder, write_atomic

LONGEST = 127
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
    _put(os.path.join(paths.folder, "bin", "nobrakes"), script(sys.executable, package))
    for name in HOOKS:
        with open(resource(os.path.join("hooks", name)), "rb") as file:
            _put(os.path.join(paths.hooks, name), file.read())


def _put(path: str, wanted: bytes) -> None:
    if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.X_OK):
        with open(path, "rb") as file:
            if file.read() == wanted:
                return
    private_folder(os.path.dirname(path))
    write_atomic(path, wanted, 0o755)
