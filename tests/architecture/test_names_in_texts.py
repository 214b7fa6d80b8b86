"""What docstrings, comments and the design pages name is there: modules, what stands in them, and files.

A name with dots is looked at when it begins with a subject of the package, or with a folder that it had before. A setting
(`review.land`) is one of config/nobrakes.toml.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"
SUBJECTS = {path.stem for path in PACKAGE.iterdir()}
BEFORE = {"core", "operations", "roles", "wording"}
NAME = re.compile(r"(?<![\w./@$\[-])(?:nobrakes\.)?([a-z_]+(?:\.[a-zA-Z_]+)+)(?![\w(/=])")
FILE = re.compile(r"(?<![\w./-])((?:[a-z_]+/)*[a-z_]+\.(?:py|sql))(?![\w/])")
ENDINGS = {"py", "toml", "json", "jsonl", "md", "sql", "db", "svg", "checked", "log"}
OTHERS = {"core.hooksPath", "beads.epic", "setup.py", "conftest.py", "tests.py", "model.py", "port.py"}
"""A setting of git, a column, files of the projects that we work on, and files of every subject."""
OWN = ("checks.", "review.features.")
"""Settings in tables that people name."""


@cache
def settings() -> set[str]:
    """Every table and key of config/nobrakes.toml, also where it is commented out."""
    found, section = set(), ""
    for line in (ROOT / "config" / "nobrakes.toml").read_text().splitlines():
        if told := re.match(r"#? ?\[+([\w.]+)\]+$", line):
            section = told[1]
            found.add(section)
        elif told := re.match(r"#? ?(\w+) = ", line):
            found |= {f"{section}.{told[1]}".strip("."), told[1]}
    return found


@cache
def standing_in(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def is_there(name: str) -> bool:
    """Whether it is a module, or a module says this word of it at the start of a line or of a class's line."""
    parts = name.split(".")
    for number in range(len(parts), 0, -1):
        place = PACKAGE.joinpath(*parts[:number])
        module = next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()), None)
        if module is not None:
            word = parts[number] if number < len(parts) else ""
            pattern = rf"^(?:    )?(?:async def |def |class )?{word}\b|import .*\b{word}\b"
            return not word or re.search(pattern, standing_in(module), re.MULTILINE) is not None
    return False


def texts(path: Path) -> Iterator[str]:
    source = standing_in(path)
    if path.suffix == ".md":
        yield from re.findall(r"`([^`\n]+)`", source)
        for folder, names in re.findall(r"^- `([a-z_]+/(?:[a-z_]+/)*)`: (`.*`)$", source, re.MULTILINE):
            yield from (f"{folder}{name}.py" for name in re.findall(r"\w+", names))  # what a folder holds
        return
    yield from re.findall(r"^\s*#.*|  #.*", source, re.MULTILINE)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def lost(path: Path) -> list[str]:
    """What the file's texts name and is not there."""
    found = []
    for text in texts(path):
        for name in NAME.findall(text):
            known = name in OTHERS | settings() or name.rpartition(".")[2] in ENDINGS
            if (
                not known
                and not name.startswith(OWN)
                and name.split(".")[0] in SUBJECTS | BEFORE
                and not is_there(name)
            ):
                found.append(name)
        for name in FILE.findall(text):
            own = "/" not in name or name.split("/")[0] in SUBJECTS
            beside = (here / name for here in (path.parent, *path.parents) if here.is_relative_to(ROOT))
            if own and name not in OTHERS and not any(one.exists() for one in (PACKAGE / name, *beside)):
                found.append(name)
    return found


def test_what_texts_name_is_there() -> None:
    pages = [ROOT / "docs" / "design.md", *sorted((ROOT / "docs" / "design").glob("*.md"))]
    files = [*sorted(PACKAGE.rglob("*.py")), *pages]
    assert {str(path.relative_to(ROOT)): names for path in files if (names := lost(path))} == {}


def test_what_is_not_there_is_found(tmp_path: Path) -> None:
    for words in (
        "Done by daemon.forge.perform.",
        "See `wording.words`.",
        "As review.machine.TABEL says.",
        "In git/mirge.py.",
    ):
        file = tmp_path / "sample.py"
        file.write_text(f'"""{words}"""\n')
        standing_in.cache_clear()
        assert lost(file), words
    file.write_text('"""By review.machine.TABLE, `review.land`, git/merge.py and `checks.test.command`."""\n')
    standing_in.cache_clear()
    assert lost(file) == []


OURS = re.compile(r"(?<![\w./~-])((?:docs|examples|config|benchmarks|tests|hooks|nobrakes)/[\w./-]*\w)")
THEIRS = {"docs/design"}
"""A folder that projects have too."""
COMMANDS = {"main.py", "mcp_server.py", "commands.py"}
"""Beside the modules of `cli`, those whose docstrings are shown."""


def messages(path: Path) -> Iterator[str]:
    """What people may be shown of the file: its texts with a space in them, and the docstrings that are help."""
    if path.suffix != ".py":
        yield standing_in(path)
        return
    tree = ast.parse(standing_in(path))
    unseen = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and path.parent.name != "cli" and path.name not in COMMANDS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unseen:
            yield node.value if " " in node.value else ""


def only_in_source(text: str) -> list[str]:
    return [name for name in OURS.findall(text) if (ROOT / name).exists() and name not in THEIRS]


def test_the_help_of_commands_is_among_the_messages() -> None:
    path = PACKAGE / "beads" / "commands.py"
    helps = [ast.get_docstring(node) for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    shown = {inspect.cleandoc(text) for text in messages(path)}
    assert any(helps) and shown.issuperset(filter(None, helps))


def test_no_message_names_what_only_the_source_tree_has() -> None:
    """Who installed nobrakes has its commands, and none of these files."""
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html"), *(ROOT / "config").rglob("*.*")]
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for text in messages(path)
        for name in only_in_source(text)
    }
    assert found == set()


@pytest.mark.parametrize(
    "text", ["Read docs/reference/plan.md.", "see `config/nobrakes.toml`", "copy (examples/demo) from there"]
)
def test_the_search_for_such_names_finds_them(text: str) -> None:
    assert only_in_source(text) and not only_in_source("Read docs/ROADMAP.md, .nobrakes/config.toml and my/docs/how-to")
