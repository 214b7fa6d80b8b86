"""A rollback as far as the store goes: at once where nothing is on main, else a bead stands for it until it is done."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Outcome, Status
from nobrakes.beads.proposals import is_built, reverted_merges
from nobrakes.beads.service import taking
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.model import Feature, Stage, State, Step
from nobrakes.features.service import approving, controls, rollback
from nobrakes.git.port import Made
from nobrakes.paths import Paths
from nobrakes.review.service import undo as undoing
from nobrakes.review.service.undo import undo
from nobrakes.sessions.model import Fact, SessionKind
from nobrakes.sessions.model import State as At
from nobrakes.store import Store


class Line:
    """A main of which only these commits are known, newest first."""

    commits: tuple[str, ...] = ()

    def main(self) -> str:
        return self.commits[0]

    def has(self, commit: str) -> bool:
        return True

    def off_main(self, commits: list[str]) -> frozenset[str]:
        return frozenset(commits) - frozenset(self.commits)

    def fork(self, one: str, other: str) -> str:
        return self.commits[-1]

    def pin(self, name: str, commit: str | None) -> None:
        pass

    def came_through(self, base: str, head: str) -> None:
        pass

    def line(self, tip: str, since: str) -> tuple[Made, ...]:
        return tuple(Made(commit, "", (), "", "") for commit in self.commits)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(str(tmp_path))


@pytest.fixture
def git() -> Any:
    return Line()


def begun(store: Store, **more: Any) -> None:
    """A feature with an open bead, a draft, and one that was done by hand."""
    store.put([Bead("login", "Login", type=BeadType.EPIC, status=Status.OPEN)], [], "me")
    store.begin_feature(Feature("login", "Login", "People log in.", base="c0de", **more))
    waits = {"status": Status.NEEDS_DOER, "epic": "login", "needs_tests": False}
    store.put([Bead(id_, id_, **waits) for id_ in ("open", "own")] + [Bead("draft", "Draft", epic="login")], [], "me")  # type: ignore[arg-type]
    store.record(Event(Kind.DONE_BY_HAND, "own", actor="me"))


def merged(store: Store, *ids: str) -> None:
    for id_ in ids:
        store.put([Bead(id_, id_, epic="login", needs_tests=False, status=Status.NEEDS_DOER)], [], "me")
        store.record(Event(Kind.FOUND_MERGED, id_, data={"merged_commit": f"c-{id_}", "base": "c0de"}))


def statuses(store: Store) -> dict[str, str]:
    return {bead.id: bead.status.value for bead in store.beads()}


def test_a_feature_of_which_nothing_is_on_main_is_rolled_back_at_once(store: Store, paths: Paths, git: Any) -> None:
    begun(store)
    session = store.begin_session(SessionKind.PLANNING, "bead:login", "Login", ("a", "p", ""), "Begin", "me", {})
    store.change_feature("login", {"session": session.id}, "me")
    seen = rollback.look(store, git, "login")
    assert {one.bead for one in seen.cancels} == {"open", "draft"} and seen.reverts == () and not seen.is_begun
    counted = rollback.counted(store, store.feature("login"))
    assert counted is not None and (counted.cancels, counted.reverts) == (2, 0)
    done = rollback.begin(store, git, paths, "login", "ada")
    assert done.is_over and done.bead == "" and rollback.counted(store, store.feature("login")) is None
    assert statuses(store) == {"login": "cancelled", "open": "cancelled", "draft": "cancelled", "own": "done"}
    assert store.session(session.id).state is At.ENDED and store.feature("login").state is State.ROLLED_BACK
    (told,) = [one for one in store.events(0, 100) if one.kind is Kind.FEATURE_MOVED]
    assert told.actor == "ada" and store.features() == []
    with pytest.raises(NotAllowed, match="already rolled back"):
        rollback.begin(store, git, paths, "login", "ada")
    with pytest.raises(NotAllowed):
        controls.resume(store, paths, "login", "ada")


@pytest.mark.parametrize("state", [State.ACTIVE, State.COMPLETED])
def test_what_is_on_main_waits_for_a_bead_that_takes_it_back(
    store: Store, paths: Paths, git: Any, state: State
) -> None:
    begun(store, stage=Stage.IMPLEMENTATION)
    merged(store, "one", "two", "gone")
    if state is State.COMPLETED:
        store.move_feature("login", Step.MERGED, "nobrakes")
        rollback.give_up(store, "login", "me")
        store.record(Event(Kind.EPIC_COMPLETED, "login"))
    git.commits = ("c-two", "x", "c-one")
    done = rollback.begin(store, git, paths, "login", "ada")
    assert [one.bead for one in done.reverts] == ["two", "one"] and [one.bead for one in done.off_main] == ["gone"]
    bead = store.bead(done.bead)
    assert bead.held is not None and bead.scaffolding and bead.epic is None
    feature = store.feature("login")
    assert feature.state is (State.PAUSED if state is State.ACTIVE else state) and store.features() == [feature]
    assert statuses(store)["one"] == "done" and statuses(store)["open"] == "cancelled"
    for refused in (
        lambda: rollback.begin(store, git, paths, "login", "ada"),
        lambda: controls.resume(store, paths, "login", "me"),
    ):
        with pytest.raises(NotAllowed, match="is rolling feature"):
            refused()
    taken = rollback.landed(store, "login")
    assert {one.bead for one in taken} == {"one", "two", "gone"} and {one.base for one in taken} == {"c0de"}
    store.record(Event(Kind.REOPENED, "two", actor="me"))  # a person has it done again meanwhile
    rollback.end(store, "login", "ada", [one for one in taken if one.bead != "gone"], "taken off", "revert")
    after = statuses(store)
    assert (after["one"], after["two"], after["gone"], after["login"]) == (
        "cancelled",
        "cancelled",
        "done",
        "cancelled",
    )
    assert store.feature("login").state is State.ROLLED_BACK and store.features() == []
    (reverted,) = [one for one in store.events(0, 200) if one.kind is Kind.REVERTED]
    assert reverted.bead == "one" and reverted.data["revert"] == "revert" and reverted.actor.startswith("ada")


def test_what_a_rollback_gives_up_is_no_step_that_undo_takes_back_by_itself(
    store: Store, paths: Paths, git: Any
) -> None:
    begun(store)
    rollback.begin(store, git, paths, "login", "ada")
    with pytest.raises(NotAllowed, match="'feature moved login'") as raised:
        undo(store, None, "ada")
    assert "'done by hand" in raised.value.hint and statuses(store)["open"] == "cancelled"


def test_a_bead_that_lands_just_now_is_left_and_taken_back_with_the_rest(
    store: Store, paths: Paths, git: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(store)
    merged(store, "one")
    git.commits = ("c-open", "c-one")
    real = store.record

    def record(event: Event) -> Any:
        if event.bead == "open" and event.kind is Kind.CANCELLED:
            raise NotAllowed("too late")
        return real(event)

    with monkeypatch.context() as late:
        late.setattr(store, "record", record)
        done = rollback.begin(store, git, paths, "login", "ada")
    assert [one.bead for one in done.cancels] == ["draft"] and statuses(store)["open"] == "needs_doer"
    store.record(Event(Kind.FOUND_MERGED, "open", data={"merged_commit": "c-open", "base": "c-one"}))
    taken = rollback.takes_back(store, git, done.bead)
    assert [one.commit for one in taken] == ["c-open", "c-one"] and rollback.takes_back(store, git, "one") == ()
    rollback.end(store, "login", "ada", taken, "taken off", "revert")
    assert (statuses(store)["open"], statuses(store)["one"]) == ("cancelled", "cancelled")


def test_where_main_holds_none_of_its_merges_any_more_it_is_over_at_once(store: Store, paths: Paths, git: Any) -> None:
    begun(store)
    merged(store, "one", "two")
    git.commits = ("x",)
    done = rollback.begin(store, git, paths, "login", "ada")
    assert done.is_over and done.bead == "" and len(done.off_main) == 2 and done.reverts == ()


def test_all_merges_of_a_bead_that_nobody_took_back_are_taken_back(store: Store, paths: Paths, git: Any) -> None:
    begun(store)
    merged(store, "one", "two", "three")
    store.record(Event(Kind.REOPENED, "one", actor="me"))  # and it is open when the feature is rolled back
    store.record(Event(Kind.REOPENED, "two", actor="me"))
    store.record(Event(Kind.FOUND_MERGED, "two", data={"merged_commit": "c-more", "base": "c-two"}))
    store.record(Event(Kind.REVERTED, "three", actor="me", data={"commit": "c-three", "revert": "r"}))
    store.record(Event(Kind.DONE_BY_HAND, "three", actor="me"))
    git.commits = ("c-more", "r", "c-three", "c-two", "c-one")
    assert [one.commit for one in rollback.look(store, git, "login").reverts] == ["c-more", "c-two", "c-one"]
    taken = rollback.takes_back(store, git, rollback.begin(store, git, paths, "login", "ada").bead)
    rollback.end(store, "login", "ada", taken, "taken off", "revert")
    assert undoing.standing(store, store.bead("two")) == (), "its two merges are taken back by one event"
    assert {name: statuses(store)[name] for name in ("one", "two", "three")} == {
        "one": "cancelled", "two": "cancelled", "three": "done"
    }  # fmt: skip


@pytest.mark.parametrize("ends", ["begins", "ends", "off"])
def test_what_nobrakes_asked_about_it_is_settled(store: Store, paths: Paths, git: Any, ends: str) -> None:
    begun(store)
    merged(store, "one")
    git.commits = ("c-one",)
    if ends != "begins":
        rollback.begin(store, git, paths, "login", "ada")
    for about in ("budget", "rollback"):
        asked = store.escalate(NewEscalation(EscalationType.QUESTION, f"{about}?"), None, None, "nobrakes")
        known = store.feature("login").data.get("asked", {})
        store.note_feature("login", {"asked": {**known, about: asked.id}, "held": "budget"}, "nobrakes")
    if ends == "begins":
        rollback.begin(store, git, paths, "login", "ada")
    elif ends == "ends":
        rollback.end(store, "login", "ada", (), "over")
    else:
        assert rollback.off(store, "login", "ada", "why not") and not rollback.off(store, "login", "ada", "why not")
    assert len(store.escalations()) == (1 if ends == "off" else 0)
    data = store.feature("login").data
    assert ("asked" in data, "held" in data) == ((True, True) if ends == "off" else (False, False))


def test_while_it_is_rolled_back_neither_a_yes_to_its_plan_nor_an_answer_makes_it_go_on(
    store: Store, paths: Paths, git: Any
) -> None:
    expired(store)
    merged(store, "one")
    git.commits = ("c-one",)
    rollback.begin(store, git, paths, "login", "ada")
    for way in (controls.Way.FRESH, controls.Way.FROM_BASE):
        with pytest.raises(NotAllowed, match="is rolling feature"):
            controls.go_on(store, "login", way, "ada")
    with pytest.raises(NotAllowed, match="is rolling feature"):
        approving.feature_approval_approved(store, ["open"], (), "ada")
    assert store.feature("login").state is State.EXPIRED


def test_what_a_person_hands_in_for_it_takes_the_merges_back(
    store: Store, paths: Paths, git: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(store)
    merged(store, "one")
    git.commits = ("c-one",)
    bead = rollback.begin(store, git, paths, "login", "ada").bead
    monkeypatch.setattr(taking, "_found", lambda *_: (None, "mine", "head"))
    here: Any = SimpleNamespace(store=store, git=git, persons=None, paths=paths, pattern="", git_of=lambda bead: git)
    taking.hand_in(here, bead, "ada")
    attempts = store.attempts(bead)
    assert [one.commit for one in reverted_merges(attempts)] == ["c-one"] and not is_built(attempts)


def expired(store: Store) -> int:
    begun(store, stage=Stage.REVIEW, plan=1, round=2)
    session = store.begin_session(SessionKind.PLANNING, "bead:login", "Login", ("a", "p", ""), "Begin", "me", {})
    store.change_feature("login", {"session": session.id}, "me")
    store.move_feature("login", Step.EXPIRED, "nobrakes")
    return session.id


def test_an_expired_feature_goes_on_from_the_terminal_in_three_ways(store: Store, paths: Paths) -> None:
    session = expired(store)
    looked = controls.resume(store, paths, "login", "me", controls.Way.VIEW)
    assert looked.state is State.EXPIRED and looked.data["left"] == store.session(session).waiting
    fresh = controls.resume(store, paths, "login", "me")
    assert (fresh.state, fresh.stage, "left" in fresh.data) == (State.ACTIVE, Stage.REVIEW, False)
    with pytest.raises(NotAllowed, match="only an expired feature"):
        controls.resume(store, paths, "login", "me", controls.Way.FROM_BASE)
    store.move_feature("login", Step.EXPIRED, "nobrakes")
    anew = controls.resume(store, paths, "login", "me", controls.Way.FROM_BASE)
    assert (anew.state, anew.stage) == (State.ACTIVE, Stage.DISCOVERY) and statuses(store)["draft"] == "cancelled"
    assert store.messages(session)[-1].text == controls.PLANNING_RESTARTED and statuses(store)["open"] == "needs_doer"


def test_a_feature_that_did_not_go_on_is_tried_again_by_who_resumes_it(store: Store, paths: Paths) -> None:
    begun(store)
    session = store.begin_session(SessionKind.PLANNING, "bead:login", "Login", ("a", "p", ""), "Begin", "me", {}).id
    store.change_feature("login", {"session": session}, "me")
    opened = store.open_turn(session)
    assert opened is not None
    store.close_turn(opened[0].id, Fact.GAVE_UP, Outcome.MISSING_EXECUTABLE, "there is no a", resends=True)
    store.move_feature("login", Step.FAILED, "nobrakes")
    assert controls.resume(store, paths, "login", "me").state is State.ACTIVE
    assert store.session(session).state is At.READY


def test_a_question_about_an_expired_feature_is_settled_by_who_resumes_it(store: Store, paths: Paths) -> None:
    expired(store)
    asked = store.escalate(NewEscalation(EscalationType.QUESTION, "How?"), None, None, "nobrakes")
    store.note_feature("login", {"asked": {"expired": asked.id}, "held": "expired"}, "nobrakes")
    after = controls.resume(store, paths, "login", "me", controls.Way.FRESH)
    assert store.escalations() == [] and "asked" not in after.data and "held" not in after.data
