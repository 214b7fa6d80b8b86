"""The table of commands that pages may ask for, held against the command line's."""

import re
from pathlib import Path

import pytest

from nobrakes.command_table import ATOMIC
from nobrakes.command_table import COMMANDS as TYPED
from nobrakes.errors import UsageError
from nobrakes.web import rendering
from nobrakes.web.commands import COMMANDS, NOT_HERE, named

BY_WORDS = {one.words: one for one in COMMANDS}


def test_every_command_that_changes_something_is_in_the_table_or_has_a_reason_not_to_be() -> None:
    changing = {entry.words for entry in TYPED if entry.changes} - {"web"}
    assert changing == BY_WORDS.keys() | NOT_HERE.keys()
    assert not BY_WORDS.keys() & NOT_HERE.keys()
    assert all(reason.endswith(".") and len(reason) > 20 for reason in NOT_HERE.values())


def test_what_is_one_transaction_on_the_command_line_is_one_here() -> None:
    atomic = {entry.words for entry in TYPED if entry.changes == ATOMIC}
    assert {one.words for one in COMMANDS if one.together} == atomic & BY_WORDS.keys()


def test_an_address_has_the_words_of_one_command() -> None:
    assert [named(one.words.replace(" ", "-")) for one in COMMANDS] == list(COMMANDS)
    assert named("init") is None and named("") is None


def test_every_form_of_a_page_asks_for_a_command_of_the_table() -> None:
    templates = Path(rendering.HERE, "templates").glob("*.html")
    asked = {(one.name, name) for one in templates for name in re.findall(r'begin\(frame, "([^"]*)"', one.read_text())}
    assert len(asked) > 20
    assert [one for one in sorted(asked) if named(one[1]) is None] == []


def test_what_stops_everything_or_moves_main_is_confirmed() -> None:
    assert {one.words for one in COMMANDS if one.danger} == {"stop", "daemon stop", "undo", "forge rollback"}


def test_fields_are_read_by_their_type_and_refused_by_name() -> None:
    hold = BY_WORDS["hold"].fields
    assert rendering.values(hold, [("bead", " nb-1 "), ("reason", "a\r\nb"), ("request", "k"), ("then", "/")]) == {
        "bead": "nb-1",
        "reason": "a\nb",
    }
    for given, said in (
        ([], "bead: nothing was given"),
        ([("bead", " ")], "bead: nothing was given"),
        ([("bead", "nb-1"), ("bead", "nb-2")], "bead is given twice"),
        ([("bead", "nb-1"), ("paths", "/etc")], "there is no field 'paths'"),
        ([("bead", "nb-1"), ("reason", "x" * 4001)], "reason: at most 4000 characters"),
    ):
        with pytest.raises(UsageError, match=said):
            rendering.values(hold, given)
    with pytest.raises(UsageError, match="is not a number"):
        rendering.values(BY_WORDS["answer"].fields, [("number", "٣"), ("text", "x")])
    with pytest.raises(UsageError, match="neither yes nor no"):
        rendering.values(BY_WORDS["add"].fields, [("title", "x"), ("draft", "maybe")])
