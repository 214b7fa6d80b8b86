"""The Assigner: which bead gets an agent next, and which one a review. Same board, same answer.

1. Beads come in the store's order, which is an index: the class, which is the priority less one for each day of
   waiting (core.graph.ranks), then b-level (the longest chain of work behind), then how many beads wait for it, then
   who became ready last, then id. Inside a class those come first that collide with nobody at work
   (core.policy.collisions).
2. Turns of sessions come first (core.turns). Nothing is started while paused or stopping, before main was tried
   (core.checks.trial), or beyond the limit of Doers.
3. Each role has agents in order of preference: the first whose provider has no cooldown, and whose breaker for the
   bead is closed. While all of them have a cooldown the bead just waits.
4. A bead at which every agent's breaker is open, or that has cost what a bead may, goes to a person.
5. Nothing is started under a cap that is reached; the person is told once.
6. Nor is anything started beyond what all repositories of the machine may start together (core.limits.machine), or
   while agents hold as much memory as they may (core.limits.memory).
7. Reviews are never held back by agents: as many are open as the queue takes (core.review.train), on a red main those
   of repairs alone.
"""

from dataclasses import replace

from . import turns
from .actions import (
    Action,
    AskPerson,
    CompleteEpic,
    GoOnUnapproved,
    LandEpic,
    StartAgent,
    StartReview,
    StartTurn,
    TellCap,
)
from .beads.attempt import Frontier
from .beads.bead import Role, Status
from .beads.escalations import EscalationType
from .board import Board
from .checks.trial import Starts
from .limits import caps, cooldowns, machine, memory
from .limits.breaker import State
from .merge_approval import not_asked_any_more
from .owners import of_bead
from .policy import collisions
from .review.journal import Journal, is_aside
from .review.train import at_once

ROLE_FOR = {Status.NEEDS_TESTS: Role.TEST_WRITER, Status.NEEDS_DOER: Role.DOER}


def plan(board: Board) -> list[Action]:
    """The agents to start now, what only a person can decide, and the epics to close."""
    actions: list[Action] = [CompleteEpic(epic) for epic in board.epics_done]
    actions += [LandEpic(epic) for epic in board.epics_landed]
    actions += [GoOnUnapproved(number, why) for number, why in not_asked_any_more(board)]
    if board.paused or board.stopping:
        return actions
    talks = turns.plan(board)
    actions += talks
    if board.limits.starts is Starts.UNTRIED:
        return actions
    limits, spent = board.limits.caps, board.spent
    if board.ready or board.sessions:
        untold = (*caps.untold(limits, spent, board.now), *machine.untold(board.machine, board.now))
        actions += [TellCap(one) for one in untold]
    agents = sum(1 for attempt in board.attempts if attempt.role is not Role.REVIEWER)
    free = board.limits.doers - agents
    left = caps.calls_left(limits, spent, board.now)
    if left is not None:
        free = min(free, left - len(talks))
    places = machine.free(board.machine)
    if places is not None:
        free = min(free, places - len(talks))
    if (
        caps.reached(limits, spent, board.now)
        or machine.reached(board.machine, board.now)
        or memory.is_full(board.memory_mb, board.limits.agents_mb)
    ):
        return actions
    room = cooldowns.room(board.gates, board.agents, board.now)
    for session in board.sessions:
        if session.provider in room and StartTurn(session.id) in talks:
            room[session.provider] -= 1
    due = [bead for bead in board.ready if bead.retry_at is None or bead.retry_at <= board.now]
    asks = {bead.id: found for bead in due if (found := _asks(board, bead)) is not None}
    actions += asks.values()  # whether there is a place or not: what is decided early holds nobody up later
    busy = collisions.Busy(board.taken.values())
    for bead in collisions.apart([bead for bead in due if bead.id not in asks], busy) if free > 0 else ():
        agent = _agent(board, bead, room)
        if agent is None:
            continue
        actions.append(StartAgent(bead.id, ROLE_FOR[bead.status], agent))
        busy.add(bead.touches)
        free -= 1
        if free <= 0:
            break
    return actions


def reviews(board: Board) -> list[Action]:
    """The reviews to start now: the first of those that wait, as many as may be open."""
    if board.paused or board.stopping:
        return []
    opened = sum(
        attempt.role is Role.REVIEWER and not is_aside(Journal.of(attempt.data).step) for attempt in board.attempts
    )
    free = max(0, at_once(board.limits.queue, board.pace) - opened)
    return [StartReview(bead.id) for bead in board.reviewable[:free]]


def waits_for_place(board: Board) -> bool:
    """Whether an agent would be started now but for the places that other repositories hold."""
    room = board.machine
    if room is None or room.others <= 0 or machine.free(room) != 0:
        return False
    wanted = plan(replace(board, machine=machine.without_places(room)))
    return any(isinstance(action, StartAgent | StartTurn) for action in wanted)


def _breaker_is_open(board: Board, bead: Frontier, agent: str) -> bool:
    breaker = board.breakers.get((of_bead(bead.id), board.providers.get(agent, "")))
    return breaker is not None and breaker.state is State.OPEN


def _asks(board: Board, bead: Frontier) -> AskPerson | None:
    """What a person must decide before anybody is started on the bead."""
    reached = caps.of_bead(board.limits.caps, board.spent, bead.id)
    if reached is not None:
        title = f"{bead.id} has reached its cap: {reached.name} is {reached.spent:g} of {reached.limit:g}"
        detail = f"Raise caps.{reached.name} in .nobrakes/config.toml, or split the bead; then resolve this."
        return AskPerson(bead.id, EscalationType.CAP_REACHED, title, detail)
    agents = board.limits.agent_choice.agents(ROLE_FOR[bead.status], bead.type)
    if agents and all(_breaker_is_open(board, bead, agent) for agent in agents):
        errors = {board.breakers[(of_bead(bead.id), board.providers.get(agent, ""))].error for agent in agents}
        title = f"{bead.id}: every agent fails in the same way"
        return AskPerson(bead.id, EscalationType.BREAKER_OPEN, title, "\n".join(sorted(errors)))
    return None


def _agent(board: Board, bead: Frontier, room: dict[str, int]) -> str | None:
    """The first agent of the role that may be started now; takes its place in `room`."""
    for agent in board.limits.agent_choice.agents(ROLE_FOR[bead.status], bead.type):
        provider = board.providers.get(agent, "")
        if room.get(provider, 1) <= 0 or _breaker_is_open(board, bead, agent):
            continue
        if provider in room:
            room[provider] -= 1
        return agent
    return None
