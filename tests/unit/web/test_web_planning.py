"""A page's yes to what was proposed: all of it, a part, or a no; and never to something else than it showed."""

import itertools
from types import SimpleNamespace

import pytest

from nobrakes.beads.service import bead_commands
from nobrakes.errors import NotAllowed, UsageError
from nobrakes.features.service import approving
from nobrakes.features.service.strategy import strategy
from nobrakes.plans.nodes import plan_of
from nobrakes.store import open_memory
from nobrakes.web import rendering
from nobrakes.web.commands import COMMANDS

BY_WORDS = {one.words: one for one in COMMANDS}


@pytest.fixture
def store():
    """A store in memory, with a clock that only goes on."""
    opened = open_memory(itertools.count(1_800_000_000).__next__)
    yield opened
    opened.close()


@pytest.fixture
def app(store, monkeypatch):
    """What a command of a page is given: two live beads, with a change of each and a draft proposed."""
    monkeypatch.setattr(approving, "commit_snapshot", lambda *_: None)
    monkeypatch.setattr(approving, "_written_elsewhere", lambda *_: ())
    monkeypatch.setattr(approving, "settings", lambda *_: ({}, ()))
    monkeypatch.setattr("nobrakes.files.wake", lambda _: None)
    for name in "ab":
        bead_commands.add(store, name.upper(), id=name, draft=False)
    wish = [{"id": "a", "title": "A2", "priority": 0}, {"id": "b", "title": "B2"}, {"id": "new", "title": "New"}]
    approving.propose(store, plan_of(wish, "plan"), "shaper")
    return SimpleNamespace(store=store, git=None, paths=None)


def said(app, *form):
    values = rendering.values(BY_WORDS["commit-strategy"].fields, form)
    return BY_WORDS["commit-strategy"].do(app, values, "me")


def test_a_part_is_approved_and_a_part_is_refused(app):
    revision = strategy(app.store).revision
    done, text = said(app, ("revision", revision), ("only", "a\nnew"), ("without", "a:priority\n"))
    assert (done.approved, done.changes) == (("new",), ("a:title",)) and "1 bead went live" in text
    assert said(app, ("drop", "a:priority"))[1] == "dropped: a:priority"
    assert [one.bead for one in strategy(app.store).proposed] == ["b"]
    assert said(app)[0].changes == ("b:title",)
    assert said(app)[1] == "nothing needs approval"


def test_what_the_page_did_not_show_and_what_means_two_things_is_refused(app):
    revision = strategy(app.store).revision
    approving.propose(app.store, plan_of([{"id": "b", "priority": 0}], "plan"), "shaper")
    with pytest.raises(NotAllowed, match="changed while you read it"):
        said(app, ("revision", revision))
    for field in ("only", "without", "overwrite"):
        with pytest.raises(UsageError, match="--drop cannot be combined with"):
            said(app, ("drop", "a"), (field, "b"))
    for field in ("only", "drop"):
        with pytest.raises(UsageError, match="no proposal has the name"):
            said(app, (field, "b:gone"))
    assert app.store.bead("a").title == "A" and app.store.bead("b").title == "B"


def test_a_bead_is_sent_back_to_agents(app):
    bead_commands.hold(app.store, "a", "wait", actor="me")
    values = rendering.values(BY_WORDS["retry"].fields, [("bead", "a"), ("note", "mended")])
    found, text = BY_WORDS["retry"].do(app, values, "me")
    assert found.bead.held is None and text == "a is needs_tests again; the bead's hold is released (wait)"


def test_epics_of_a_proposed_plan_are_counted_apart(app):
    plan = "beads:\n  - {key: e, title: E, type: epic}\n  - {id: c, title: C, epic: e}\n"
    propose = BY_WORDS["propose"].do
    told = propose(app, {"plan": plan, "dry_run": True}, "me")[1]
    assert told == "1 draft and 1 epic would be added; nothing was written"
    assert propose(app, {"plan": plan}, "me")[1] == "1 draft and 1 epic added; `nobrakes approve` shows drafts"
