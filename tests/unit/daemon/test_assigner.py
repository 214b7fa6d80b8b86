"""Which bead gets an agent next, and when nobody does."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nobrakes.agents.limits import Amount, Breaker, Cap, Caps, Cooldown, Spent, State
from nobrakes.beads.graph import AGEING_SECONDS, rank, rises_at
from nobrakes.beads.model import Attempt, Outcome, ReadyBead, Role, Status
from nobrakes.daemon import deciders
from nobrakes.daemon.model import AgentChoice, AskPerson, Board, CompleteEpic, Limits, StartAgent, TellCap
from nobrakes.decisions.model import EscalationType


def waits(bead: str, status: Status = Status.NEEDS_DOER, retry_at: float | None = None) -> ReadyBead:
    return ReadyBead(bead, status, "task", priority=2, failures=0, retry_at=retry_at)


def works(number: int, role: Role = Role.DOER) -> Attempt:
    return Attempt(number, f"b{number}", 1, role, "Ada", fence=1, token="t", started_at=0.0)


def started(board: Board) -> list[str]:
    return [action.bead for action in deciders.plan_assignments(board) if isinstance(action, StartAgent)]


READY = Board(now=1000.0, limits=Limits(doers=2), ready=(waits("b"), waits("a"), waits("c")))


def test_beads_are_taken_in_the_stores_order_up_to_the_limit() -> None:
    assert started(READY) == ["b", "a"]


def test_tests_are_written_before_the_work_is_done() -> None:
    board = replace(READY, ready=(waits("t", Status.NEEDS_TESTS), waits("d")))
    assert deciders.plan_assignments(board) == [
        StartAgent("t", Role.TEST_WRITER, "claude"),
        StartAgent("d", Role.DOER, "claude"),
    ]


def test_agents_at_work_take_up_the_limit_and_the_reviewer_does_not() -> None:
    assert started(replace(READY, attempts=(works(1, Role.TEST_WRITER),))) == ["b"]
    assert started(replace(READY, attempts=(works(1), works(2)))) == []
    assert started(replace(READY, attempts=(works(1, Role.REVIEWER),))) == ["b", "a"]


def test_a_limit_that_was_lowered_starts_nobody_and_stops_nobody() -> None:
    board = replace(READY, limits=Limits(doers=1), attempts=(works(1), works(2), works(3)))
    assert deciders.plan_assignments(board) == []
    assert started(replace(READY, limits=Limits(doers=0))) == []


def test_nothing_is_started_while_paused_or_stopping_but_epics_close() -> None:
    for board in (replace(READY, paused=True), replace(READY, stopping=True)):
        assert deciders.plan_assignments(replace(board, epics_done=("e",))) == [CompleteEpic("e")]


def test_a_bead_that_waits_for_its_retry_lets_others_go_first() -> None:
    board = replace(READY, ready=(waits("later", retry_at=1000.1), waits("now", retry_at=1000.0), waits("c")))
    assert started(board) == ["now", "c"]


def test_the_same_board_gives_the_same_answer() -> None:
    assert deciders.plan_assignments(READY) == deciders.plan_assignments(replace(READY))


statuses = st.sampled_from([Status.NEEDS_TESTS, Status.NEEDS_DOER])
fronts = st.lists(
    st.builds(waits, st.uuids().map(str), statuses, st.none() | st.floats(0, 2000)),
    max_size=8,
    unique_by=lambda f: f.id,
)


@given(fronts, st.integers(0, 6), st.lists(st.sampled_from(list(Role)), max_size=6), st.booleans())
def test_no_board_makes_it_start_too_many_or_anybody_twice(
    front: list[ReadyBead], doers: int, roles: list[Role], paused: bool
) -> None:
    attempts = tuple(works(n, role) for n, role in enumerate(roles))
    board = Board(1000.0, Limits(doers=doers), ready=tuple(front), attempts=attempts, paused=paused)
    beads = started(board)
    agents = sum(role is not Role.REVIEWER for role in roles)
    assert len(beads) == len(set(beads)) and (not beads or agents + len(beads) <= doers) and not (beads and paused)
    due = [f.id for f in front if f.retry_at is None or f.retry_at <= board.now]
    assert beads == due[: len(beads)]
    assert paused or len(beads) == min(len(due), max(0, doers - agents)), "somebody idles though there is work"


DAY = AGEING_SECONDS
MIDNIGHT = 20_000 * DAY


def test_a_bead_rises_one_class_a_day_after_it_became_ready_itself() -> None:
    since = MIDNIGHT - 60
    assert rank(2, since, MIDNIGHT + 60) == 2, "midnight is no moment at which anything rises"
    assert (rank(2, since, since + DAY - 1), rank(2, since, since + DAY), rank(2, since, since + 5 * DAY)) == (2, 1, -3)
    assert rises_at(since, since + DAY - 1) == since + DAY and rises_at(since, since + DAY) == since + 2 * DAY
    assert rank(2, since, since - DAY) == 2, "a clock that was set back makes nobody less urgent"


@given(st.integers(0, 4), st.floats(0, 4e9), st.floats(0, 4e9))
def test_no_bead_starves_and_none_rises_early(priority: int, since: float, now: float) -> None:
    """Whoever waits competes with the most urgent newcomer at last, and beads of one age keep their order."""
    assert rank(priority, since, since + (priority + 1) * DAY + 1) <= 0
    assert rank(priority, since, now) < rank(priority + 1, since, now) <= priority + 1
    assert rises_at(since, now) > now


def test_inside_of_a_class_who_collides_with_work_lets_others_go_first() -> None:
    def on(bead: str, *touches: str, rank: int = 2) -> ReadyBead:
        return replace(waits(bead), rank=rank, touches=touches)

    front = (on("a", "src/auth/**"), on("b", "src/auth/login.py"), on("c"), on("d", "docs/*.md"))
    board = replace(READY, limits=Limits(doers=9), ready=front)
    assert started(board) == ["a", "c", "d", "b"], "b waits for a, as long as there is other work"
    assert started(replace(board, limits=Limits(doers=4), taken={"b1": ("src",)}, attempts=(works(1),))) == [
        "c", "d", "a",
    ]  # fmt: skip
    urgent = (on("a", "src/auth", rank=0), *front[1:])
    busy = replace(board, ready=urgent, taken={"b1": ("docs.py", "/src/auth/x.py")}, attempts=(works(1),))
    assert started(busy) == ["a", "c", "d", "b"], "nothing urgent waits for less urgent"


# --- gates, breakers, caps ------------------------------------------------------------------------

CREW = AgentChoice({"test_writer": ("first",), "doer": ("first", "second")}, {"fix": {"doer": ("second",)}})
TWO = replace(
    READY, limits=Limits(doers=9, agent_choice=CREW), providers={"first": "north", "second": "south", "third": "north"}
)


def closed(provider: str, until: float = 2000.0, told: bool = True) -> dict[str, Cooldown]:
    return {provider: Cooldown(provider, Outcome.RATE_LIMITED, "", 900.0, until, 1, told)}


def pairs(board: Board) -> list[tuple[str, str]]:
    return [(one.bead, one.agent) for one in deciders.plan_assignments(board) if isinstance(one, StartAgent)]


def test_the_preferred_agent_gets_the_bead_and_a_type_may_prefer_another() -> None:
    fix = replace(waits("f"), type="fix")
    assert pairs(replace(TWO, ready=(waits("a"), fix))) == [("a", "first"), ("f", "second")]


def test_while_a_gate_is_closed_the_next_agent_takes_over() -> None:
    assert pairs(replace(TWO, gates=closed("north"))) == [("b", "second"), ("a", "second"), ("c", "second")]


def test_where_a_role_allows_no_other_its_beads_wait_and_the_others_do_not() -> None:
    board = replace(TWO, ready=(waits("t", Status.NEEDS_TESTS), waits("d")), gates=closed("north"))
    assert pairs(board) == [("d", "second")]
    assert deciders.plan_assignments(replace(TWO, gates=closed("north") | closed("south"))) == []


def test_one_agent_goes_ahead_when_nobody_said_when_the_gate_opens() -> None:
    board = replace(TWO, gates=closed("north", until=999.0, told=False) | closed("south"))
    assert pairs(board) == [("b", "first")]


def test_an_open_breaker_leaves_the_bead_to_the_next_agent_and_then_to_a_person() -> None:
    open_ = Breaker(State.OPEN, 3, 3, "failed: no")
    board = replace(TWO, ready=(waits("a"),), breakers={("bead:a", "north"): open_})
    assert pairs(board) == [("a", "second")]
    (asked,) = deciders.plan_assignments(
        replace(board, breakers={("bead:a", "north"): open_, ("bead:a", "south"): open_})
    )
    assert isinstance(asked, AskPerson) and asked.type is EscalationType.BREAKER_OPEN and asked.bead == "a"


def test_a_bead_that_has_cost_too_much_goes_to_a_person_and_the_others_go_on() -> None:
    limits = replace(TWO.limits, caps=Caps(bead=Cap(usd=5)))
    actions = deciders.plan_assignments(replace(TWO, limits=limits, spent=Spent(beads={"b": Amount(usd=5)})))
    assert isinstance(actions[0], AskPerson) and actions[0].type is EscalationType.CAP_REACHED
    assert [one.bead for one in actions if isinstance(one, StartAgent)] == ["a", "c"]


def test_a_person_is_asked_of_it_whether_there_is_a_place_or_not() -> None:
    limits = replace(TWO.limits, caps=Caps(bead=Cap(usd=5)), doers=0)
    (asked,) = deciders.plan_assignments(
        replace(TWO, ready=(waits("b"),), limits=limits, spent=Spent(beads={"b": Amount(usd=5)}))
    )
    assert isinstance(asked, AskPerson)


def test_under_a_cap_that_is_reached_nothing_is_started_and_it_is_told() -> None:
    limits = replace(TWO.limits, caps=Caps(day=Cap(usd=5)))
    (told,) = deciders.plan_assignments(replace(TWO, limits=limits, spent=Spent(day=Amount(usd=6))))
    assert isinstance(told, TellCap) and told.reached.name == "day.usd"


def test_no_more_are_started_than_the_hour_allows() -> None:
    limits = replace(TWO.limits, caps=Caps(calls_per_hour=10))
    assert len(pairs(replace(TWO, limits=limits, spent=Spent(calls=8)))) == 2
