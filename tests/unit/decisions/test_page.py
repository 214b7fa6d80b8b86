"""The page to decide by: every type has one, its choices are those that are taken, and evidence is in words."""

from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Status
from nobrakes.beads.service import bead_commands
from nobrakes.cli.decisions import shown
from nobrakes.cli.screen import Screen
from nobrakes.config.settings import Config
from nobrakes.decisions.model import DECISIONS, EscalationType, NewEscalation
from nobrakes.decisions.service import desk, page
from nobrakes.decisions.service.view import DecisionView
from nobrakes.errors import NotAllowed
from nobrakes.paths import Paths
from tests.world.fake_git import FakeGit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
EVIDENCE: dict[str, Any] = {
    "attempts": [{"attempt": 1, "role": "doer", "name": "Ada", "agent": "script", "outcome": "failed",
                  "detail": f"at {COMMIT}\x1b[2J", "summary": "tried the ladder", "blockers": "", "learnings": "short"}],
    "results": [{"name": "unit", "outcome": "fail", "reason": "2 tests failed", "tail": "line\n" * 30},
                {"name": "lint", "outcome": "pass", "reason": "", "tail": ""}],
    "commit": COMMIT,
    "of_an_older_version": {"the_reason": "nobody knows", "commits": [COMMIT]},
}  # fmt: skip


def decided_by(store: Any, folder: Path, type_: EscalationType, bead: str | None, **more: Any) -> DecisionView:
    new = NewEscalation(type_, f"about {COMMIT}", "what was seen", EVIDENCE, **more)
    number = store.escalate(new, bead, None, "nobrakes").id
    return page.decision(store, Paths(str(folder)), FakeGit, Config, number)


def text_of(store: Any, found: DecisionView) -> str:
    return shown(found, store.now(), Screen(80), False)


@pytest.mark.parametrize("about", ["a bead", "nothing"])
@pytest.mark.parametrize("type_", EscalationType)
def test_every_type_says_what_can_be_done_and_what_it_costs(
    store: Any, tmp_path: Path, type_: EscalationType, about: str
) -> None:
    bead = bead_commands.add(store, "Log in", acceptance=("it logs in",), draft=False, needs_tests=False).id
    found = decided_by(store, tmp_path, type_, bead if about == "a bead" else None)
    assert found.choices, "something can always be done"
    text = text_of(store, found)
    for choice in found.choices:
        assert choice.command in text and choice.does
    assert "\x1b" not in text and '{"' not in text and max(map(len, text.splitlines())) <= 80
    assert COMMIT not in text and "nobody knows" in text
    assert "unit: fail: 2 tests failed" in text and "1 passed" in text
    if about == "a bead":
        assert "it logs in" in text and "tried the ladder" in text
    offered = {choice.how for choice in found.choices}
    for how in DECISIONS:
        if how not in offered:
            with pytest.raises(NotAllowed):
                desk.resolve(store, found.id, how, actor="me")
    assert store.escalation(found.id).resolved_at is None


def test_who_waits_is_told_of_a_bead_that_is_given_up(store: Any, tmp_path: Path) -> None:
    bead = bead_commands.add(store, "a", draft=False, needs_tests=False)
    bead_commands.add(store, "Later", id="later", needs=(bead.id,), draft=False)
    found = decided_by(store, tmp_path, EscalationType.REPEATED_FAILURE, bead.id)
    (cancel,) = [choice for choice in found.choices if choice.how == "cancel"]
    assert "later stay blocked" in cancel.costs and "archives" in cancel.costs
    desk.resolve(store, found.id, "cancel", actor="me")
    over = page.decision(store, Paths(str(tmp_path)), FakeGit, Config, found.id)
    assert over.choices == () and over.mend == () and "resolved" in text_of(store, over)
    assert store.bead(bead.id).status is Status.CANCELLED


def test_the_list_names_the_bead_and_why_in_eighty_columns(store: Any) -> None:
    from nobrakes.cli.decisions import listed

    bead = bead_commands.add(store, "A title that is " + "very " * 30 + "long", draft=False, needs_tests=False)
    store.escalate(NewEscalation(EscalationType.CONFLICT, "a.py"), bead.id, None, "nobrakes")
    text = listed(page.listed(store), store.now(), Screen(80))
    assert bead.id in text and "A title that is" in text and "conflicts with main: a.py" in text
    assert max(map(len, text.splitlines())) <= 80
