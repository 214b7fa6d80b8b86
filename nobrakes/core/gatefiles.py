"""Which files decide whether work is good because a check's command names them, and the lock files. Pure.

1. A word of a command that is the path of a file names it: `sh scripts/check.sh`, `make -f build/Foo.mk`,
   `--config=cfg/lint.toml`; so does the value of `-m`, as a module: `python3 -m tools.lint`. Commands within a word
   (`sh -c "…"`) are read too.
2. Whether such a file is there is not asked: a file that is added under a name of a command decides as well.
3. A folder names none of its files, and neither does a pattern; nobody can tell what a command makes of them.
"""

import posixpath
import shlex
from collections.abc import Iterator, Sequence

from .checks import Check

LOCK_FILES = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
    "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "Cargo.lock", "go.sum", "Gemfile.lock",
    "composer.lock", "mix.lock", "pubspec.lock", "packages.lock.json", "gradle.lockfile", "flake.lock",
    "Package.resolved", "Podfile.lock",
)  # fmt: skip
"""What says which versions of others' code are installed."""

DEEPEST = 4
"""So many commands within commands are read."""


def named(setup: str, checks: Sequence[Check]) -> frozenset[str]:
    """The repository paths that the commands name, whether they are there or not."""
    found = set(_of_command(setup, ""))
    for check in checks:
        found.update(_of_command(check.command, check.directory))
    return frozenset(found)


def _of_command(command: str, directory: str, depth: int = 0) -> Iterator[str]:
    bases = [directory]  # a `cd` may hold for what comes after it, or not
    words = _words(command)
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before == "cd":
            bases += [posixpath.join(base, word) for base in tuple(bases[:8])]
            continue
        if any(c.isspace() for c in word) and depth < DEEPEST:
            for base in bases:
                yield from _of_command(word, base, depth + 1)
            continue
        for text in _paths(word):
            yield from _below(bases, text)
        if before == "-m":
            module = word.replace(".", "/")
            for text in (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"):
                yield from _below(bases, text)


def _words(command: str) -> list[str]:
    try:
        reader = shlex.shlex(command, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        reader.commenters = ""
        return list(reader)
    except ValueError:  # a quote that is never closed
        return command.split()


def _paths(word: str) -> Iterator[str]:
    """What may be a path in a word: all of it, the value of an option, what follows its letter."""
    yield word
    if "=" in word:
        yield word.partition("=")[2]
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]


def _below(bases: Sequence[str], text: str) -> Iterator[str]:
    if not text or text.startswith(("/", "-", "~")):
        return
    for base in bases:
        path = posixpath.normpath(posixpath.join(base, text))
        if path != "." and not path.startswith(("../", "/")) and path != "..":
            yield path
