"""Which modules the interpreter of a check has, without the checkout: asked of that very interpreter.

1. A program that is a Python is asked itself, a script that one of its folder's PATH runs by its first line. Where no
   program tells of a Python (`make test`), the `python3` on PATH is asked.
2. Isolated (`-I`), so neither the folder nor the environment adds anything. What an editable installation takes out of
   the repository is left out; an environment that lies in the repository is not.
3. Each is asked once, and again when it or its packages changed. What does not answer in SECONDS adds nothing: the
   names that core.policy.shadows knows by itself are the floor.
"""

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Sequence

SECONDS = 10.0
MOST_BYTES = 4_000_000
_PYTHON = re.compile(r"(?:pypy|python)[0-9.]*")
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:\s+(\S+))?")
_ASK = (
    "import pkgutil, sys\n"
    "for name in (*sys.builtin_module_names, *sys.stdlib_module_names): print(name + '\\t')\n"
    "for one in pkgutil.iter_modules(): print(one.name + '\\t' + str(getattr(one.module_finder, 'path', '')))\n"
)


class Modules:
    """Asks the interpreters of the checks of the repository in `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._known: dict[tuple[str, tuple[float, ...]], frozenset[str]] = {}

    def of(self, programs: Sequence[tuple[str, str]]) -> frozenset[str]:
        """The names of all top-level modules that one of these programs (word of a command, its folder) resolves."""
        found = {python for word, folder in programs if (python := self._python(word, folder))}
        usual = shutil.which("python3")
        pythons = sorted(found) or ([usual] if usual else [])
        return frozenset().union(*map(self._asked, pythons))

    def _python(self, word: str, folder: str) -> str:
        """The interpreter that runs the program; empty where it is none of Python's."""
        path = os.path.join(self.root, folder, word) if "/" in word else shutil.which(word) or ""
        if not path or not os.access(path, os.X_OK):
            return ""
        if _PYTHON.fullmatch(os.path.basename(path)):
            return path
        try:
            with open(path, "rb") as file:
                first = _SHEBANG.match(file.readline(1000))
        except OSError:
            return ""
        if first is None:
            return ""
        named = os.fsdecode(first[2] if first[1].endswith(b"/env") and first[2] else first[1])
        python = named if "/" in named else shutil.which(named) or ""
        return python if _PYTHON.fullmatch(os.path.basename(python)) else ""

    def _asked(self, python: str) -> frozenset[str]:
        key = python, _times(python)
        if key not in self._known:
            self._known[key] = self._ask(python)
        return self._known[key]

    def _ask(self, python: str) -> frozenset[str]:
        try:
            done = subprocess.run(
                [python, "-I", "-c", _ASK],
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return frozenset()
        lines = done.stdout[:MOST_BYTES].decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
        pairs = (line.partition("\t") for line in lines)
        return frozenset(name for name, _, place in pairs if name.isidentifier() and not self._is_ours(place))

    def _is_ours(self, place: str) -> bool:
        """Whether a module comes from the work of the repository itself."""
        if not place or "-packages" in place:
            return False
        top = os.path.realpath(self.root)
        return os.path.commonpath([top, os.path.realpath(place)]) == top


def _times(python: str) -> tuple[float, ...]:
    """When the interpreter and its packages were changed."""
    paths = [python, *sorted(glob.glob(f"{os.path.dirname(os.path.dirname(python))}/lib/python*/site-packages"))]
    return tuple(os.stat(place).st_mtime for place in paths if os.path.exists(place))
