"""The console script: hot commands by hand, everything else through typer.

1. This module imports `sys` only. Agents and scripts call `ready`, `show` and `agent …` thousands of times a
   night; typer alone costs several times what Python's own start does.
2. cli.hot answers a hot command, or returns None and did nothing: then the full command line takes over, so
   that help, errors and rare options exist once.
"""

import sys

HOT = frozenset(("ready", "show", "agent"))


def main() -> int:
    """Run the command line in sys.argv; the exit code."""
    argv = sys.argv[1:]
    if argv and argv[0] in HOT:
        from .hot import run as run_hot

        code = run_hot(argv)
        if code is not None:
            return code
    from .main import run

    return run(argv)
