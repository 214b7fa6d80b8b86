"""The words of help are explained once, in docs/glossary.md, or are ordinary.

Every word of what commands, options, settings, agents' operations and headings of pages say is a word of the glossary,
or stands in `plain_words.txt`, where a person put it because it means what a dictionary says. So a new special word is
noticed. A word with a capital in the glossary (Reviewer) is that word only with the capital.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.service.agent_api import OPERATIONS
from nobrakes.agents.service.board_api import OPERATIONS as BOARD
from nobrakes.cli.main import function_of
from nobrakes.cli.parsing import before, load, root
from nobrakes.command_table import COMMANDS, GROUPS, JOURNEYS, NOUNS
from nobrakes.config.editing import USER, settings
from nobrakes.web.rendering import WAYS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PLAIN = Path(__file__).parent / "plain_words.txt"
TEMPLATES = ROOT / "nobrakes" / "web" / "templates"
NO_WORD = re.compile(
    r"`[^`]*`|\"[^\"\s]*\"|\{[^}]*\}|https?:\S+|\[default:[^]]*\]|\[x?[\d<>=x]+\]|--[\w-]+|\S*[\d_/@=~<>$*\\]\S*"
    r"|\S*\w\.\w\S*|\.\w+|\b[A-Z]{2,}\w*\b"
)
"""What is typed, named or counted: code, values, options, paths, settings, placeholders."""
MAX_ROW = 240
"""Characters: two lines."""
WORD = re.compile(r"(?<!['-])\b[A-Za-z]{2,}(?:-[A-Za-z]+)*")
ENDINGS = (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))


@cache
def headwords() -> tuple[str, ...]:
    """Those that are no value of the program."""
    rows = re.findall(r"^\| ([^|`]+?) \| [^|]+? \|$", PAGE, re.MULTILINE)
    return tuple(word for word in rows if word not in ("word", "---"))


@cache
def plain_words() -> frozenset[str]:
    lines = PLAIN.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def helps() -> Iterator[tuple[str, str]]:
    """Each place that explains, with its text."""
    yield from (("journeys", one) for one in JOURNEYS)
    yield from (("nouns", one) for one in NOUNS.values())
    yield from ((f"nobrakes {words}", help) for words, (_, help) in GROUPS.items())
    yield from _options("nobrakes", root(before))
    for entry in COMMANDS:
        yield f"nobrakes {entry.words}", entry.help
        yield f"nobrakes {entry.words}", inspect.getdoc(function_of(entry)) or ""
        yield from _options(f"nobrakes {entry.words}", load(entry))
    for operation in (*OPERATIONS, *BOARD):
        yield operation.name, operation.help
        yield from ((f"{operation.name} {one.name}", one.help) for one in operation.parameters)
    for one in (*settings(), *settings(USER)):
        yield f"{one.section}.{one.name}", one.comment
    yield from (("navigation", way.name) for way in WAYS)
    for template in sorted(TEMPLATES.glob("*.html")):
        headings = re.findall(r"<h[1-6][^>]*>(.*?)</h[1-6]>", template.read_text(encoding="utf-8"))
        yield from ((template.name, re.sub(r"\{[{%].*?[%}]\}|<[^>]*>|&\w+;", " ", one)) for one in headings)


def _options(words: str, command: Any) -> Iterator[tuple[str, str]]:
    context = command.context_class(command, info_name=words)
    records = (one.get_help_record(context) for one in command.get_params(context))
    yield from ((f"{words} {record[0]}", record[1]) for record in records if record)


def bases(word: str) -> set[str]:
    """The word, and what it may be a form of: `stopped` of `stop`."""
    found = {word}
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 1:
            stem = word.removesuffix(ending) + instead
            found |= {stem, stem[:-1]} if stem[-1:] == stem[-2:-1] else {stem}
    return found


@cache
def _phrases() -> re.Pattern[str]:
    """Rows of words of the glossary, each word in any form: `hands in`, `pull requests`."""
    rows = sorted((word for word in headwords() if " " in word), key=len, reverse=True)
    forms = (r"\s".join(rf"{re.escape(part)}(?:s|es|ed|ing)?" for part in row.split()) for row in rows)
    return re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE)


def unknown(text: str) -> set[str]:
    """The words of the text that neither the glossary nor the plain words have."""
    flat = " ".join(NO_WORD.sub(" ", text).split())
    return {word for word in WORD.findall(_phrases().sub(" ", flat)) if not _is_known(word)}


def _is_known(word: str) -> bool:
    known = plain_words() | {one for one in headwords() if one.islower()}
    named = {one for one in headwords() if not one.islower()}
    return bool(bases(word) & named or bases(word.lower()) & known)


def test_each_word_of_help_is_in_the_glossary_or_plain() -> None:
    """A new word is explained in docs/glossary.md, or, if it means what a dictionary says, put into plain_words.txt."""
    found: dict[str, set[str]] = {}
    for place, text in helps():
        for word in unknown(text):
            found.setdefault(word, set()).add(place)
    assert found == {}


def test_plain_words_are_in_order_and_not_special() -> None:
    words = [
        word for line in PLAIN.read_text(encoding="utf-8").splitlines() if line[:1] != "#" for word in line.split()
    ]
    assert words == sorted(set(words))
    assert [word for word in words if word in headwords()] == []


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Frobs a bead.", {"Frobs"}),
        ("Stopped beads, retried; `frob` it with --frob to frob.toml or FROB.", set()),
        ("Hands in a pull request for the Test Writers.", set()),
        ("The Reviewer merges it.", set()),
        ("A reviewer merges it.", {"reviewer"}),
        ("The widget-frame of a bead.", {"widget-frame"}),
    ],
)
def test_a_new_word_is_found(text: str, new: set[str]) -> None:
    assert unknown(text) == new


def test_help_of_every_kind_is_looked_at() -> None:
    places = {place for place, _ in helps()}
    assert {
        "nobrakes --json",
        "nobrakes forge",
        "nobrakes add",
        "nobrakes add --draft",
        "nobrakes agent ask",
        "ask option",
    } <= places
    assert {"limits.doers", "machine.agents", "navigation", "features.html", "nouns", "journeys"} <= places


def test_a_meaning_is_short() -> None:
    long = [line for line in PAGE.splitlines() if line.startswith("| ") and len(line) > MAX_ROW]
    assert long == []
