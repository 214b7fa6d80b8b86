"""The docs say what the code says: generated pages, commands in prose, links, files, plans, settings and events."""

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from docs.generate import files, reference
from nobrakes import __version__
from nobrakes.agents.adapter import OUTCOMES, PREFIX
from nobrakes.agents.service import client
from nobrakes.app import SEEN_BY_CHILDREN
from nobrakes.beads.model import Outcome
from nobrakes.cli import parsing
from nobrakes.cli.parsing import before
from nobrakes.command_table import COMMANDS, GROUPS
from nobrakes.config import sections, settings
from nobrakes.decisions.model import EscalationType
from nobrakes.events.kinds import Kind
from nobrakes.host import proctable
from nobrakes.plans import nodes
from nobrakes.plans import service as plans_service
from nobrakes.store import create_store
from tests.support.tables import failing

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
WRITTEN = [page for page in PAGES if page.name not in ("journeys.md", "first-screens.md")]
"""Without what is printed by a play in a repository of its own: tests/acceptance/test_journeys.py."""
ROLES = sorted((ROOT / "config").rglob("*.md"))
SOURCES = sorted((ROOT / "nobrakes").rglob("*.py"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WORDS = {entry.words: entry for entry in COMMANDS}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in FENCE.findall(page.read_text()) if found == language]


def column(page: Path, heading: str, place: int = 0) -> list[str]:
    """What stands in backticks in one column of the table whose heading line begins so."""
    lines = page.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(heading)) + 2
    found = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        found += re.findall(r"`([^`]+)`", line.split(" | ")[place])
    return found


# --- the generated pages


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_generated_page_is_what_the_code_prints(name: str) -> None:
    written = (DOCS / "reference" / f"{name}.md").read_text()
    assert written == reference.PAGES[name](), "run: python -m docs.generate.reference --write docs/reference"


def test_the_man_page_is_what_the_code_prints() -> None:
    written = (DOCS / "reference" / reference.MAN).read_text()
    assert written == reference.man_page(), "run: python -m docs.generate.reference --write docs/reference"


def test_every_command_error_setting_event_and_ending_has_its_line() -> None:
    pages = {name: (DOCS / "reference" / f"{name}.md").read_text() for name in reference.PAGES}
    wanted = [("commands", f"### nobrakes {entry.words}\n") for entry in COMMANDS if not entry.hidden]
    wanted += [("errors", f"\n| {one.code} | {one.__name__} | ") for one in reference.error_classes()]
    wanted += [("events", f"\n| `{kind.value}`") for kind in Kind]
    wanted += [("outcomes", f"\n| `{outcome.value}` | ") for outcome in Outcome]
    wanted += [("outcomes", f"\n| `{type_.value}` | ") for type_ in EscalationType]
    wanted += [("settings", f"\n| `{name}` | ") for name in settings_of(settings.Config)]
    assert [(page, text) for page, text in wanted if pages[page].count(text) < 1] == []


def settings_of(section: type[settings.Section]) -> Iterator[str]:
    for field in fields(section):
        if isinstance(field.default, settings.Section):
            yield from settings_of(type(field.default))
        else:
            yield field.name
    if section is settings.Config:
        yield from sections.CheckSettings.__dataclass_fields__


# --- commands


def mentioned(text: str, prose: bool = True) -> Iterator[str]:
    """The command lines in fenced or indented blocks and in backticks."""
    if prose:
        for _, block in FENCE.findall(text):
            for line in block.splitlines():
                if found := re.match(r"(?:\$ )?(nobrakes .*)", line):
                    yield found[1]
        text = FENCE.sub("", text)
        yield from re.findall(r"^ {4}(nobrakes .*?)(?: \\)?$", text, re.MULTILINE)
    for found in re.findall(r"`(nobrakes(?: [^`\n]*)?)`", text):
        yield found


@cache
def options(words: str) -> frozenset[str]:
    command = parsing.load(WORDS[words]) if words else parsing.root(before)
    return frozenset({"-h", "--help", *(o for p in command.params for o in (*p.opts, *p.secondary_opts))})


def wrong(line: str) -> str | None:
    """What is wrong with a command line, as far as the table of commands can tell."""
    try:
        typed = shlex.split(re.split(r" (?:[|>#]|&&) ?", line.replace("\\|", " | "))[0])[1:]
    except ValueError as error:
        return str(error)
    if not typed or (typed[0] in GROUPS and typed[1:] in ([], ["…"])) or typed == ["…"]:
        return None
    is_group = typed[0] in GROUPS and not (typed[0] in WORDS and typed[1].startswith("-"))  # `config --check`
    words = "" if typed[0].startswith("-") else " ".join(typed[:2]) if is_group else typed[0]
    if typed[0] == "plan" and re.search("[-./A-Z…]", typed[1]):  # `nobrakes plan FILE`
        words = "plan apply"
    if words and words not in WORDS:
        return f"there is no command '{words}'"
    for word in typed:
        option = word.split("=")[0]
        if option.startswith("-") and option != "-" and option not in options(words):
            return f"'{words}' has no option {option}"
    if words == "set":
        limits = [word.split("=")[0] for word in typed[1:] if "=" in word]
        return next(
            (f"{limit} is no limit" for limit in limits if limit not in sections.LimitSettings.__dataclass_fields__),
            None,
        )
    return None


def test_a_command_that_a_page_names_exists() -> None:
    def look(page: Path) -> None:
        assert [(line, why) for line in mentioned(page.read_text()) if (why := wrong(line))] == []

    assert failing([*WRITTEN, *ROLES], look, name_of) == []


def test_a_command_that_the_program_tells_people_to_type_exists() -> None:
    found = [(name_of(path), line) for path in SOURCES for line in mentioned(path.read_text(), prose=False)]
    assert len(found) > 50
    assert [(path, line, why) for path, line in found if "{" not in line and (why := wrong(line))] == []


@pytest.mark.parametrize(
    "line",
    [
        "nobrakes fly",
        "nobrakes plan",
        "nobrakes plan ./work",
        "nobrakes plan aply",
        "nobrakes agent sing x",
        "nobrakes run --fast",
        "nobrakes set speed=9",
    ],
)
def test_the_search_for_wrong_commands_finds_them(line: str) -> None:
    assert (wrong(line) is None) is (line in ("nobrakes plan", "nobrakes plan ./work"))


# --- links and files


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_link_is_dead() -> None:
    def look(page: Path) -> None:
        dead = []
        for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text())):
            if link.startswith(("http://", "https://")):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                dead.append(link)
        assert dead == []

    assert failing(PAGES, look, name_of) == []


def test_a_file_of_ours_that_a_page_names_exists() -> None:
    def look(page: Path) -> None:
        ours = "|".join(
            re.escape(folder.name) for folder in ROOT.iterdir() if folder.is_dir() and folder.name != ".git"
        )
        named = re.findall(rf"(?<![\w./-])(?:{ours})/[\w./*-]+", page.read_text())
        names = {name.rstrip(".").removesuffix("/") for name in named if not name.startswith((".venv", ".nobrakes"))}
        assert [name for name in sorted(names) if not list(ROOT.glob(name))] == []

    assert failing(WRITTEN, look, name_of) == []


def test_no_two_rows_of_a_table_say_the_same() -> None:
    """As they do where an old row was kept beside the new one."""

    def look(page: Path) -> None:
        rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
        said = Counter(one for row in rows for one in set(re.split(r"(?<=[.;:]) ", row)) if len(one) >= 60)
        assert [one for one, times in said.items() if times > 1] == []

    assert (
        failing(sorted([*DOCS.glob("*.md"), *DOCS.glob("design/*.md"), *DOCS.glob("how-to/*.md")]), look, name_of) == []
    )


@pytest.mark.parametrize("page", sorted(DOCS.glob("design/*.md")), ids=name_of)
def test_a_design_page_says_of_a_file_what_the_file_says(page: Path) -> None:
    text = page.read_text()
    assert text == files.described(text), "run: python -m docs.generate.files"
    assert [line for line, times in Counter(files.LINE.findall(text)).items() if times > 1] == []


VERBS = {"Added": "Add ", "Changed": "Change ", "Fixed": "Fix ", "Removed": "Remove "}


def test_the_newest_part_of_the_changelog_is_a_summary_by_kind() -> None:
    """What is not released yet has lists alone; a version begins with a few lines for a person."""
    name, part = (ROOT / "CHANGELOG.md").read_text().split("\n## [")[1].split("\n", 1)
    prose, *lists = part.partition("### ")
    lines = "".join(lists).splitlines()
    assert len(lines) <= 60, "extend the line of a theme, or make two lines one"
    assert [line.removeprefix("### ") for line in lines if line.startswith("#")] == list(VERBS)
    for line in filter(None, lines):
        assert line.startswith(("### ", "- ")), f"no entry: {line}"
        assert len(line) <= 300, f"too long for a line: {line}"
    if name == "Unreleased]":
        assert prose.strip() == ""
    else:
        assert re.fullmatch(rf"{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", name), "the version of this checkout"
        assert 5 <= len(prose.strip().splitlines()) <= 25 and max(map(len, prose.splitlines())) <= 140


def test_each_entry_of_the_changelog_begins_with_its_verb() -> None:
    """Of every version: that of its kind, one of Add, Change, Fix and Remove."""
    kind, wrong = "", []
    for line in (ROOT / "CHANGELOG.md").read_text().splitlines():
        kind = line.removeprefix("### ") if line.startswith("#") else kind
        if line.startswith("- ") and not line.startswith(f"- {VERBS[kind]}"):
            wrong.append(line)
    assert wrong == []


def test_every_page_is_in_an_index() -> None:
    """That of its folder, or the one of all docs."""
    missing = []
    for page in DOCS.rglob("*.md"):
        indexes = [one for one in (page.parent / "index.md", DOCS / "index.md") if one.is_file() and one != page]
        if indexes and not any(f"]({page.relative_to(one.parent)})" in one.read_text() for one in indexes):
            missing.append(name_of(page))
    assert missing == []


def test_a_page_of_a_task_has_at_most_80_lines() -> None:
    def look(page: Path) -> None:
        assert len(page.read_text().splitlines()) <= 80, "one page a task: make two of it"

    assert failing(sorted(DOCS.glob("how-to/*.md")), look, name_of) == []


def test_settings_in_a_page_are_settings() -> None:
    def look(page: Path) -> None:
        for block in blocks(page, "toml"):
            settings.parse(block, name_of(page))

    assert failing(PAGES, look, name_of) == []


def test_every_key_of_a_plan_is_explained() -> None:
    page = DOCS / "reference" / "plan.md"
    text = page.read_text()
    of_file, of_bead = text.split("## A bead\n")
    for part, model in ((of_file, nodes.File), (of_bead.split("\n## ")[0], nodes.Node)):
        assert sorted(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == sorted(model.model_fields)


def test_the_plan_in_the_page_is_the_one_that_the_program_prints() -> None:
    assert (ROOT / "config" / "plan.yaml").read_text() in blocks(DOCS / "reference" / "plan.md", "yaml")


@pytest.mark.parametrize("language", ["yaml", "json", "jsonl"])
def test_a_plan_in_a_page_can_be_applied(language: str, tmp_path: Path) -> None:
    found = [block for page in PAGES for block in blocks(page, language) if '"ts":' not in block]
    assert found
    for number, block in enumerate(found):
        file = tmp_path / f"{number}.{language}"
        file.write_text(block)
        store = create_store(str(tmp_path / f"{number}.db"))
        try:
            report = plans_service.apply_plan(store, plans_service.read_plan(str(file)))
            assert report.new and report.ready and not report.problems and not report.deadlocks
        finally:
            store.close()


# --- what an agent can rely on

AGENTS = DOCS / "reference" / "agents.md"


def test_every_variable_of_an_agent_is_explained() -> None:
    own = ROOT / "nobrakes"
    starts = (own / "agents/worker/process.py", own / "agents/worker/launch.py", own / "sessions/worker.py")
    found = [one for path in starts for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Dict)]
    given = {key.value for one in found for key in one.keys if isinstance(key, ast.Constant)}
    ours = {name for name in given if name.startswith("NOBRAKES_")} | {proctable.RUN_MARKER, proctable.HOME_MARKER}
    assert sorted(column(AGENTS, "| variable |")) == sorted(ours)
    text = AGENTS.read_text()
    others = ({name for name in given - ours if name == name.upper()} - {"PATH"}) | set(SEEN_BY_CHILDREN)
    assert [name for name in sorted(others) if f"`{name}`" not in text] == []


def test_everything_that_an_agent_can_say_is_explained() -> None:
    verbs = [line.split()[2] for line in column(AGENTS, "| command |") if line.startswith("nobrakes agent ")]
    assert sorted(verbs) == sorted(words.split()[1] for words in WORDS if words.startswith("agent "))
    assert column(AGENTS, "| word |") == [*sorted(client.OUTCOMES, key=column(AGENTS, "| word |").index)]
    markers = dict(zip(column(AGENTS, "| marker |"), column(AGENTS, "| marker |", 1), strict=True))
    assert markers == {PREFIX + marker.value: outcome.value for marker, outcome in OUTCOMES.items()}


def test_the_pictures_name_files_that_are_there() -> None:
    pictures = re.findall(r"```mermaid\nflowchart.*?```", (DOCS / "design.md").read_text(), re.DOTALL)
    named = {name for picture in pictures for name in re.findall(r"\b[a-z_]+(?:/[a-z_]+)*\.py\b", picture)}
    assert len(pictures) == 5 and len(named) > 25
    assert [name for name in sorted(named) if not (ROOT / "nobrakes" / name).is_file()] == []


def test_of_a_table_each_row_that_fails_is_named() -> None:
    def look(row: int) -> None:
        assert row != 2
        if row == 3:
            pytest.fail("no")

    first, second = failing([1, 2, 3], look)
    assert first.startswith("2: AssertionError: assert 2 != 2") and second == "3: Failed: no"
    with pytest.raises(AssertionError, match="empty table"):
        failing([], look)
