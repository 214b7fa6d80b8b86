"""The first program behind a wall: it confines itself, then executes the given command in its place.

Run by path with `python -I -S walled.py WORDS -- ARGV…`: standard library only, no import of nobrakes. What it needs
lies beside it, and is loaded as a module since a module is compiled once.
"""

import os
import signal
import sys


def main(words: "list[str]") -> int:
    """`keep=`, `own=`, `temporary=` paths, `set=NAME=VALUE`, `--`, the command; returns if it cannot start."""
    split = words.index("--")
    given: dict[str, list[str]] = {"keep": [], "own": [], "temporary": [], "set": []}
    for word in words[:split]:
        kind, _, value = word.partition("=")
        given[kind].append(value)
    os.environ.update(dict(pair.split("=", 1) for pair in given["set"]))
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    landlock = __import__("landlock")
    try:
        landlock.close_in(given["keep"], given["own"], "".join(given["temporary"][-1:]))
    except OSError as error:
        print(f"nobrakes starts nothing without the wall: {error}", file=sys.stderr)
        return 126
    # Python ignores them, and what it becomes would go on ignoring them
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    command = words[split + 1 :]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
