"""The console script: hot commands by hand, everything else through cli.main.

1. This module imports `sys` only. Agents call `ready`, `show` and `agent …` thousands of times a night.
2. cli.hot answers a hot command, or returns None with no effect: then the full command line does, so that help, errors
   and rare options exist once.
3. Agents' own command starts without `site` (host.command); it is added where other packages are needed.
"""

import sys

HOT = frozenset(("ready", "show", "agent"))


def main() -> int:
    """Run sys.argv; returns the exit code. Ctrl-C ends it immediately before a command begins (main.call)."""
    import _signal  # type: ignore[import-not-found]  # `signal` would import `enum`

    if (before := _signal.getsignal(_signal.SIGINT)) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, interrupted)
    try:
        return _called(sys.argv[1:])
    finally:
        _signal.signal(_signal.SIGINT, before)


def interrupted(*_: object) -> None:
    """Exit immediately: an import would lose an exception from a signal."""
    import posix

    posix.write(2, b"\ninterrupted\n")
    posix._exit(130)


def _called(argv: "list[str]") -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale cannot write is escaped, and JSON is UTF-8
            encoding = "utf-8" if "--json" in argv and stream is sys.stdout else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    if argv and argv[0] in HOT and all(arg.isascii() or arg.isprintable() for arg in argv):
        from .hot import run as run_hot

        if (code := run_hot(argv)) is not None:
            return code
    import gc

    # importing and reading a graph make tens of thousands of objects that stay: looking for garbage among them again
    # and again is a tenth of the time that most commands take
    gc.set_threshold(1_000_000, 20, 20)

    complete()
    from .main import run

    code = run(argv)
    gc.freeze()  # Python would look through all of it again before it ends
    return code


def complete() -> None:
    """Load `site` if Python was started without it."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
