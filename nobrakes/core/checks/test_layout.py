"""Which files of a repository are tests, read off what is in it. Pure; core.checks.test_names has the tables.

1. What a runner collects by its name is a test, at any depth. A folder belongs to the tests, with its fixtures, data
   and helpers, when it is called like one *and* holds tests that say so by name or text: a name alone never suffices
   (`django/test/`, `src/features/`). A test beside the code that it is about proves nothing for the folder.
2. What a Doer may not touch is read off the tree that it started from, so that nothing it moves or deletes makes a
   file less of a test. What a Test Writer may touch is read off both trees, and it may fill a folder that the
   ecosystem's tests usually go to, where no folder of that name is there yet or all of them hold tests.
3. No folder becomes one of tests by what a branch adds while it has files that were code before.
4. Tests within a file of code (Rust's `#[cfg(test)]`, doctests) are code here: the Doer's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..globs import matches
from .test_names import (
    BESIDE,
    CERTAIN,
    DATA,
    DECISIVE,
    ECOSYSTEMS,
    FRESH,
    IDIOM,
    LIKELY,
    SCRIPTS,
    SOURCES,
    ecosystems,
    is_collected,
    is_runner,
    subject,
)

MOST_READ = 300
"""So many files of a tree are read at most, to tell whether they are tests."""
SAMPLED = 8
"""So many files of one folder."""
LARGEST = 200_000
"""Characters of a file that are looked at."""

PYTEST = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_PYTEST_SETTING = re.compile(
    r"^[ \t]*(testpaths|python_files)[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]*$)*)", re.MULTILINE
)
_SCRIPT = re.compile(r"\"test\"\s*:\s*\"(?!echo \\\"Error)[^\"]")
_TOLD_BY_TEXT = frozenset((*SCRIPTS, "rs", "c", "cc", "cpp", "cxx", "m", "mm", "coffee"))
"""Languages whose tests are often called like any other file."""
_BY_TEXT = re.compile(
    r"tests?\.(?:py|rs|[jt]sx?|[mc][jt]s)|(?:.+[-_]test|test-.+)\.(?:[jt]sx?|[mc][jt]s)|.+_tests?\.rs|(?:tests?|test_.+|.+_test)\.(?:c|cc|cpp|cxx)",
    re.DOTALL,
)
"""Files that are called like tests and may be anything: Django's tests.py, and Jinja's."""
_PROGRAM = re.compile(r"^(?:[A-Za-z_]\w*[ \t]+)+main[ \t]*\(", re.MULTILINE)
_COMMANDS = ("true", "false", "echo", "expr")
"""Programs beside which `test` is one more command of a shell."""
_PROJECT = re.compile(
    r"(?:.*[._-])?(?:Unit|Integration|Functional|Acceptance)?Tests?\.(?:cs|fs|vb)proj|.*[a-z]Tests?\.(?:cs|fs|vb)proj",
    re.DOTALL,
)
_PROJECT_TEXT = re.compile(r"Microsoft\.NET\.Test\.Sdk|<IsTestProject>\s*true|Include=\"(?:xunit|NUnit|MSTest)", re.I)
_LARGE_PART = 1 / 3


@dataclass(frozen=True, slots=True)
class Layout:
    """The globs of a tree's tests. `names` by ecosystem, `found` files and folders of this tree, `fresh` new ones."""

    names: tuple[str, ...]
    found: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """What is a test in this tree."""
        return (*self.names, *self.found)


@dataclass(slots=True)
class _Folder:
    path: str
    own: list[str]  # the files in it and below it, but for those in folders called like tests within it
    nested: list[str]  # those in such folders


@lru_cache(maxsize=64)
def unclear(paths: frozenset[str]) -> tuple[str, ...]:
    """The paths whose texts `layout` wants, in order; nothing but these is asked for."""
    wanted = {path for path in paths if "test" in path and _BY_TEXT.fullmatch(path.rpartition("/")[2])}
    wanted.update({_manifest(path) for path in wanted} & paths)
    wanted.update(path for path in paths if path.endswith((".csproj", ".fsproj", ".vbproj")))
    wanted.update(paths.intersection(PYTEST))
    for folder in _folders(paths):
        wanted.update(_samples(folder))
        wanted.update({f"{folder.path}/CMakeLists.txt"} & paths)
    return tuple(sorted(wanted, key=lambda path: (path.count("/"), path))[:MOST_READ])


@lru_cache(maxsize=64)
def layout(paths: frozenset[str], texts: frozenset[tuple[str, str]] = frozenset()) -> Layout:
    """The layout of a tree with these paths; `texts` are pairs of a path that `unclear` named and its text."""
    known = dict(texts)
    there = ecosystems(paths)
    folders, own_names = _configured(known)
    names = tuple(dict.fromkeys((*(glob for one in there or ECOSYSTEMS for glob in ECOSYSTEMS[one].globs), *own_names)))
    found = [path for path in sorted(known) if path in paths and _is_told(path, known, paths)]
    found += _projects(paths, known)
    found += [f"{folder}/**" for folder in folders if _is_collected(folder, paths, names)]
    accepted: list[str] = []
    refused: set[str] = set()
    for folder in _folders(paths):
        if any(folder.path.startswith(f"{outer}/") for outer in accepted):
            continue
        if _holds_tests(folder, known):
            accepted.append(folder.path)
        else:
            refused.add(folder.path.rpartition("/")[2])
    found += [f"{path}/**" for path in (*_beside(paths, (*names, *_anchored(found))), *accepted)]
    return Layout(names, _small(_anchored(found), names), _fresh(there, refused))


def writers(before: Layout, after: Layout, paths: Iterable[str]) -> tuple[str, ...]:
    """What a Test Writer may change, by the tree `before`, which has these paths, and the tree `after` its work."""
    own = (*before.tests, *before.fresh)
    new = [glob for glob in after.found if glob not in before.found]
    code = [path for path in paths if not matches(path, before.tests)] if new else []
    taken = [glob for glob in new if any(matches(path, (glob,)) for path in code)]
    return tuple(dict.fromkeys((*own, *after.names, *(glob for glob in new if glob not in taken))))


def _folders(paths: frozenset[str]) -> list[_Folder]:
    """The folders that are called like one of tests, outer ones first."""
    found: dict[str, _Folder] = {}
    for path in sorted(path for path in paths if "/" in path):
        parts = path.split("/")
        named = [
            end
            for end in range(1, len(parts))
            if (CERTAIN.fullmatch(parts[end - 1]) or LIKELY.fullmatch(parts[end - 1])) and not _is_main(parts[:end])
        ]
        for end in named:
            folder = found.setdefault("/".join(parts[:end]), _Folder("/".join(parts[:end]), [], []))
            (folder.own if end == named[-1] else folder.nested).append(path)
    return sorted(found.values(), key=lambda folder: (folder.path.count("/"), folder.path))


def _is_main(parts: list[str]) -> bool:
    """Whether the folder lies in Maven's source set of the product."""
    return ("src", "main") in pairwise(parts)


def _evidence(folder: _Folder, paths: Iterable[str]) -> list[str]:
    """The files of code below the folder, without fixtures and the like."""
    start = len(folder.path) + 1
    return [
        path
        for path in paths
        if path.rpartition(".")[2].casefold() in SOURCES
        and not any(part in DATA for part in path[start:].split("/")[:-1])
        and not path.endswith("/__init__.py")
    ]


def _tests_of(folder: _Folder, paths: list[str]) -> list[str]:
    """Those of the paths that are tests by name, and have nothing of their own name beside them."""
    name = folder.path.rpartition("/")[2]
    stems = {path.rpartition(".")[0] for path in paths}
    found = []
    for path in paths:
        above, _, file = path.rpartition("/")
        stem = file.rpartition(".")[0]
        other = subject(stem)
        if is_collected(name, file) and (other == stem or f"{above}/{other}" not in stems):
            found.append(path)
    return found


def _samples(folder: _Folder) -> list[str]:
    """The files whose texts decide about a folder that names do not decide about."""
    own = _evidence(folder, folder.own)
    if not own or _tests_of(folder, own):
        return []
    told = [path for path in own if path.rpartition(".")[2] in _TOLD_BY_TEXT]
    return sorted(told, key=lambda path: (path.count("/"), path))[:SAMPLED]


def _holds_tests(folder: _Folder, texts: Mapping[str, str]) -> bool:
    name = folder.path.rpartition("/")[2]
    own, nested = _evidence(folder, folder.own), _evidence(folder, folder.nested)
    by_name, below = _tests_of(folder, own), _tests_of(folder, nested)
    direct = {path.rpartition("/")[2] for path in folder.own if path.rpartition("/")[0] == folder.path}
    if name != "features" and direct & DECISIVE:
        return True
    if "CMakeLists.txt" in direct and IDIOM.search(texts.get(f"{folder.path}/CMakeLists.txt", "")):
        return True
    sampled = [path for path in _samples(folder) if path in texts]
    told = [path for path in sampled if IDIOM.search(texts[path][:LARGEST])]
    if CERTAIN.fullmatch(name):
        return bool(by_name or below or told or any(is_runner(file) for file in direct))
    if sampled and len(told) * 2 >= len(sampled):
        return True
    share = len(by_name) / len(own) if own else 0.0
    if name == "testing":
        return share > 1 / 2
    every = len(own) + len(nested)
    return share >= _LARGE_PART or (bool(below) and (len(by_name) + len(below)) * 2 >= every)


def _is_told(path: str, texts: Mapping[str, str], paths: frozenset[str]) -> bool:
    """Whether a file that is called like a test is one: by its text, or by the test script of the package beside it."""
    name = path.rpartition("/")[2]
    if _BY_TEXT.fullmatch(name) is None:
        return False
    if name.rpartition(".")[2] in ("c", "cc", "cpp", "cxx"):
        return _PROGRAM.search(texts[path][:LARGEST]) is not None and _is_test_program(path, paths)
    is_script = name.partition(".")[0] in ("test", "tests") and name.rpartition(".")[2] in SCRIPTS
    scripts = _SCRIPT.search(texts.get(_manifest(path), "")) if is_script else None
    return scripts is not None or IDIOM.search(texts[path][:LARGEST]) is not None


def _is_test_program(path: str, paths: frozenset[str]) -> bool:
    """Whether a program in C that is called like a test is one: it lies at the top, or beside what it is about."""
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not folder:
        return not (stem == "test" and any(f"{one}{dot}{ending}" in paths for one in _COMMANDS))
    about = subject(stem)
    return about != stem and f"{folder}/{about}{dot}{ending}" in paths


def _manifest(path: str) -> str:
    """Where the package of this file would be described."""
    folder = path.rpartition("/")[0]
    return f"{folder}/package.json" if folder else "package.json"


def _configured(texts: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """(folders, names) of tests, as pytest's settings say them. A name that any file has says nothing."""
    folders: list[str] = []
    names: list[str] = []
    for path in PYTEST:
        for key, value in _PYTEST_SETTING.findall(texts.get(path, "")):
            words = re.findall(r"[^\s\[\]\"',#]+", value)
            if key == "testpaths":
                folders += [word.strip("/").removeprefix("./") for word in words if not re.search(r"[*?.]", word[1:])]
            else:
                names += [word for word in words if re.fullmatch(r"[\w*-]*[A-Za-z]{3}[\w*-]*\.py", word)]
    return [folder for folder in folders if folder and folder != "."], names


def _is_collected(folder: str, paths: frozenset[str], names: tuple[str, ...]) -> bool:
    """Whether most of a folder that the runner is pointed to are tests by name: not a package with tests in it.

    What lies in folders that are called like tests within it speaks for those alone (`money/tests/`), and a test
    beside the code that it is about for nothing.
    """
    start = len(folder) + 1
    inside = [
        path
        for path in paths
        if path.startswith(f"{folder}/")
        and not any(CERTAIN.fullmatch(part) or LIKELY.fullmatch(part) for part in path[start:].split("/")[:-1])
    ]
    own = _evidence(_Folder(folder, inside, []), inside)
    stems = {path.rpartition(".")[0] for path in own}
    named = [path.rpartition(".")[0].rpartition("/") for path in own if matches(path, names)]
    alone = [stem for above, _, stem in named if subject(stem) == stem or f"{above}/{subject(stem)}" not in stems]
    return len(alone) * 2 > len(own)


def _projects(paths: frozenset[str], texts: Mapping[str, str]) -> list[str]:
    """The folders of .NET's projects of tests."""
    found = []
    for path in sorted(path for path in paths if path.endswith("proj")):
        folder, _, name = path.rpartition("/")
        if not folder or not name.endswith("proj"):
            continue
        if _PROJECT.fullmatch(name) or _PROJECT_TEXT.search(texts.get(path, "")):
            found.append(f"{folder}/**")
    return found


def _beside(paths: frozenset[str], names: tuple[str, ...]) -> list[str]:
    """The folders of fixtures and snapshots right beside tests."""
    folders: set[str] = set()
    for inner in {path.rpartition("/")[0] for path in paths}:
        parts = inner.split("/")
        folders.update("/".join(parts[: end + 1]) for end, part in enumerate(parts) if part in BESIDE)
    if not folders:
        return []
    homes = {path.rpartition("/")[0] for path in paths if matches(path, names)}
    return sorted(folder for folder in folders if folder.rpartition("/")[0] in homes)


def _anchored(found: Iterable[str]) -> tuple[str, ...]:
    """Globs for just these files and folders."""
    return tuple(dict.fromkeys(one if "/" in one else f"/{one}" for one in found))


def _small(globs: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Without what the names, or another of the globs, cover."""
    kept: list[str] = []
    for glob in sorted(globs, key=lambda one: (one.count("/"), one)):
        path = glob.strip("/").removesuffix("/**")
        if not matches(path, names) and not matches(path, kept):
            kept.append(glob)
    return tuple(kept)


def _fresh(there: tuple[str, ...], refused: set[str]) -> tuple[str, ...]:
    folders = [folder for one in there for folder in ECOSYSTEMS[one].folders] or list(FRESH)
    return tuple(f"**/{name}/**" for name in dict.fromkeys(folders) if name not in refused)


EMPTY = layout(frozenset())
"""Of a repository in which nothing is yet: every ecosystem's names."""
