"""Python projects: pytest or unittest, ruff, mypy, build; with uv or poetry where their lock file is there."""

import os
import re
import tomllib
from typing import Any

from .detected import Found, exists, read

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini")
_TEST_FOLDERS = ("tests", "test")
_IS_TEST = re.compile(r"test_.*\.py|.*_test\.py")


def detect(root: str) -> Found | None:
    """The Python project in `root`; None where there is none."""
    text = read(root, "pyproject.toml")
    folders = [
        name
        for name in _TEST_FOLDERS
        if os.path.isdir(os.path.join(root, name)) and _test_files(os.path.join(root, name))
    ]
    if text is None and not any(exists(root, name) for name in _MARKS) and not _test_files(root) and not folders:
        return None
    notes: list[str] = []
    try:
        project: dict[str, Any] = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        project = {}
        notes.append(f"pyproject.toml is not valid TOML ({error}): nothing is read from it")
    tool = project.get("tool")
    tools: dict[str, Any] = tool if isinstance(tool, dict) else {}
    needed = _needed(root, project)
    setup, run = _runner(root, needed, notes)
    checks: list[tuple[str, str]] = []
    if _uses_pytest(root, tools, needed) or any(_imports_pytest(root, name) for name in ("", *folders)):
        checks.append(("test", f"{run or 'python3 -m '}pytest -q"))
    elif "django" in (read(root, "manage.py") or ""):
        checks.append(("test", f"{run}python3 manage.py test"))
    elif any(os.path.isdir(os.path.join(root, folder)) for folder in _TEST_FOLDERS) or _has_tests(root):
        # without an __init__.py a folder is found only when it is named
        alone = [name for name in folders if not exists(os.path.join(root, name), "__init__.py")]
        checks.append(("test", f"{run}python3 -m unittest " + (f"discover -v -s {alone[0]}" if alone else "-v")))
    if "ruff" in tools or exists(root, "ruff.toml") or exists(root, ".ruff.toml"):
        checks.append(("lint", f"{run}ruff check ."))
    mypy = tools.get("mypy")
    if isinstance(mypy, dict) or exists(root, "mypy.ini") or exists(root, ".mypy.ini"):
        own = isinstance(mypy, dict) and any(key in mypy for key in ("files", "packages", "modules"))
        checks.append(("types", f"{run}mypy" if own else f"{run}mypy ."))
    if "build" in needed and "build-system" in project:
        checks.append(("build", f"{run or 'python3 -m '}{'python -m ' if run else ''}build"))
    return Found("python", tuple(checks), setup, tuple(notes))


def _runner(root: str, needed: frozenset[str], notes: list[str]) -> tuple[str, str]:
    """(setup, what stands before a tool's name)."""
    if exists(root, "uv.lock"):
        return "uv sync --locked --all-extras --all-groups", "uv run "
    if exists(root, "poetry.lock"):
        return "poetry install --all-extras", "poetry run "
    if exists(root, "pdm.lock"):
        return "pdm sync", "pdm run "
    if needed:
        notes.append("there is no lock file: the checks use what is installed where nobrakes runs")
    return "", ""


def _needed(root: str, project: dict[str, Any]) -> frozenset[str]:
    """The names of everything that the project says it depends on."""
    texts: list[Any] = []
    own = project.get("project")
    if isinstance(own, dict):
        texts += _list(own.get("dependencies"))
        extras = own.get("optional-dependencies")
        for group in extras.values() if isinstance(extras, dict) else ():
            texts += _list(group)
    groups = project.get("dependency-groups")
    for group in groups.values() if isinstance(groups, dict) else ():
        texts += _list(group)
    poetry = project.get("tool", {}).get("poetry", {}) if isinstance(project.get("tool"), dict) else {}
    if isinstance(poetry, dict):
        tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
        in_groups = poetry.get("group")
        for group in in_groups.values() if isinstance(in_groups, dict) else ():
            tables.append(group.get("dependencies") if isinstance(group, dict) else None)
        for table in tables:
            texts += list(table) if isinstance(table, dict) else []
    for name in ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt"):
        texts += (read(root, name) or "").splitlines()
    names = (re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text.strip()) for text in texts if isinstance(text, str))
    return frozenset(name[0].lower() for name in names if name)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _uses_pytest(root: str, tools: dict[str, Any], needed: frozenset[str]) -> bool:
    return (
        "pytest" in tools
        or "pytest" in needed
        or exists(root, "pytest.ini")
        or exists(root, "conftest.py")
        or exists(root, os.path.join("tests", "conftest.py"))
        or "[tool:pytest]" in (read(root, "setup.cfg") or "")
        or "[pytest]" in (read(root, "tox.ini") or "")
    )


def _imports_pytest(root: str, folder: str) -> bool:
    names = sorted(name for name in os.listdir(os.path.join(root, folder)) if _IS_TEST.fullmatch(name))
    return any("import pytest" in (read(root, os.path.join(folder, name)) or "") for name in names[:20])


def _has_tests(root: str) -> bool:
    """Whether unittest finds tests from here: at the top, in a package, or in its `tests` or `test`."""
    packages = [entry.path for entry in os.scandir(root) if exists(entry.path, "__init__.py")]
    below = [os.path.join(package, folder) for package in packages for folder in _TEST_FOLDERS]
    return any(map(_test_files, (root, *packages, *(folder for folder in below if exists(folder, "__init__.py")))))


def _test_files(root: str) -> bool:
    return any(_IS_TEST.fullmatch(name) for name in os.listdir(root))
