"""The house has a budget: its sums may only fall. Whoever raises a number in budget.json says why in the commit.

1. Every number is measured here, from the files or from a fresh interpreter that runs the real command.
2. A number that fell by more than a hundredth is written down: `python tests/architecture/test_budget.py` prints them all.
3. Generated files do not count: their first line says `Generated`.
"""

import ast
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"
BUDGET = Path(__file__).with_name("budget.json")
FIXED = {"__init__", "__main__", "model", "db", "service", "worker", "port", "prompts", "commands"}
"""File names that may stand in every subject."""
SMALL = 60
REPORT = "import sys, os; os.write(2, ('LOADED ' + ' '.join(sys.modules)).encode())"


@cache
def measured() -> dict[str, int]:
    """Every number of the budget, by its name."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    own = {path: text for path, text in texts.items() if "Generated" not in text.partition("\n")[0]}
    names = Counter(path.stem for path in own if path.stem not in FIXED)
    return {
        "lines": sum(len(text.splitlines()) for text in own.values()),
        "modules": len(own),
        "files whose name occurs twice": sum(count for count in names.values() if count > 1),
        "small modules with one importer": _lonely(own),
        "pairs of subjects that import each other": len(circles(own)),
    }


def circles(texts: dict[Path, str]) -> set[frozenset[str]]:
    """Pairs of top folders that import each other."""
    seen = {
        (_subject(path), other.split(".")[0])
        for path, text in texts.items()
        for other in _imported(path, text)
        if other and (PACKAGE / other.split(".")[0] / "__init__.py").exists()
    }
    return {frozenset(pair) for pair in seen if pair[0] != pair[1] and pair[::-1] in seen}


def _subject(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _lonely(texts: dict[Path, str]) -> int:
    importers: dict[str, set[Path]] = defaultdict(set)
    for path, text in texts.items():
        for other in _imported(path, text):
            importers[other].add(path)
    small = (path for path, text in texts.items() if path.stem not in FIXED and len(text.splitlines()) < SMALL)
    return sum(1 for path in small if len(importers[_dotted(path)]) == 1)


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _imported(path: Path, text: str) -> set[str]:
    """The modules of the package that a module imports, for types alone too, below nobrakes."""
    found = set()
    here = path.relative_to(PACKAGE).parent.parts
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*here[: len(here) - (node.level - 1)], *(node.module.split(".") if node.module else ())]
            for one in node.names:
                inner = PACKAGE.joinpath(*base, one.name)
                is_module = inner.with_suffix(".py").exists() or (inner / "__init__.py").exists()
                found.add(".".join([*base, one.name] if is_module else base))
    return found


COMMANDS = {"status": ["status"], "answer": ["answer", "1", "Red"], "a bead to main": ["run"]}


@cache
def repository(folder: Path) -> Path:
    """A repository with one question, and one bead that an agent can bring to main."""
    env = environment(folder)
    root = folder / "project"
    root.mkdir()
    agent = "sh -c 'echo made > made.txt; git add made.txt; git commit -qm made'"
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "commit", "-q", "--allow-empty", "-m", "first"],
        [sys.executable, "-m", "nobrakes", "init", "--agent", "script", "--command", agent, "--test", "true"],
        [sys.executable, "-m", "nobrakes", "config", "set", "checks.test.format", "exit"],
        [sys.executable, "-m", "nobrakes", "add", "A bead", "--id", "b1", "--no-tests"],
    ):
        ran = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
    return root


def environment(folder: Path) -> dict[str, str]:
    who = {f"GIT_{one}_{what}": "a@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {**os.environ, **who, "PYTHONPATH": str(ROOT), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


def loaded_by(folder: Path, words: list[str]) -> int:
    """How many modules of the package are in memory when the command has ended."""
    program = f"import sys; sys.argv = {['nobrakes', *words]!r}; from nobrakes.cli.entry import main; code = main(); "
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program + REPORT],
        cwd=folder / "project",
        env=environment(folder),
        capture_output=True,
        text=True,
    )
    assert "LOADED " in ran.stderr, ran.stderr
    loaded = {name for name in ran.stderr.split("LOADED ")[1].split() if name.split(".")[0] == "nobrakes"}
    return len(loaded - {"nobrakes.sandbox.landlock"})  # where bubblewrap is not installed


def asked(folder: Path) -> None:
    """A question that waits, number 1."""
    from nobrakes.decisions.model import EscalationType, NewEscalation
    from nobrakes.store import create_store

    store = create_store(str(folder / "project" / ".nobrakes" / "nobrakes.db"))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which colour?"), None, None, "me")
    store.close()


def test_a_sum_only_falls() -> None:
    budget, wrong = json.loads(BUDGET.read_text(encoding="utf-8")), []
    for name, now in measured().items():
        allowed = budget[name]
        if now > allowed:
            wrong.append(f"{name}: {now:,}, and {allowed:,} are allowed: remove something, or say why it must grow")
        if now < allowed - max(2, allowed // 100):
            wrong.append(f"{name}: {now:,} now: write it down in {BUDGET.name}")
    assert wrong == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_no_more_modules_than_before(tmp_path: Path, name: str) -> None:
    repository(tmp_path)
    if name == "answer":
        asked(tmp_path)
    now, allowed = loaded_by(tmp_path, COMMANDS[name]), json.loads(BUDGET.read_text(encoding="utf-8"))[f"loads: {name}"]
    merged = subprocess.run(["git", "show", "main:made.txt"], cwd=tmp_path / "project", capture_output=True, text=True)
    assert merged.stdout == ("made\n" if name == "a bead to main" else ""), merged.stderr
    assert now <= allowed, f"`nobrakes {COMMANDS[name][0]}` loads {now} modules, and {allowed} are allowed"
    assert now >= allowed - max(2, allowed // 20), f"it loads {now} now: write it down in {BUDGET.name}"


if __name__ == "__main__":
    print(json.dumps(measured(), indent=2))
