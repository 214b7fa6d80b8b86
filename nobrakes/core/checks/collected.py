"""How a runner lists the files that it would run, and what it says then. Pure.

Only runners that list without running tests are here; a listing may still import the project's code, so it is made
when a person asks for it.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .contract import Check

_GO = "{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}\n{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}\n{{end}}"


@dataclass(frozen=True, slots=True)
class Listing:
    """A command that lists, to be run in the check's `directory`, and what reads its output."""

    runner: str
    argv: tuple[str, ...]
    directory: str


def listing(check: Check) -> Listing | None:
    """How to list what the check collects; None: its runner is not known, or its command is more than that runner."""
    if check.kind != "test":
        return None
    try:
        words = shlex.split(check.command)
    except ValueError:
        return None
    if any(re.search(r"[|&;<>$`]", word) for word in words):
        return None
    bare = [posixpath.basename(word) for word in words]
    if "pytest" in bare or "py.test" in bare:
        kept = [word for word in words if not re.fullmatch(r"-[qv]+|--(?:verbose|quiet)", word)]
        return Listing("pytest", (*kept, "--collect-only", "-q"), check.directory)
    if "jest" in bare:
        return Listing("jest", (*words, "--listTests"), check.directory)
    if bare[:2] == ["go", "test"]:
        packages = [word for word in words[2:] if not word.startswith("-")] or ["."]
        return Listing("go", ("go", "list", "-f", _GO, *packages), check.directory)
    return None


def listed(runner: str, output: str, root: str, directory: str) -> tuple[str, ...]:
    """The repository paths that a listing named, sorted; `root` is the repository's folder."""
    found = {_READERS[runner](line.strip()) for line in output.splitlines()}
    return tuple(sorted(path for one in found if one and (path := _inside(one, root, directory))))


def _pytest(line: str) -> str:
    path, sign, _ = line.partition("::")
    return path if sign and not re.search(r"\s", path) else ""


def _path(line: str) -> str:
    return line if line.startswith("/") else ""


_READERS: Mapping[str, Callable[[str], str]] = {"pytest": _pytest, "jest": _path, "go": _path}


def _inside(path: str, root: str, directory: str) -> str:
    whole = posixpath.normpath(posixpath.join(root, directory, path))
    return whole[len(root) + 1 :] if whole.startswith(f"{root}/") else ""
