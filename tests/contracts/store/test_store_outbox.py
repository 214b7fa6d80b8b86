"""The outbox: a notice is written once, sent by one delivery a channel, counted in a digest, and never lost."""

from nobrakes.beads.model import Bead, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.notices.model import SHOWN, DeliveryState, NewNotice, NoticeKind, Severity, digest
from nobrakes.store import Store
from tests.contracts.store.conftest import HandClock


def notice(text: str = "it is merged", severity: Severity = Severity.INFO, mark: str = "", **more: int) -> NewNotice:
    return NewNotice(NoticeKind.MERGED, severity, text, "a", fingerprint=mark, **more)


def fill(store: Store, *notices: NewNotice, channels: tuple[str, ...] = ("c",), due_at: float = 0.0) -> None:
    store.add_notices(notices, 600.0)
    store.route_notices([(one.id, [(name, due_at) for name in channels]) for one in store.unrouted_notices(99_999)])


def states(store: Store) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in store.deliveries(99_999):
        found[one.state.value] = found.get(one.state.value, 0) + 1
    return found


def test_the_same_within_a_while_is_one(store: Store, clock: HandClock) -> None:
    assert store.add_notices([notice(mark="x"), notice(mark="x"), notice(mark="y"), notice(), notice()], 600.0) == 4
    assert store.add_notices([notice(mark="x")], 600.0) == 0
    clock.time += 601
    assert store.add_notices([notice(mark="x")], 600.0) == 1
    clock.time -= 10_000  # a clock that was set back holds nothing up
    assert store.add_notices([notice(mark="x")], 600.0) == 1


def test_what_is_written_with_a_setting_is_there_with_it_or_not_at_all(store: Store) -> None:
    try:
        with store.write():
            store.add_notices([notice()], 600.0)
            store.set_setting("news", "7")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert store.unrouted_notices(9) == [] and store.setting("news") is None


def test_it_is_routed_once(store: Store) -> None:
    store.add_notices([notice()], 600.0)
    (one,) = store.unrouted_notices(9)
    for _ in range(2):
        store.route_notices([(one.id, [("c", 0.0), ("d", 0.0)])])
    assert store.unrouted_notices(9) == [] and states(store) == {"due": 2}


def test_what_matters_most_goes_first_and_is_settled_once(store: Store, clock: HandClock) -> None:
    fill(store, notice("one"), notice("two", Severity.URGENT), notice("three"))
    first = store.next_delivery("c")
    assert first is not None and first.notice.text == "two" and first.tries == 0
    assert not store.finish_delivery(first.id, DeliveryState.SENT)
    assert not store.finish_delivery(first.id, DeliveryState.FAILED, "too late")
    second = store.next_delivery("c")
    assert second is not None and second.notice.text == "one"
    store.finish_delivery(second.id, DeliveryState.DUE, "no answer", clock.time + 30)
    third = store.next_delivery("c")
    assert third is not None and third.notice.text == "three"
    store.finish_delivery(third.id, DeliveryState.SENT)
    assert store.next_delivery("c") is None
    (queue,) = store.queues(60.0)
    assert (queue.due, queue.sent, queue.next_at) == (0, 2, clock.time + 30)
    clock.time += 30
    again = store.next_delivery("c")
    assert again is not None and (again.tries, again.error) == (1, "no answer")


def test_only_the_first_failure_since_a_success_is_said(store: Store, clock: HandClock) -> None:
    said = []
    for state in ("failed", "failed", "sent", "failed"):
        clock.time += 1
        fill(store, notice())
        one = store.next_delivery("c")
        assert one is not None
        said.append(store.finish_delivery(one.id, DeliveryState(state), "x"))
    assert said == [True, False, False, True]


def test_ten_thousand_become_one_message(store: Store, clock: HandClock) -> None:
    fill(store, *(notice(f"n{number}", mark=str(number)) for number in range(10_000)), notice("!", Severity.URGENT))
    fill(store, notice("later"), due_at=clock.time + 999)
    store.make_digest("c", digest, SHOWN)
    (queue,) = store.queues(60.0)
    assert (queue.due, queue.digests, queue.digest_at, queue.next_at) == (0, 1, clock.time, clock.time + 999)
    one = store.next_delivery("c")
    assert one is not None and one.notice.kind is NoticeKind.DIGEST and "10001 notices" in one.notice.text
    store.make_digest("c", digest, SHOWN)  # nothing is due, and a digest is not counted in another
    assert states(store) == {"due": 2, "digested": 10_001}
    store.finish_delivery(one.id, DeliveryState.SENT)
    assert store.next_delivery("c") is None


def test_what_is_not_urgent_is_held_and_all_is_released(store: Store, clock: HandClock) -> None:
    fill(store, notice("one"), notice("two", Severity.URGENT), channels=("c", "d"))
    store.hold_deliveries(clock.time + 500)
    assert [(queue.due, queue.next_at) for queue in store.queues(60.0)] == [(1, clock.time + 500)] * 2
    store.release_deliveries()
    assert [queue.due for queue in store.queues(60.0)] == [2, 2]
    store.end_other_channels(["d"])
    assert states(store) == {"failed": 2, "due": 2}


def test_an_open_question_is_known_until_it_is_decided(store: Store, clock: HandClock) -> None:
    store.put([Bead("a", "a", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    number = store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "a", None, "me").id
    asked = NewNotice(NoticeKind.QUESTION, Severity.WARNING, "Which?", "a", escalation=number)
    fill(store, asked)
    assert store.open_questions() == []  # nobody was told yet
    first = store.next_delivery("c")
    assert first is not None
    store.finish_delivery(first.id, DeliveryState.SENT)
    (question,) = store.open_questions()
    assert (question.told_at, question.times) == (clock.time, 1)
    fill(store, asked)
    assert store.open_questions() == []  # a reminder is on its way
    store.make_digest("c", digest, SHOWN)
    counted = store.next_delivery("c")
    assert counted is not None
    store.finish_delivery(counted.id, DeliveryState.SENT)
    assert [one.times for one in store.open_questions()] == [2]
    fill(store, asked)
    store.answer(number, "this", "me")
    store.drop_answered()
    assert store.open_questions() == [] and states(store)["answered"] == 1


def test_what_is_old_goes_but_what_waits_or_is_open(store: Store, clock: HandClock) -> None:
    store.put([Bead("a", "a", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    number = store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "a", None, "me").id
    fill(store, notice("sent"), notice("open", escalation=number), notice("waits"))
    for _ in range(2):
        one = store.next_delivery("c")
        assert one is not None
        store.finish_delivery(one.id, DeliveryState.SENT)
    clock.time += 100
    assert store.prune_notices(clock.time - 100, 99) == 0
    assert store.prune_notices(clock.time - 50, 99) == 1
    assert {one.notice.text for one in store.deliveries(9)} == {"open", "waits"}
