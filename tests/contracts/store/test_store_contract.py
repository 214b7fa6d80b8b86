"""What every store does, on the store in memory and on the one in a file."""

from typing import Any

import pytest

from nobrakes.core.attempt import Attempt, AttemptLog, Run, RunKind
from nobrakes.core.bead import Bead, BeadType, Dependency, DependencyType, Role, Status
from nobrakes.core.board import Limits
from nobrakes.core.errors import BadBead, Deadlock, NoSuchBead, NoSuchEscalation, NotAllowed, Stale
from nobrakes.core.escalations import EscalationType
from nobrakes.core.events import Event, Kind
from nobrakes.core.outcomes import Outcome
from nobrakes.ports import NewEscalation, Store

NAMES = ["Ada", "Bob", "Cleo"]
PARENT = DependencyType.PARENT_CHILD


def bead(id_: str, **more: Any) -> Bead:
    return Bead(id_, f"Do {id_}", **({"status": Status.NEEDS_DOER, "needs_tests": False} | more))


def epic(id_: str, **more: Any) -> Bead:
    return Bead(id_, f"All of {id_}", BeadType.EPIC, **({"status": Status.OPEN} | more))


def ready(store: Store) -> list[str]:
    return [one.id for one in store.ready(100)]


def claim(store: Store, id_: str, role: Role = Role.DOER) -> Attempt:
    attempt = store.open_attempt(id_, role, "script", NAMES, 60.0, "f" * 40)
    assert attempt is not None
    return attempt


def finish(store: Store, id_: str) -> None:
    store.close_attempt(claim(store, id_), Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    store.close_attempt(claim(store, id_, Role.REVIEWER), Kind.MERGED, Outcome.COMPLETED, merged_commit="c" * 40)


# --- the graph -----------------------------------------------------------------------------------


def test_a_bead_comes_back_as_it_was_put(store: Store) -> None:
    given = Bead(
        "nb-1",
        "Title – ünïcode",
        BeadType.FIX,
        "text\nwith lines",
        ("one", "two"),
        1,
        ("a", "b"),
        None,
        45,
        True,
        True,
        ("src/**",),
        "notes",
        {"k": [1, {"x": None}]},
        created_at=5.0,
        updated_at=6.0,
    )
    store.put([given], [], "me")
    assert store.bead("nb-1") == given
    assert store.beads() == [given] == store.beads([Status.DRAFT]) == store.beads(ids=["nb-1"])
    assert store.beads([Status.DONE]) == store.beads(ids=["nb-2"]) == []
    assert [n.title for n in store.nodes()] == [given.title]


def test_put_writes_all_or_nothing(store: Store) -> None:
    store.put([bead("a")], [], "me")
    for beads, edges, error in (
        ([bead("b"), bead("a")], [], BadBead),
        ([bead("b"), bead("b")], [], BadBead),
        ([bead("b"), bead("x y")], [], BadBead),
        ([bead("b")], [Dependency("b", "ghost")], NoSuchBead),
        ([bead("b", epic="ghost")], [], NoSuchBead),
        ([bead("b")], [Dependency("b", "a"), Dependency("a", "b")], Deadlock),
        ([bead("b")], [Dependency("b", "b")], Deadlock),
        ([epic("b"), bead("c", epic="b")], [Dependency("c", "a"), Dependency("a", "b")], Deadlock),
        ([epic("e"), epic("f"), bead("b", epic="e")], [Dependency("b", "f", PARENT)], BadBead),
    ):
        with pytest.raises(error):
            store.put(beads, edges, "me")
    assert [one.id for one in store.beads()] == ["a"]
    assert len(store.events()) == 1


@pytest.mark.parametrize("count", [20, 400])
def test_a_small_and_a_large_import_count_alike(store: Store, count: int) -> None:
    beads = [epic("e")] + [bead(f"b{i:03}", epic="e", estimate=2) for i in range(count)]
    store.put(beads[::-1], [Dependency(f"b{i:03}", f"b{i - 1:03}") for i in range(1, count)], "me")
    assert ready(store) == ["b000"]
    circle = [Dependency("b000", f"b{count - 1:03}")]
    with pytest.raises(Deadlock):
        store.put([bead(f"more{i}") for i in range(count)], circle, "me")
    assert len(store.beads()) == count + 1


def test_a_bead_put_as_worked_on_waits_again(store: Store) -> None:
    store.put([bead("a", status=Status.DOING, assignee="Zoe", lease_until=9.0, fence=7)], [], "me")
    found = store.bead("a")
    assert (found.status, found.assignee, found.fence) == (Status.NEEDS_DOER, None, 7)
    assert ready(store) == ["a"]


def test_change_sets_fields_and_says_what_differed(store: Store) -> None:
    store.put([bead("a", labels=("x",))], [], "me")
    after = store.change("a", {"title": "New", "labels": ("x", "y"), "priority": 2}, "me")
    assert (after.title, after.labels) == ("New", ("x", "y")) == (store.bead("a").title, store.bead("a").labels)
    assert store.events()[-1].data == {
        "fields": {"title": {"before": "Do a", "after": "New"}, "labels": {"before": ["x"], "after": ["x", "y"]}}
    }
    store.change("a", {"title": "New"}, "me")
    assert len(store.events()) == 2
    for fields, error in (({"status": "done"}, BadBead), ({"priority": 9}, BadBead), ({"epic": "ghost"}, NoSuchBead)):
        with pytest.raises(error):
            store.change("a", fields, "me")


def test_epic_and_parent_child_are_one_fact(store: Store) -> None:
    store.put([epic("e"), epic("f"), bead("a"), bead("b", epic="e")], [Dependency("a", "e", PARENT)], "me")
    assert store.bead("a").epic == "e"
    assert store.dependencies("b") == [Dependency("b", "e", PARENT)]
    assert store.dependencies("e") == [Dependency("a", "e", PARENT), Dependency("b", "e", PARENT)]
    with pytest.raises(BadBead):
        store.add_dependency(Dependency("a", "f", PARENT), "me")
    store.remove_dependency(Dependency("a", "e", PARENT), "me")
    assert store.bead("a").epic is None
    store.change("a", {"epic": "f"}, "me")
    assert store.dependencies("a") == [Dependency("a", "f", PARENT)]
    with pytest.raises(Deadlock):
        store.change("f", {"epic": "a"}, "me")


def test_dependencies_come_and_go(store: Store) -> None:
    store.put([bead("a"), bead("b"), bead("c")], [Dependency("b", "a")], "me")
    store.add_dependency(Dependency("c", "b"), "me")
    store.add_dependency(Dependency("c", "a", DependencyType.RELATED), "me")
    store.add_dependency(Dependency("c", "b"), "me")
    before = store.dependencies()
    assert before == [Dependency("b", "a"), Dependency("c", "a", DependencyType.RELATED), Dependency("c", "b")]
    with pytest.raises(Deadlock, match="a -> c -> b -> a"):
        store.add_dependency(Dependency("a", "c"), "me")
    with pytest.raises(NoSuchBead):
        store.add_dependency(Dependency("a", "ghost"), "me")
    assert store.dependencies() == before
    store.remove_dependency(Dependency("b", "a"), "me")
    store.remove_dependency(Dependency("b", "a"), "me")
    assert ready(store) == ["a", "b"]
    kinds = [event.kind for event in store.events() if event.kind is not Kind.PROPOSED]
    assert kinds == [Kind.DEPENDENCY_ADDED] * 2 + [Kind.DEPENDENCY_REMOVED]


def test_reopening_may_not_close_a_circle(store: Store) -> None:
    store.put([bead("a"), bead("b", status=Status.DONE)], [Dependency("a", "b"), Dependency("b", "a")], "me")
    with pytest.raises(Deadlock):
        store.record(Event(Kind.REOPENED, "b"))
    assert store.bead("b").status is Status.DONE


# --- readiness and order -------------------------------------------------------------------------


def test_the_order_is_class_then_chain_then_age_then_id(store: Store, clock: Any) -> None:
    store.put([bead("old")], [], "me")
    clock.time += 1
    store.put([bead("z"), bead("y"), bead("long", estimate=9), bead("first", priority=0)], [], "me")
    assert ready(store) == ["first", "long", "old", "y", "z"]
    clock.time += 3 * 24 * 3600
    store.put([bead("new", priority=0)], [], "me")
    assert ready(store) == ["first", "long", "old", "y", "z", "new"]


def test_done_lets_those_behind_in_and_cancelled_does_not(store: Store) -> None:
    store.put([bead("a"), bead("b"), bead("c")], [Dependency("b", "a"), Dependency("c", "b")], "me")
    finish(store, "a")
    assert ready(store) == ["b"]
    store.record(Event(Kind.CANCELLED, "b", data={"reason": "no"}))
    assert ready(store) == []
    store.record(Event(Kind.REOPENED, "b"))
    store.record(Event(Kind.DONE_BY_HAND, "b"))
    assert ready(store) == ["c"]


def test_a_parent_that_is_held_deferred_or_blocked_closes_its_children_off(store: Store, clock: Any) -> None:
    store.put([bead("b"), epic("e"), epic("f", epic="e"), bead("a", epic="f")], [], "me")
    store.record(Event(Kind.HELD, "e", data={"reason": "think"}))
    assert ready(store) == ["b"]
    store.record(Event(Kind.RELEASED, "e"))
    assert ready(store) == ["a", "b"]
    store.record(Event(Kind.DEFERRED, "e", data={"until": clock.time + 50}))
    assert ready(store) == ["b"]
    assert store.board(Limits()).wake_at == clock.time + 50
    clock.time += 50
    assert ready(store) == ["b", "a"] or ready(store) == ["a", "b"]
    store.add_dependency(Dependency("e", "b"), "me")
    assert ready(store) == ["b"]
    finish(store, "b")
    assert ready(store) == ["a"]


def test_a_retry_is_waited_for(store: Store, clock: Any) -> None:
    store.put([bead("a")], [], "me")
    store.close_attempt(claim(store, "a"), Kind.DOER_STOPPED, Outcome.NETWORK, retry_at=clock.time + 30)
    board = store.board(Limits())
    assert (board.ready, board.wake_at, board.retry_at) == ((), clock.time + 30, clock.time + 30)
    assert store.open_attempt("a", Role.DOER, "script", NAMES, 60.0, None) is None
    clock.time += 30
    assert [one.id for one in store.board(Limits()).ready] == ["a"]
    assert store.board(Limits()).wake_at is None


def test_approve_makes_all_or_none_live(store: Store) -> None:
    store.put([bead("a", status=Status.DRAFT), bead("b", status=Status.DRAFT), bead("c")], [], "me")
    with pytest.raises(NotAllowed):
        store.approve(["a", "c"], "me")
    assert store.bead("a").status is Status.DRAFT
    store.approve(["a", "b"], "me")
    assert ready(store) == ["c", "a", "b"] or ready(store) == ["a", "b", "c"]


def test_epics_are_complete_when_their_children_are_closed(store: Store) -> None:
    store.put([epic("empty"), epic("e"), bead("a", epic="e"), bead("b", epic="e")], [], "me")
    store.put([epic("dropped"), bead("c", epic="dropped")], [], "me")
    finish(store, "a")
    store.record(Event(Kind.CANCELLED, "c"))
    assert store.board(Limits()).epics_done == ()
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.EPIC_COMPLETED, "e"))
    store.record(Event(Kind.CANCELLED, "b"))
    assert store.board(Limits()).epics_done == ("e",)
    store.record(Event(Kind.EPIC_COMPLETED, "e"))
    assert store.bead("e").status is Status.DONE
    assert store.board(Limits()).epics_done == ()


# --- attempts ------------------------------------------------------------------------------------


def test_a_claim_takes_the_bead(store: Store, clock: Any) -> None:
    store.put([bead("a"), bead("b", status=Status.NEEDS_TESTS, needs_tests=True)], [], "me")
    first, second = claim(store, "a"), claim(store, "b", Role.TEST_WRITER)
    assert (first.name, second.name, first.fence, first.number) == ("Ada", "Bob", 1, 1)
    held = store.bead("a")
    assert (held.status, held.assignee, held.lease_until) == (Status.DOING, "Ada", clock.time + 60)
    assert store.bead("b").status is Status.WRITING_TESTS
    assert store.open_attempt("a", Role.DOER, "script", NAMES, 60.0, None) is None
    assert store.open_attempt("b", Role.DOER, "script", NAMES, 60.0, None) is None
    assert store.board(Limits()).attempts == (first, second) == (store.attempt(first.id), store.attempts("b")[0])
    with pytest.raises(NoSuchBead):
        store.open_attempt("ghost", Role.DOER, "script", NAMES, 60.0, None)


def test_names_go_round_and_skip_those_in_use(store: Store) -> None:
    store.put([bead(f"b{i}") for i in range(6)], [], "me")
    kept = claim(store, "b0")
    names = [kept.name]
    for i in range(1, 5):
        attempt = claim(store, f"b{i}")
        names.append(attempt.name)
        store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)
    assert names == ["Ada", "Bob", "Cleo", "Bob", "Cleo"]


def test_an_attempt_ends_once(store: Store) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    log = AttemptLog("did it", "none", "much", False)
    after = store.close_attempt(
        attempt,
        Kind.DOER_STOPPED,
        Outcome.FAILED,
        detail="why",
        head="a" * 40,
        log=log,
        data={"k": 1},
        counts=True,
    )
    assert (after.status, after.failures, after.assignee, after.branch_kept) == (Status.NEEDS_DOER, 1, None, False)
    ended = store.attempt(attempt.id)
    assert (ended.outcome, ended.detail, ended.head, ended.log, ended.data) == (
        Outcome.FAILED,
        "why",
        "a" * 40,
        log,
        {"k": 1},
    )
    with pytest.raises(Stale):
        store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    assert store.bead("a") == after


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.ESCALATED])
def test_a_person_takes_a_bead_away_from_its_agent(store: Store, kind: Kind) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    store.record(Event(kind, "a", actor="me"))
    taken = store.bead("a")
    assert (taken.assignee, taken.fence) == (None, attempt.fence + 1)
    assert store.attempt(attempt.id).outcome is Outcome.CANCELLED
    assert store.events()[-1].attempt == attempt.id
    assert store.events()[-1].data["before"] == "doing"
    with pytest.raises(Stale):
        store.door(attempt.token)
    with pytest.raises(Stale):
        store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)


def test_a_door_opens_for_its_own_token_only(store: Store) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    assert store.door(attempt.token) == attempt
    for wrong in ("", "1", f"{attempt.id}.", attempt.token + "x", attempt.token[:-1], "9" * 40, "²", "é\udc80"):
        with pytest.raises(Stale):
            store.door(wrong)
    store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)
    with pytest.raises(Stale):
        store.door(attempt.token)


def test_work_comes_into_being_by_a_claim_only(store: Store) -> None:
    store.put([bead("a")], [], "me")
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.DOER_STARTED, "a"))
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.MERGED, "a"))
    assert len(store.events()) == 1


def test_the_branch_is_kept_unless_the_agent_or_the_machine_drops_it(store: Store) -> None:
    store.put([bead("a", status=Status.NEEDS_TESTS, needs_tests=True)], [], "me")
    drop = AttemptLog(keep_branch=False)
    for role, kind, log, kept in (
        (Role.TEST_WRITER, Kind.TEST_WRITER_STOPPED, None, True),
        (Role.TEST_WRITER, Kind.TEST_WRITER_STOPPED, drop, False),
        (Role.TEST_WRITER, Kind.TESTS_PROVEN_RED, drop, True),
        (Role.DOER, Kind.WORK_SUBMITTED, None, True),
        (Role.REVIEWER, Kind.REVIEW_REJECTED, None, True),
        (Role.DOER, Kind.WORK_SUBMITTED, None, True),
        (Role.REVIEWER, Kind.REVIEW_REJECTED, drop, False),
    ):
        assert store.close_attempt(claim(store, "a", role), kind, Outcome.FAILED, log=log).branch_kept is kept


def test_leases_are_renewed_when_a_third_is_gone(store: Store, clock: Any) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    first = store.bead("a").lease_until
    store.renew([attempt.id], 60.0)
    assert store.bead("a").lease_until == first
    clock.time += 25
    store.renew([attempt.id], 60.0)
    assert store.bead("a").lease_until == clock.time + 60


def test_runs_and_the_journal(store: Store, clock: Any) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    store.journal(attempt.id, {"step": "rebase"})
    assert store.attempt(attempt.id).data == {"step": "rebase"}
    run = Run(f"{attempt.id}-agent", attempt.id, RunKind.AGENT, clock.time)
    store.plan_run(run)
    store.plan_run(run)
    store.update_run(run.id, pid=12, born="boot", stopping=Outcome.STALLED, term_at=3.0)
    (found,) = store.runs()
    assert (found.pid, found.born, found.stopping, found.term_at) == (12, "boot", Outcome.STALLED, 3.0)
    assert store.board(Limits()).runs == {attempt.id: found}
    store.end_run(run.id)
    store.end_run(run.id)
    assert store.runs() == []


# --- people --------------------------------------------------------------------------------------


def ask(title: str = "which?") -> NewEscalation:
    return NewEscalation(EscalationType.QUESTION, title, "detail", {"k": 1}, "guess")


def test_an_escalation_stops_its_bead_and_gives_it_back(store: Store) -> None:
    store.put([bead("a", status=Status.NEEDS_REVIEW), bead("b"), bead("c")], [Dependency("b", "a")], "me")
    filed = store.escalate(ask(), "a", None, "me")
    assert (store.bead("a").status, filed.return_to, filed.behind) == (Status.ESCALATED, Status.NEEDS_REVIEW, 1)
    assert store.escalate(ask("WHICH? "), "a", None, "me") == filed
    other = store.escalate(NewEscalation(EscalationType.CONFLICT, "x"), "a", None, "me")
    less = store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "idea"), "c", None, "me")
    assert store.bead("c").status is Status.NEEDS_DOER
    assert [e.id for e in store.escalations()] == [filed.id, other.id, less.id]
    answered = store.answer(filed.id, "that", "me")
    assert (answered.answer, answered.resolution) == ("that", "answered")
    assert store.bead("a").status is Status.ESCALATED
    for again in (lambda: store.answer(filed.id, "no", "me"), lambda: store.resolve(filed.id, "no", "me")):
        with pytest.raises(NotAllowed):
            again()
    store.resolve(other.id, "go", "me")
    assert (store.bead("a").status, store.bead("a").failures) == (Status.NEEDS_REVIEW, 0)
    assert [e.id for e in store.escalations()] == [less.id]
    assert {e.id for e in store.escalations(open_only=False)} == {filed.id, other.id, less.id}
    with pytest.raises(NoSuchEscalation):
        store.escalation(99)
    # what was resolved may be asked again
    assert store.escalate(ask(), "a", None, "me").id not in (filed.id, other.id, less.id)


def test_a_person_may_send_the_bead_elsewhere(store: Store) -> None:
    store.put([bead("a", failures=3)], [], "me")
    number = store.escalate(ask(), "a", None, "me").id
    with pytest.raises(NotAllowed):
        store.resolve(number, "x", "me", Status.DOING)
    assert store.escalation(number).resolved_at is None
    store.resolve(number, "x", "me", Status.NEEDS_TESTS)
    assert (store.bead("a").status, store.bead("a").failures) == (Status.NEEDS_TESTS, 0)


def test_a_question_stops_the_bead_when_the_attempt_ends(store: Store) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    attempt = claim(store, "a")
    asked = store.escalate(ask(), "a", attempt.id, attempt.name)
    assert store.bead("a").status is Status.DOING
    after = store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_REVIEW)
    store.answer(asked.id, "this", "me")
    assert store.bead("a").status is Status.NEEDS_REVIEW
    # answered while the agent still works: nothing is stopped
    attempt = claim(store, "b")
    store.answer(store.escalate(ask(), "b", attempt.id, attempt.name).id, "now", "me")
    assert store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED).status is Status.NEEDS_REVIEW


def test_an_attempt_ends_with_its_escalation(store: Store) -> None:
    store.put([bead("a")], [], "me")
    new = NewEscalation(EscalationType.REPEATED_FAILURE, "three times")
    after = store.close_attempt(claim(store, "a"), Kind.DOER_STOPPED, Outcome.FAILED, counts=True, escalation=new)
    assert (after.status, after.return_to) == (Status.ESCALATED, Status.NEEDS_DOER)
    (filed,) = store.escalations()
    assert (filed.type, filed.return_to, filed.attempt) == (EscalationType.REPEATED_FAILURE, Status.NEEDS_DOER, 1)
    assert [e.kind for e in store.events()][-2:] == [Kind.DOER_STOPPED, Kind.ESCALATED]


def test_closing_a_bead_settles_what_it_asked(store: Store) -> None:
    store.put([bead("a")], [], "me")
    store.escalate(ask(), "a", None, "me")
    store.record(Event(Kind.CANCELLED, "a"))
    assert store.escalations() == []


# --- undoing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.DONE_BY_HAND])
@pytest.mark.parametrize("status", [Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW])
def test_a_closed_bead_remembers_where_it_was(store: Store, kind: Kind, status: Status) -> None:
    store.put([bead("a", status=status, failures=2)], [], "me")
    store.record(Event(kind, "a", data={"reason": "because"}))
    closed = store.bead("a")
    assert (closed.close_reason, closed.closed_at) == ("because", store.now())
    assert store.events()[-1].data == {"reason": "because", "before": status.value, "return_to": None}
    store.record(Event(Kind.UNDONE, "a"))
    back = store.bead("a")
    assert (back.status, back.closed_at, back.close_reason, back.failures) == (status, None, "", 2)


def test_undone_may_name_where_it_goes(store: Store) -> None:
    store.put([bead("a", status=Status.DRAFT)], [], "me")
    store.record(Event(Kind.CANCELLED, "a"))
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.UNDONE, "a", data={"to": "doing"}))
    store.record(Event(Kind.UNDONE, "a", data={"to": "draft"}))
    assert store.bead("a").status is Status.DRAFT
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.UNDONE, "a"))


def test_together_is_all_or_nothing_and_its_parts_are_too(store: Store) -> None:
    store.put([bead("a")], [], "me")
    with pytest.raises(NoSuchBead), store.together():
        store.put([bead("b")], [], "me")
        store.bead("ghost")
    assert len(store.beads()) == 1
    with store.together():
        store.put([bead("c")], [], "me")
        with pytest.raises(Deadlock):
            store.put([bead("d")], [Dependency("d", "d")], "me")
    assert [one.id for one in store.beads()] == ["a", "c"]


# --- the machine ---------------------------------------------------------------------------------


def test_the_board_is_one_moment(store: Store, clock: Any) -> None:
    store.put([bead("a"), bead("r", status=Status.NEEDS_REVIEW), bead("h", status=Status.NEEDS_REVIEW)], [], "me")
    store.record(Event(Kind.HELD, "h"))
    store.set_setting("paused", "yes")
    store.set_setting("gate:claude", str(clock.time + 5))
    store.set_setting("gate:script", str(clock.time))
    board = store.board(Limits(doers=2))
    assert (board.now, board.limits.doers, board.paused, board.stopping) == (clock.time, 2, True, False)
    assert [one.id for one in board.ready] == ["a"]
    assert [one.id for one in board.to_review] == ["r"]
    assert (board.agent_gates, board.wake_at) == (frozenset({"claude"}), clock.time + 5)
    assert store.board(Limits(), front=0).ready == ()


def test_settings_and_validations(store: Store) -> None:
    assert store.setting("k") is None
    store.set_setting("k", "v")
    store.set_setting("k", "w")
    assert store.setting("k") == "w"
    store.set_setting("k", None)
    assert store.setting("k") is None
    assert store.validation("tree", "contract") is None
    store.save_validation("tree", "contract", {"results": [1]})
    assert store.validation("tree", "contract") == {"results": [1]}
    assert store.validation("tree", "other") is None


def test_events_are_numbered_and_filtered(store: Store, clock: Any) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    store.record(Event(Kind.LOGGED, "a", actor="Ada", data={"text": "hm"}))
    store.record(Event(Kind.DAEMON_STARTED, data={"pid": 1}))
    found = store.events()
    assert [e.seq for e in found] == [1, 2, 3, 4]
    assert {e.at for e in found} == {clock.time}
    assert store.events(after=2, limit=1) == [found[2]]
    assert store.events(bead="a") == [found[0], found[2]]
    assert (found[2].actor, found[2].data) == ("Ada", {"text": "hm"})
