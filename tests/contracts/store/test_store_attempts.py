"""Attempts in every store: claimed by one, ended once, fenced."""

from typing import Any

import pytest

from nobrakes.beads.lifecycle import RETURNS_TO, TABLE
from nobrakes.beads.model import CLOSED, WORKING, AttemptLog, BeadType, Outcome, Role, Run, RunKind, Status
from nobrakes.daemon.model import Limits
from nobrakes.errors import NoSuchBead, NotAllowed, Stale
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import Journal, Step
from nobrakes.store import Store
from tests.contracts.store.store_beads import NAMES, bead, claim

BY_PEOPLE = (Kind.CANCELLED, Kind.DONE_BY_HAND)
ROLES = {Status.WRITING_TESTS: Role.TEST_WRITER, Status.DOING: Role.DOER, Status.REVIEWING: Role.REVIEWER}


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


def test_a_bead_gets_its_branch_with_its_first_attempt_and_keeps_it(store: Store) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    assert store.bead("a").branch == ""

    def claimed(id_: str, pattern: str) -> str:
        attempt = store.open_attempt(id_, Role.DOER, "script", NAMES, 60.0, None, branch_pattern=pattern)
        assert attempt is not None
        store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)
        return store.bead(id_).branch

    assert claimed("a", "agents/{type}/{id}") == "agents/task/a"
    store.change("a", {"type": BeadType.FIX}, "me")
    assert (claimed("a", "{type}-{id}"), claimed("b", "{type}-{id}")) == ("agents/task/a", "task-b")


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


def test_the_fence_of_every_claim_is_higher_than_all_before(store: Store) -> None:
    store.put([bead("a")], [], "me")
    fences = []
    for _ in range(2):
        for role, end in ((Role.DOER, Kind.WORK_SUBMITTED), (Role.REVIEWER, Kind.REVIEW_REJECTED)):
            attempt = claim(store, "a", role)
            fences.append(attempt.fence)
            assert store.bead("a").fence == attempt.fence
            store.close_attempt(attempt, end, Outcome.FAILED)
        fences.append(claim(store, "a").fence)
        store.record(Event(Kind.CANCELLED, "a"))
        store.record(Event(Kind.REOPENED, "a"))
    assert fences == sorted(set(fences))


@pytest.mark.parametrize(
    ("working", "end"),
    [
        (status, kind)
        for status in sorted(WORKING)
        for kind in TABLE[status]
        if kind not in (*BY_PEOPLE, Kind.ESCALATED)
    ],
)
def test_every_end_of_an_attempt_is_told_once(store: Store, working: Status, end: Kind) -> None:
    waiting = RETURNS_TO[working]
    store.put([bead("a", status=waiting, needs_tests=waiting is Status.NEEDS_TESTS)], [], "me")
    attempt, before = claim(store, "a", ROLES[working]), store.position().seq
    after = store.close_attempt(attempt, end, Outcome.FAILED, detail="why", head="a" * 40)
    assert [(e.kind, e.bead, e.attempt) for e in store.events(before)] == [(end, "a", attempt.id)]
    (told,) = store.events(before)
    assert (told.data["outcome"], told.data["detail"], told.data["head"]) == ("failed", "why", "a" * 40)
    assert after.status is TABLE[working][end]


@pytest.mark.parametrize("kind", BY_PEOPLE)
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
        store.attempt_of_token(attempt.token)
    with pytest.raises(Stale):
        store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED)


def test_a_token_is_of_its_own_attempt_alone(store: Store) -> None:
    store.put([bead("a")], [], "me")
    attempt = claim(store, "a")
    assert store.attempt_of_token(attempt.token) == attempt
    for wrong in ("", "1", f"{attempt.id}.", attempt.token + "x", attempt.token[:-1], "9" * 40, "²", "é\udc80"):
        with pytest.raises(Stale):
            store.attempt_of_token(wrong)
    store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)
    with pytest.raises(Stale):
        store.attempt_of_token(attempt.token)


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


LANDING = [
    Journal(Step.SWAP),
    Journal(Step.SWAP).with_values(waiting="edits"),
    Journal(Step.VALIDATE_MAIN),
    Journal(Step.CLEAN_UP),
]
NOT_LANDING = [
    Journal(Step.REBASE),
    Journal(Step.VALIDATE_REBASED),
    Journal(Step.VALIDATE_REBASED).with_values(waiting="edits"),
]


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.DONE_BY_HAND])
@pytest.mark.parametrize("journal", [*LANDING, *NOT_LANDING])
def test_what_lands_on_main_cannot_be_taken_away(store: Store, journal: Journal, kind: Kind) -> None:
    store.put([bead("a", status=Status.NEEDS_REVIEW)], [], "me")
    review = claim(store, "a", Role.REVIEWER)
    store.journal(review.id, journal.as_data())
    if journal in NOT_LANDING:
        store.record(Event(kind, "a"))
        with pytest.raises(Stale):
            store.journal(review.id, Journal(Step.SWAP).as_data())
        return
    with pytest.raises(NotAllowed, match="too late"):
        store.record(Event(kind, "a"))
    assert store.bead("a").status is Status.REVIEWING
    store.close_attempt(review, Kind.MERGED, Outcome.COMPLETED, merged_commit="c" * 40)
    assert store.bead("a").status is Status.DONE


@pytest.mark.parametrize("kind", [Kind.CANCELLED, Kind.DONE_BY_HAND])
def test_what_may_have_landed_when_its_review_was_stopped_waits_for_who_knows(store: Store, kind: Kind) -> None:
    store.put([bead("a", status=Status.NEEDS_REVIEW)], [], "me")
    stopped = claim(store, "a", Role.REVIEWER)
    store.journal(stopped.id, Journal(Step.SWAP).as_data())
    store.close_attempt(stopped, Kind.REVIEW_INTERRUPTED, Outcome.INTERRUPTED)
    with pytest.raises(NotAllowed, match="does not know whether"):
        store.record(Event(kind, "a"))
    knows = claim(store, "a", Role.REVIEWER)
    store.journal(knows.id, Journal(Step.VALIDATE_REBASED).as_data())
    store.close_attempt(knows, Kind.REVIEW_INTERRUPTED, Outcome.INTERRUPTED)
    store.record(Event(kind, "a"))
    assert store.bead("a").status in CLOSED
