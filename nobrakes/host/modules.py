"""Which modules the interpreter of a check has, without the checkout: read from its folders, as a list of names.

1. Nothing is started: the interpreter may lie where an agent's work put it. What is read is names of files and folders,
   the lines of `.pth` files and of `pyvenv.cfg`, each bounded; the worst that they can do is to be wrong.
2. A program that is a Python is read itself, a script that PATH or a folder holds by its first lines. Where no program
   tells of a Python (`make test`), the `python3` on PATH is read.
3. What an editable installation takes out of the repository is left out; an environment in the repository is not.
4. The names that core.policy.shadows knows by itself are the floor, whatever is found here.
"""

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from glob import escape, glob

MOST_NAMES = 20_000
"""So many entries of a folder are read."""
MOST_BYTES = 100_000
_MOST_LINKS = 20
_PYTHON = re.compile(r"(?:pypy|python)[0-9.]*t?")
_SHEBANG = re.compile(r"#!\s*(\S+)(?:\s+(\S+))?")
_BY_SHELL = re.compile(r"""^'''exec' (?:"([^"\n]+)"|(\S+))""", re.MULTILINE)
_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_SETTING = re.compile(r"^[ \t]*([\w-]+)[ \t]*=[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_EDITABLE = re.compile(r"^import\s.*__editable__", re.MULTILINE)
_HOMES = ("", "versions/*", "installs/python/*")
"""Where below the folder of `bin` or `shims` the libraries are: a Python's own, pyenv's, asdf's and mise's."""
_LIBRARIES = ("lib", "lib64", "local/lib")


class Modules:
    """Reads the interpreters of the checks of the repository in `root`."""

    def __init__(self, root: str) -> None:
        self.root = root

    def of(self, programs: Sequence[tuple[str, str]]) -> frozenset[str]:
        """The names of all top-level modules that one of these programs (word of a command, its folder) resolves."""
        found = {python for word, folder in programs if (python := self._python(word, folder))}
        usual = shutil.which("python3")
        pythons = sorted(found) or ([usual] if usual else [])
        places = {place for python in pythons for place in folders(python) if not self._is_ours(place)}
        return frozenset().union(*map(names, places))

    def _python(self, word: str, folder: str) -> str:
        path = os.path.join(self.root, folder, word) if "/" in word else shutil.which(word) or ""
        return interpreter(path) if path else ""

    def _is_ours(self, place: str) -> bool:
        """Whether the folder holds the work of the repository itself."""
        if "-packages" in place:
            return False
        top = os.path.realpath(self.root)
        return os.path.commonpath([top, os.path.realpath(place)]) == top


def interpreter(path: str) -> str:
    """The interpreter that runs the program at this path; empty where it is none of Python's."""
    if not os.access(path, os.X_OK):
        return ""
    if _PYTHON.fullmatch(os.path.basename(path)):
        return path
    text = _text(path)
    first = _SHEBANG.match(text)
    if first is None:
        return ""
    named = first[2] if first[1].endswith("/env") and first[2] else first[1]
    if by_shell := _BY_SHELL.search(text):  # the interpreter's path was too long for a first line
        named = by_shell[1] or by_shell[2]
    python = named if "/" in named else shutil.which(named) or ""
    return python if _PYTHON.fullmatch(os.path.basename(python)) else ""


def folders(python: str) -> tuple[str, ...]:
    """The folders that the interpreter's path consists of: its library, its packages, and what `.pth` files add."""
    found: dict[str, None] = {}
    for home, has_packages in _homes(python):
        for library in _libraries(home):
            own = (library, os.path.join(library, "lib-dynload"))
            found.update(dict.fromkeys((*own, *(_packages(escape(library)) if has_packages else ()))))
    return tuple(found)


def lacks(python: str, module: str, user_site: bool) -> bool:
    """Whether the interpreter surely has no top-level module of this name. `user_site`: the account's own site counts.

    An interpreter whose folders are not found, or whose modules come by a finder of its own, may have any.
    """
    places = list(folders(python))
    if user_site:
        places += _packages(os.path.expanduser("~/.local/lib/python*"))
    if not any(os.path.exists(os.path.join(place, "os.py")) for place in places):
        return False
    if module in sys.stdlib_module_names or any(module in names(place) for place in places):
        return False
    hooks = (path for place in places for path in glob(f"{escape(place)}/*.pth"))
    return not any(_EDITABLE.search(_text(path)) for path in hooks)


def names(folder: str) -> frozenset[str]:
    """The top-level modules in a folder."""
    try:
        return _names(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return frozenset()


@lru_cache(maxsize=256)
def _names(folder: str, changed: int) -> frozenset[str]:
    found = set()
    with os.scandir(folder) as entries:
        for _, entry in zip(range(MOST_NAMES), entries, strict=False):
            name = entry.name.partition(".")[0]
            if not name.isidentifier() or name in ("__pycache__", "__init__"):
                continue
            if entry.name.endswith(_ENDINGS) or (name == entry.name and _is_package(entry.path)):
                found.add(name)
    return frozenset(found)


def _is_package(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, f"__init__{ending}")) for ending in _ENDINGS)


def _homes(python: str) -> Iterator[tuple[str, bool]]:
    """The folders above `bin`, along the links that lead to the interpreter, and whether their packages count.

    An environment ends them, with the Python that it was made from.
    """
    path = os.path.abspath(python)
    for _ in range(_MOST_LINKS):
        home = os.path.dirname(os.path.dirname(path))
        yield home, True
        settings = os.path.join(home, "pyvenv.cfg")
        if os.path.isfile(settings):
            values = dict(_SETTING.findall(_text(settings)))
            base = os.path.dirname(values.get("home", ""))
            yield base, values.get("include-system-site-packages", "").lower() == "true"
            return
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            return


def _libraries(home: str) -> list[str]:
    """The libraries of the Pythons in a home."""
    kinds = ((below, library, name) for below in _HOMES for library in _LIBRARIES for name in ("python*", "pypy*"))
    return [os.path.normpath(path) for kind in kinds for path in glob(os.path.join(escape(home), *kind, ""))]


def _packages(library: str) -> list[str]:
    """The folders of packages below the libraries that fit the pattern."""
    found = [path for kind in ("site", "dist") for path in glob(f"{library}/{kind}-packages")]
    for place in tuple(found):
        for path in glob(f"{escape(place)}/*.pth"):
            added = (os.path.normpath(os.path.join(place, line.strip())) for line in _text(path).splitlines())
            found += [one for one in added if os.path.isdir(one)]
    return found


def _text(path: str) -> str:
    """The beginning of a plain file, without NUL; empty: it is none, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would keep us waiting for its writer
    except OSError:
        return ""
    try:
        content = os.read(descriptor, MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace").replace("\0", "\n")
