"""Steps taken back: the graph is as it was before."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Outcome, Role, Status
from nobrakes.beads.service import bead_commands
from nobrakes.daemon.service import control
from nobrakes.errors import GitFailed, NotAllowed, NothingToUndo, NotProven
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.model import Criterion, Feature
from nobrakes.git.port import Candidate, Conflict
from nobrakes.paths import Paths
from nobrakes.plans.nodes import plan_of
from nobrakes.plans.service import apply_plan
from nobrakes.review.queue import SETTING, Quarantined, as_text
from nobrakes.review.service import merges, undo
from nobrakes.review.waits import Land, Landing
from nobrakes.sessions.model import SessionKind


def seen(store):
    """All that a person would notice: not the fence, the clock or how long a bead has waited."""
    return [replace(b, updated_at=0.0, fence=0, return_to=None) for b in store.beads()], store.dependencies()


@pytest.fixture
def three(store):
    """a, b that waits for a, and the draft c."""
    apply_plan(
        store,
        plan_of([{"id": "a", "title": "A", "needs_tests": False}, {"id": "b", "title": "B", "needs": ["a"]}], "x"),
        live=True,
        actor="me",
    )
    bead_commands.add(store, "C", id="c", acceptance=["x"], actor="me")
    return store


STEPS = {
    "edit": lambda s: bead_commands.edit(
        s, "a", {"title": "New", "acceptance": ["y"], "labels": ["l"], "type": "fix"}, "me"
    ),
    "epic": lambda s: bead_commands.edit(s, "c", {"epic": "e"}, "me"),
    "hold": lambda s: bead_commands.hold(s, "a", "wait", "me"),
    "defer": lambda s: bead_commands.defer(s, "a", 1.9e9, "me"),
    "cancel": lambda s: bead_commands.cancel(s, "a", "no", "me"),
    "cancel a draft": lambda s: bead_commands.cancel(s, "c", "no", "me"),
    "done": lambda s: bead_commands.done(s, "a", "by hand", "me"),
    "depend": lambda s: bead_commands.depend(s, "c", "b", actor="me"),
    "undepend": lambda s: bead_commands.undepend(s, "b", "a", actor="me"),
    "approve": lambda s: s.approve(["c", "e"], "me"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_taken_back_leaves_what_was_before(three, step):
    bead_commands.add(three, "E", id="e", type="epic", actor="me")
    before = seen(three)
    STEPS[step](three)
    assert seen(three) != before
    told = undo.undo(three, None, "me")
    assert seen(three) == before
    assert told.text.startswith("undone: ")
    assert undo.last(three).kind is Kind.PROPOSED, "what was taken back is not taken back again"


def test_going_on_takes_back_the_step_before(three):
    before = seen(three)
    bead_commands.hold(three, "a", "one", "me")
    held = seen(three)
    bead_commands.hold(three, "a", "two", "me")
    bead_commands.release(three, "a", "me")
    bead_commands.defer(three, "a", 1.9e9, "me")
    deferred = seen(three)
    bead_commands.defer(three, "a", None, "me")
    undo.undo(three, None, "me")
    assert seen(three) == deferred
    undo.undo(three, None, "me")
    undo.undo(three, None, "me")
    assert three.bead("a").held == "two"
    undo.undo(three, None, "me")
    assert seen(three) == held
    undo.undo(three, None, "me")
    assert seen(three) == before


def test_a_named_step_is_taken_back_alone(three):
    bead_commands.edit(three, "a", {"title": "New"}, "me")
    seq = three.events()[-1].seq
    bead_commands.hold(three, "b", "x", "me")
    undo.undo(three, None, "me", seq)
    assert (three.bead("a").title, three.bead("b").held) == ("A", "x")
    with pytest.raises(NothingToUndo, match="already undone"):
        undo.undo(three, None, "me", seq)
    with pytest.raises(NothingToUndo, match="no event 9999"):
        undo.undo(three, None, "me", 9999)


def test_what_the_machine_noted_is_no_persons_step(three):
    bead_commands.hold(three, "a", "wait", "me")
    three.change("b", {"notes": "it was taken back"}, "nobrakes")
    assert undo.undo(three, None, "me").kind is Kind.HELD


def test_a_plan_is_one_step(store):
    apply_plan(store, plan_of([{"id": "a", "title": "A"}, {"id": "b", "title": "B"}], "x"), actor="me")
    found = undo.undo(store, None, "me")
    assert set(found.beads) == {"a", "b"}
    assert {bead.status for bead in store.beads()} == {Status.CANCELLED}
    with pytest.raises(NothingToUndo):
        undo.undo(store, None, "me")


def test_a_page_looks_only_at_the_latest_events_and_a_command_at_its_own(three, monkeypatch):
    monkeypatch.setattr(undo, "PAGE", 3)
    three.put([Bead(f"p{n}", "P") for n in range(8)], [], "me")
    assert undo.undoable(three, "p1") == (), "it is older than what a page reads"
    (whole,) = undo.undoable(three, after=three.events()[-1].seq - 8)
    assert whole.beads == tuple(f"p{n}" for n in range(8))
    assert undo.undoable(three, after=three.events()[-1].seq) == ()
    bead_commands.hold(three, "p1", "one", "me")
    assert [step.kind for step in undo.undoable(three, "p1")] == [Kind.HELD]


def test_what_somebody_built_on_is_not_taken_back(three):
    bead_commands.edit(three, "a", {"title": "One"}, "me")
    seq = three.events()[-1].seq
    bead_commands.edit(three, "a", {"title": "Two"}, "me")
    events = len(three.events())
    with pytest.raises(NotAllowed, match="somebody changed"):
        undo.undo(three, None, "me", seq)
    assert three.bead("a").title == "Two" and len(three.events()) == events


def test_work_that_began_is_not_made_a_draft(three):
    three.approve(["c"], "me")
    assert three.open_attempt("c", Role.TEST_WRITER, "script", ["Ada"], 60.0, None)
    with pytest.raises(NotAllowed, match="has begun"):
        undo.undo(three, None, "me")
    assert three.bead("c").status is Status.WRITING_TESTS


def test_a_dependency_comes_back_only_without_a_circle(three):
    bead_commands.undepend(three, "b", "a", actor="me")
    seq = three.events()[-1].seq
    bead_commands.depend(three, "a", "b", actor="me")
    before = seen(three)
    with pytest.raises(Exception, match="wait for each other"):
        undo.undo(three, None, "me", seq)
    assert seen(three) == before


def test_a_reopening_is_closed_again(three):
    bead_commands.cancel(three, "a", "no", "me")
    before = seen(three)
    bead_commands.reopen(three, "a", "me")
    undo.undo(three, None, "me")
    after = seen(three)
    assert [replace(b, closed_at=0) for b in after[0]] == [replace(b, closed_at=0) for b in before[0]]


class MainWithOneMerge:
    """As much of a repository as a revert asks of it."""

    def __init__(self, made=None, landings=(Landing.MOVED,), lost=False):
        self.lost = lost
        self.made = made or Candidate("c" * 40, "d" * 40)
        self.landings = list(landings)
        self.at = "b" * 40

    def catch_up(self):
        return Land(Landing.MOVED)

    def pin(self, name, commit):
        self.pinned = {name: commit}

    def main(self):
        return self.at

    def off_main(self, commits):
        return frozenset(commits) if self.lost else frozenset()

    def tree(self, commit):
        return f"tree of {commit}"

    def revert(self, commit, onto, message):
        assert (commit, onto) == ("a" * 40, self.at)
        assert ("Reverts-Bead", "m") in message.trailers
        return self.made

    def land(self, new, old):
        landing = self.landings.pop(0)
        if landing is Landing.MOVED:
            self.at = new
        return Land(landing, "you have edits in the way")

    def archived(self, bead=None):
        return [("refs/nobrakes/archive/m/1-branch", "e" * 40)]


@pytest.fixture
def merged(store):
    """A bead that was merged as aaaa…, and the number of that event."""
    store.put([Bead("m", "M", needs_tests=False, status=Status.NEEDS_REVIEW)], [], "me")
    attempt = store.open_attempt("m", Role.REVIEWER, "nobrakes", ["Reviewer"], 60.0, None)
    store.close_attempt(attempt, Kind.MERGED, Outcome.COMPLETED, merged_commit="a" * 40)
    return next(e.seq for e in store.events() if e.kind is Kind.MERGED)


def test_a_merge_is_taken_back_when_it_is_named(store, merged):
    git = MainWithOneMerge(landings=[Landing.LOST, Landing.MOVED])
    found = undo.undo(store, git, "me", merged, prove=print)
    assert found.commit == git.at == "c" * 40
    assert store.bead("m").status is Status.NEEDS_DOER and store.bead("m").merged_commit == "a" * 40
    with pytest.raises(NothingToUndo):
        undo.undo(store, git, "me", merged, prove=print)


def test_the_evidence_of_an_undo_is_kept_before_the_bead_is_open_again(store, merged):
    git, kept = MainWithOneMerge(landings=[Landing.MOVED]), []

    def killed(*told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undo.undo(store, git, "me", merged, prove=print, keep=killed)
    assert git.at == "c" * 40 and store.bead("m").status is Status.DONE
    git.made = Candidate("f" * 40, git.tree(git.at))  # taken back already: there is nothing to land
    git.revert = lambda *_: git.made

    def keep(bead, base, commit):
        kept.append((bead.id, base, commit, store.bead("m").status))

    undo.undo(store, git, "me", merged, prove=print, keep=keep)
    assert kept == [("m", "", "a" * 40, Status.DONE)] and store.bead("m").status is Status.NEEDS_DOER


def test_an_undo_reads_as_much_of_the_log_as_it_needs(three, monkeypatch):
    bead_commands.hold(three, "a", "wait", "me")
    for number in range(300):
        three.record(Event(Kind.NOTIFIED, "a", actor="Ada", data={"text": str(number)}))
    read = []
    latest = three.latest_events
    monkeypatch.setattr(three, "events", lambda *asked: pytest.fail("the whole log is read"))
    monkeypatch.setattr(three, "latest_events", lambda *asked: read.extend(found := latest(*asked)) or found)
    undo.undo(three, None, "me")
    assert three.bead("a").held is None and not [event for event in read if event.kind is Kind.NOTIFIED]


def test_a_merge_is_not_the_last_step(store, merged):
    assert undo.last(store).kind is Kind.PROPOSED


@pytest.mark.parametrize(
    ("git", "says"),
    [
        (MainWithOneMerge(made=Conflict(("x.py",))), "conflicts in x.py"),
        (MainWithOneMerge(landings=[Landing.BLOCKED]), "edits in the way"),
        (MainWithOneMerge(lost=True), "no longer on main"),
    ],
)
def test_a_merge_that_cannot_be_taken_back_stays(store, merged, git, says):
    with pytest.raises(NotAllowed, match=says):
        undo.undo(store, git, "me", merged, prove=print)
    assert store.bead("m").status is Status.DONE and store.events()[-1].kind is Kind.MERGED


def test_what_a_remote_did_not_say_is_told_as_unknown_and_can_be_said_again(store, merged):
    git = MainWithOneMerge(landings=[Landing.MOVED])
    lands = git.land
    git.land = lambda new, old: Land(Landing.BLOCKED, "origin does not answer", may_have_landed=True)
    with pytest.raises(GitFailed, match="cannot tell yet whether the merge of m was reverted") as told:
        undo.undo(store, git, "me", merged, prove=print)
    assert "Type the command again" in told.value.hint and store.bead("m").status is Status.DONE
    git.land = lands
    undo.undo(store, git, "me", merged, prove=print)
    assert store.bead("m").status is Status.NEEDS_DOER


def test_a_merge_stays_when_main_would_be_red_without_it(store, merged):
    def prove(commit):
        raise NotProven(f"{commit} is red")

    git = MainWithOneMerge(landings=[])
    with pytest.raises(NotProven, match=r"c{40} is red"):
        undo.undo(store, git, "me", merged, prove=prove)
    assert store.bead("m").status is Status.DONE and store.events()[-1].kind is Kind.MERGED


def test_undoing_a_cancel_says_where_the_work_is(store, three):
    bead_commands.cancel(three, "a", "no", "me")
    assert undo.undo(three, MainWithOneMerge(), "me").archived[0][0].startswith("refs/nobrakes/archive/")


def test_what_agents_and_the_machine_did_is_no_step(store):
    store.record(Event(Kind.PAUSED))
    store.record(Event(Kind.DAEMON_STARTED))
    with pytest.raises(NothingToUndo):
        undo.undo(store, None, "me")


SWITCHES = {
    "pause": lambda s, p: control.pause(s, p, "me"),
    "stop": lambda s, p: control.stop(s, p, "me"),
    "set": lambda s, p: control.set_limits(s, {"doers": "9"}, "me", p),
}


@pytest.mark.parametrize("step", SWITCHES)
def test_a_step_about_no_bead_is_taken_back_too(three, tmp_path, step):
    before = {name: three.setting(name) for name in ("paused", "stopping", "limits")}
    paths = Paths(str(tmp_path))
    SWITCHES[step](three, paths)
    assert {name: three.setting(name) for name in before} != before
    undo.undo(three, None, "me")
    assert {name: three.setting(name) for name in before} == before
    assert undo.last(three).kind is Kind.PROPOSED


def test_going_on_is_taken_back(three, tmp_path):
    paths = Paths(str(tmp_path))
    control.pause(three, paths, "me")
    control.resume(three, paths, "me")
    assert undo.undo(three, None, "me").kind is Kind.RESUMED and three.setting("paused") == "yes"
    assert undo.undo(three, None, "me").kind is Kind.PAUSED and three.setting("paused") is None


def test_a_stop_is_taken_back_after_its_end_was_undone(three, tmp_path):
    paths = Paths(str(tmp_path))
    control.stop(three, paths, "me")
    control.resume(three, paths, "me")
    assert undo.undo(three, None, "me").kind is Kind.RESUMED
    assert (three.setting("paused"), three.setting("stopping")) == ("yes", None), "agents are not stopped twice"
    assert undo.undo(three, None, "me").kind is Kind.PAUSED
    assert (three.setting("paused"), three.setting("stopping")) == (None, None)
    assert undo.last(three).kind is Kind.PROPOSED


def test_a_quarantine_and_its_end_are_taken_back(three):
    three.set_setting(SETTING, as_text([Quarantined("test", "a", "why", "me", 1.0)]))
    merges.lift(three, "test", "a", "me")
    undo.undo(three, None, "me")
    assert [(one.pair, one.reason) for one in control.quarantined(three)] == [(("test", "a"), "why")]


def test_a_step_that_stays_is_named_with_the_one_before(three):
    bead_commands.hold(three, "a", "wait", "me")
    hold = undo.last(three).seq
    three.record(Event(Kind.RETRIED, "b", actor="me", data={"failures": 1, "reason": ""}))
    with pytest.raises(
        NotAllowed, match=r"'retried b' .event .*cannot be undone: nobrakes has already reset"
    ) as raised:
        undo.undo(three, None, "me")
    assert f"'held a', an earlier step: `nobrakes undo {hold}`" in raised.value.hint and three.bead("a").held == "wait"
    undo.undo(three, None, "me", hold)
    assert three.bead("a").held is None


def test_dependencies_are_named_like_in_the_graph(three):
    bead_commands.depend(three, "c", "b", actor="me")
    assert Dependency("c", "b") in three.dependencies("c")
    assert undo.last(three).beads == ("c",)


def test_what_an_agent_did_is_no_step_of_the_person(three):
    bead_commands.hold(three, "a", "wait", "me")
    bead_commands.add(three, "D", id="d", actor="Session 1")
    three.record(Event(Kind.SPRINT_MOVED, None, actor="Ada", data={"sprint": 1, "state": "executing"}))
    assert undo.undo(three, None, "me").beads == ("a",) and three.bead("a").held is None


def test_a_run_on_a_red_main_is_not_undone_as_a_pause(three):
    three.record(Event(Kind.RESUMED, actor="me", data={"settings": {"red_main": "yes"}}))
    with pytest.raises(NotAllowed, match="the step let agents start although main failed its checks"):
        undo.undo(three, None, "me")
    assert three.setting("paused") is None


def test_a_step_in_a_session_is_not_passed_over(three):
    bead_commands.hold(three, "a", "wait", "me")

    def refused(step, then):
        with pytest.raises(NotAllowed, match=f"'{step}' .* cannot be undone: .*`{then}`") as found:
            undo.undo(three, None, "me")
        assert "You can undo 'held a', an earlier step: `nobrakes undo " in found.value.hint
        assert three.bead("a").held == "wait"

    begun = three.begin_session(SessionKind.PLANNING, "owner", "Port", ("script", "", ""), "Which port?", "me")
    refused("session began", f"nobrakes session end {begun.id}")
    three.say(begun.id, "Now?", "me")
    refused("session said", f"nobrakes session say {begun.id}")
    three.end_session(begun.id, "me")
    refused("session ended", "nobrakes session start")


def test_a_feature_began_in_one_step_with_its_epic(three):
    bead_commands.hold(three, "a", "wait", "me")
    three.put([Bead("login", "Login", type=BeadType.EPIC)], [], "me")
    three.begin_feature(
        Feature("login", "Login", "People log in.", (Criterion("Tests pass", "automated"),), actor="me")
    )
    with pytest.raises(NotAllowed, match="feature began login") as refused:
        undo.undo(three, None, "me")
    assert "You can undo 'held a', an earlier step: `nobrakes undo " in refused.value.hint, (
        "its epic alone is not taken back"
    )


def test_words_of_undone_steps_are_those_of_the_log(three):
    assert undo.undo(three, None, "me").text == "undone: added c"


def test_an_approval_stays_where_the_bead_moved_on_without_an_attempt(three):
    bead_commands.add(three, "E", id="e", type="epic", actor="me")
    three.approve(["e"], "me")
    three.record(Event(Kind.EPIC_LANDED, "e"))
    with pytest.raises(NotAllowed, match=r"'approved e' .* cannot be undone: e has moved on"):
        undo.undo(three, None, "me")
    assert three.bead("e").status is Status.NEEDS_REVIEW


def test_only_a_step_that_can_be_undone_is_named(three):
    bead_commands.hold(three, "a", "wait", "me")
    hold = undo.last(three).seq
    three.approve(["c"], "me")
    assert three.open_attempt("c", Role.TEST_WRITER, "script", ["Ada"], 60.0, None)
    three.record(Event(Kind.RETRIED, "b", actor="me", data={"failures": 1, "reason": ""}))
    before = seen(three), len(list(three.events()))
    with pytest.raises(NotAllowed) as raised:
        undo.undo(three, None, "me")
    assert raised.value.hint == f"You can undo 'held a', an earlier step: `nobrakes undo {hold}`.", (
        "work on c has begun"
    )
    assert (seen(three), len(list(three.events()))) == before, "trying leaves nothing"


def test_a_closed_bead_names_the_way_back(three):
    bead_commands.done(three, "a", "by hand", "me")
    added = next(one.seq for one in undo.steps_back(three) if one.kind is Kind.PROPOSED and "a" in one.beads)
    with pytest.raises(NotAllowed, match="a is already done; `nobrakes reopen a` opens the bead again"):
        undo.undo(three, None, "me", added)


def test_what_is_offered_to_be_undone_is_not_refused(three):
    bead_commands.hold(three, "a", "wait", "me")
    [hold, *_] = undo.undoable(three, "a")
    assert hold.kind is Kind.HELD and undo.undoable(three, "b") and not undo.undoable(three, after=hold.seq)
    bead_commands.release(three, "a", "me")
    assert three.open_attempt("a", Role.DOER, "script", ("Ada",), 600.0, None) is not None
    offered = undo.undoable(three, "a")
    assert [step.kind for step in offered] == [Kind.RELEASED, Kind.HELD], "its plan cannot be taken back: work began"
    for step in offered:
        undo.undo(three, None, "me", step.seq)
