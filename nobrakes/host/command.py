"""The `nobrakes` that agents find: a script in .nobrakes/bin for just this interpreter and this package.

1. It imports only what answers. pip's own script may import `re` first, which costs half a start of Python, and agents
   call the command all night.
2. Where the kernel would not read the first line to its end (a space, a long path), /bin/sh starts the interpreter.
"""

import os
import sys

from ..places import Places
from .files import private_folder, write_atomic

LONGEST = 127
_PROGRAM = """
import sys
sys.path.append({package!r})
from nobrakes.cli.entry import main
sys.exit(main())
"""
_BY_SHELL = """#!/bin/sh
'''exec' {python} -P "$0" "$@"
' '''"""


def script(python: str, package: str) -> bytes:
    """The script for this interpreter and the folder that the package lies in."""
    first = f"#!{python} -P"  # -P: nothing is imported from the script's own folder
    if " " in python or len(os.fsencode(first)) > LONGEST:
        import shlex

        first = _BY_SHELL.format(python=shlex.quote(python))
    return os.fsencode(first + _PROGRAM.format(package=package))


def install(places: Places) -> None:
    """Put the `nobrakes` that runs now into .nobrakes/bin."""
    path = os.path.join(places.folder, "bin", "nobrakes")
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    wanted = script(sys.executable, package)
    if os.path.isfile(path) and not os.path.islink(path):
        with open(path, "rb") as file:
            if file.read() == wanted:
                return
    private_folder(os.path.dirname(path))
    write_atomic(path, wanted, 0o755)
