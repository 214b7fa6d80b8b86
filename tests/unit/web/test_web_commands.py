"""The table of commands that pages may ask for, held against the command line's."""

import re
from pathlib import Path

import pytest

from nobrakes.command_table import ATOMIC
from nobrakes.command_table import COMMANDS as TYPED
from nobrakes.errors import UsageError
from nobrakes.web import rendering
from nobrakes.web.commands import COMMANDS, NOT_HERE, Link, link, named

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
        ([], "bead: enter a value"),
        ([("bead", " ")], "bead: enter a value"),
        ([("bead", "nb-1"), ("bead", "nb-2")], "bead is given twice"),
        ([("bead", "nb-1"), ("paths", "/etc")], "unknown field 'paths'"),
        ([("bead", "nb-1"), ("reason", "x" * 4001)], "reason: at most 4000 characters"),
    ):
        with pytest.raises(UsageError, match=said):
            rendering.values(hold, given)
    with pytest.raises(UsageError, match="is not a number"):
        rendering.values(BY_WORDS["answer"].fields, [("number", "٣"), ("text", "x")])
    run = BY_WORDS["project run"].fields
    found = rendering.values(run, [("usd", "2.5"), ("item", "R1"), ("item", "R2\nR3"), ("sprints", "2")])
    assert found == {"usd": 2.5, "item": ("R1", "R2", "R3"), "sprints": 2}
    for wrong in ("-1", "1e9", "inf", "nan", ".5", "1,5"):
        with pytest.raises(UsageError, match="is not a number"):
            rendering.values(run, [("usd", wrong)])
    with pytest.raises(UsageError, match="neither yes nor no"):
        rendering.values(BY_WORDS["add"].fields, [("title", "x"), ("draft", "maybe")])


LINKS = {
    "nobrakes escalations": Link("desk", "Open the Desk"),
    "nobrakes escalation 4": Link("desk/4", "Decide"),
    "nobrakes undepend a-1 b-2": Link("do/undepend?bead=a-1&needs=b-2", "Remove a dependency"),
    "nobrakes defer a-1 now": Link("do/defer?bead=a-1&until=now", "Change the time"),
    "nobrakes run": Link("do/daemon-start?", "Start the daemon", "daemon-start"),
    "nobrakes resume": Link("do/resume?", "Resume work after a pause or a stop", "resume"),
    "nobrakes daemon restart --user": Link("do/daemon-restart?", "Restart the daemon", "daemon-restart"),
    "nobrakes daemon stop": Link("do/daemon-stop?", "Stop the daemon and its agents"),
    "nobrakes providers lift day.usd": Link("do/providers?lift=day.usd", "Try the provider now, or lift the cap"),
    "nobrakes set doers=1": Link("do/set?limits=doers%3D1", "Change limits while agents are running"),
    "nobrakes quarantine unit 'a b' --lift": Link("do/quarantine?check=unit&test=a+b&lift=1", "End the quarantine"),
    "nobrakes forge show f/1": Link("features/f%2F1", "Open the feature"),
    "nobrakes config set review.merge rebase": Link("settings?q=review.merge", "Change it"),
    "nobrakes config unset caps.day.usd": Link("settings?q=caps.day.usd", "Change it"),
    "nobrakes approve": Link("plan", "Open the Plan"),
    "nobrakes approve a-1@0123": Link("do/approve?what=a-1%400123", "Approve one item, or list what needs approval"),
    "nobrakes commit-strategy --only a-1": Link("do/commit-strategy?only=a-1", "Approve drafts and proposed changes"),
    'nobrakes session say 1 "…"': Link("sessions/1", "Open the session"),
}  # fmt: skip
ONLY_TYPED = (
    "nobrakes config --check", "nobrakes config set review.land pull_request", "nobrakes config set setup 'npm ci'", "nobrakes config set checks.test.command 'make test'", "nobrakes init --trial", "nobrakes doctor --repair counters", "pipx install nobrakes",
    'nobrakes edit a-1 --epic ""', "nobrakes take a-1", "nobrakes plan apply plan.yaml", "nobrakes machine set agents=3", "nobrakes verify --rerun", "nobrakes show", "nobrakes 'x", "",
)  # fmt: skip


def test_a_line_for_the_terminal_is_a_link_where_a_page_does_the_same() -> None:
    assert {line: link(line) for line in LINKS} == LINKS
    assert [line for line in ONLY_TYPED if link(line) is not None] == []
