"""What a branch could plant that a check's interpreter or runner takes up by itself, though no file names it. Pure.

1. A new module at the top of what Python's path begins with hides the one of the same name that is installed, or the
   standard library's: a person is asked. What the tree has of that name already hides nothing new, and so it is for a
   repository that *is* one of these packages.
2. The names are those of the standard library and of the usual runners and their plug-ins. Others that are installed
   are not known here: what the decoy of a bent runner is for.
3. Metadata of plug-ins, `.pth` files and the like are gates wherever they lie.
"""

import posixpath
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from .checks import Check

PLANTED = (
    "**/*.egg-info/**", "**/*.dist-info/**", "entry_points.txt", "*.pth", "*.egg-link", "sitecustomize.py",
    "usercustomize.py", "**/node_modules/**", "pyvenv.cfg",
)  # fmt: skip
"""Gates whatever the settings say: nobody writes them by hand."""

_RUNNERS = (
    "pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "colorama", "attr",
    "attrs", "xdist", "execnet", "coverage", "hypothesis", "nose", "nose2", "tox", "nox", "virtualenv",
    "setuptools", "pip", "pkg_resources", "wheel", "mypy", "mypyc", "mypy_extensions", "typing_extensions", "ruff",
    "flake8", "pycodestyle", "pyflakes", "pylint", "astroid", "black", "isort", "pyright", "basedpyright",
    "django", "twisted", "trial", "behave", "green", "stestr", "testtools", "mock", "freezegun", "responses",
    "anyio", "trio", "numpy", "pygments", "rich", "click", "yaml", "requests",
)  # fmt: skip
_NEVER = frozenset(("test", "this", "antigravity", "idlelib", "turtledemo", "lib2to3", "__main__"))
NAMES = frozenset({*sys.stdlib_module_names, *_RUNNERS}) - _NEVER
_PLUGIN = re.compile(r"pytest_\w+")
_CODE = (".py", ".pyc", ".pyd", ".so")
_SETTINGS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg")
_PYTHONPATH = re.compile(r"^[ \t]*pythonpath[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]*$)*)", re.MULTILINE)


def roots(checks: Sequence[Check], texts: Mapping[str, str]) -> tuple[str, ...]:
    """The folders that Python's path may begin with: the top, `src`, the checks' own, and what settings name."""
    found = ["", "src", "lib"]
    for check in checks:
        found += [check.directory, posixpath.join(check.directory, "src")]
        for value in re.findall(r"PYTHONPATH=(\S+)", check.command):
            found += [posixpath.join(check.directory, one) for one in value.strip("\"'").split(":")]
    for name in _SETTINGS:
        for value in _PYTHONPATH.findall(texts.get(name, "")):
            found += re.findall(r"[^\s\[\]\"',]+", value)
    plain = (posixpath.normpath(one) if one else "" for one in found)
    return tuple(dict.fromkeys("" if one == "." else one for one in plain if not one.startswith(("/", ".."))))


def standing(paths: Iterable[str], folders: Sequence[str]) -> frozenset[str]:
    """The modules that the tree has at the top of these folders, as `folder/name`."""
    found: set[str] = set()
    for path in paths:
        if path.endswith(_CODE):
            found.update(module for folder in folders if (module := _module(path, folder)))
    return frozenset(found)


def is_shadow(path: str, is_link: bool, folders: Sequence[str], known: frozenset[str]) -> bool:
    """Whether a new file at the path makes a module that hides another one. `known`: what was `standing` before."""
    if not (path.endswith(_CODE) or is_link):
        return False
    modules = [module for folder in folders if (module := _module(path, folder))]
    names = {module: module.rpartition("/")[2] for module in modules if module not in known}
    return any(name in NAMES or _PLUGIN.fullmatch(name) for name in names.values())


def _module(path: str, folder: str) -> str:
    """`folder/name` of the module that the file is or lies in; empty: it lies elsewhere."""
    start = f"{folder}/" if folder else ""
    if not path.startswith(start):
        return ""
    return start + path[len(start) :].split("/")[0].split(".")[0]
