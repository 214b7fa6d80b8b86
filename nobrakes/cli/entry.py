"""The console script: hot commands by hand, everything else through typer.

1. This module imports `sys` only. Agents and scripts call `ready`, `show` and `agent …` thousands of times a
   night; typer alone costs several times what Python's own start does.
2. cli.hot answers a hot command, or returns None and did nothing: then the full command line takes over, so
   that help, errors and rare options exist once.
3. Agents' own command starts without `site` (host.command): it is made good where other packages are needed.
"""

import sys

HOT = frozenset(("ready", "show", "agent"))


def main() -> int:
    """Run the command line in sys.argv; the exit code."""
    try:
        return _called(sys.argv[1:])
    except KeyboardInterrupt:  # before any command has begun
        sys.stderr.write("interrupted\n")
        return 130


def _called(argv: "list[str]") -> int:
    if argv and argv[0] in HOT and all(arg.isascii() or arg.isprintable() for arg in argv):
        from .hot import run as run_hot

        code = run_hot(argv)
        if code is not None:
            return code
    import gc

    # importing and reading a graph make tens of thousands of objects that stay: looking for garbage among them again
    # and again is a tenth of the time that most commands take
    gc.set_threshold(1_000_000, 20, 20)
    from .packages import complete

    complete()
    from .main import run

    code = run(argv)
    gc.freeze()  # Python would look through all of it again before it ends
    return code
