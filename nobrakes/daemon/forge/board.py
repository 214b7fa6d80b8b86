"""What the Forge's deciders see, read from the store: nothing at all where no feature goes on."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...core.beads.bead import CLOSED, Bead, Status
from ...core.beads.escalations import EscalationType
from ...core.beads.outcomes import Outcome
from ...core.beads.taking_back import is_built
from ...core.board import Board
from ...core.errors import NobrakesError
from ...core.forge import checkpoints, markers, reviewing
from ...core.forge import data_keys as keys
from ...core.forge.actions import About
from ...core.forge.board import Asked, ForgeBoard, LastTurn, Rolling, Seat, Standing
from ...core.forge.feature import PLANNED, Feature, ItemState, PlanReview, ReviewState, Stage
from ...core.limits.breaker import State as Trip
from ...core.owners import of_session
from ...core.sessions.session import CLEAN, Session
from ...core.sessions.session import State as At
from ...core.text.cleaning import clean
from ...ports.store import Store
from ...roles.plan_beads import beads_under
from ..ports import Ports
from .telling import BY

NO_LOGIN = frozenset({Outcome.AUTH, Outcome.BILLING})
"""What a provider refuses until a person does something: another agent goes on meanwhile."""


def board_of(ports: Ports, board: Board) -> ForgeBoard | None:
    """The Forge's board; None: no feature goes on."""
    store = ports.store
    features = store.features()
    if not features:
        return None
    open_ = store.escalations()
    asked, by_session = frozenset(one.id for one in open_), Counter(one.session for one in open_)
    standings = tuple(_standing(ports, board, one, asked, by_session) for one in features)
    return ForgeBoard(board.now, ports.config().forge.rules(), standings, board.paused or board.stopping)


def _standing(
    ports: Ports, board: Board, feature: Feature, open_: frozenset[int], by_session: Mapping[int | None, int]
) -> Standing:
    """What is asked of its stage: it is looked at in every turn of the daemon."""
    store, is_planned, in_review = ports.store, feature.stage in PLANNED, feature.stage is Stage.REVIEW
    session = None if feature.session is None else store.session(feature.session)
    reviews = tuple(store.plan_reviews(feature.id))
    inside = [] if is_planned and not feature.replannings else beads_under(store, feature.id)
    beads = {bead.id: bead.status for bead in inside}
    named, free = _named(feature, inside)
    running = _running(store, reviews)
    begins = in_review and not running and reviewing.goes_on(feature)
    return Standing(
        feature,
        session,
        None if session is None else _last_turn(ports, feature, session),
        0 if session is None else by_session.get(session.id, 0),
        seats(ports, board, ports.config().agents.shaper, session) if is_planned else (),
        _asked(ports, feature),
        reviews,
        running,
        _halted(store, running),
        tuple(store.findings(feature.id)) if in_review else (),
        open_,
        tuple(store.plan_versions(feature.id)) if begins else (),
        beads,
        named,
        free,
        () if is_planned else tuple(one for one in store.items(feature.id) if one.state is ItemState.WAITING),
        0.0 if session is None else session.cost_usd,
        sum(store.session(one.session).cost_usd for one in reviews if one.session is not None) if begins else 0.0,
        _rolling(store, feature),
    )


def _rolling(store: Store, feature: Feature) -> Rolling | None:
    asked = feature.data.get(keys.ROLLBACK)
    if asked is None:
        return None
    bead = store.bead(str(asked["bead"]))
    apart = any(one.type is EscalationType.CONFLICT for one in store.escalations(bead=bead.id))
    return Rolling(bead.id, bead.status, bead.held, apart and is_built(store.attempts(bead.id)))


def _named(feature: Feature, beads: Sequence[Bead]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(live beads to be held, since a new plan names them; held ones to be let go)."""
    changing = checkpoints.is_changing(feature)
    live = [bead for bead in beads if bead.status not in (Status.DRAFT, *CLOSED)]
    hold = tuple(one.id for one in live if changing and one.proposed and one.held is None)
    free = tuple(one.id for one in live if checkpoints.is_over(feature, one.held, bool(one.proposed)))
    return hold, free


def _running(store: Store, reviews: Sequence[PlanReview]) -> dict[int, Session]:
    running = [one.session for one in reviews if one.state is ReviewState.RUNNING]
    return {number: store.session(number) for number in running if number is not None}


def _halted(store: Store, running: Mapping[int, Session]) -> frozenset[int]:
    """The reviewers that wait for nothing since a person stopped them: what they did not find says nothing."""
    idle = [number for number, session in running.items() if session.state is At.IDLE]
    return frozenset(number for number in idle if store.turns(number)[-1].outcome not in CLEAN)


def seats(ports: Ports, board: Board, names: Sequence[str], session: Session | None) -> tuple[Seat, ...]:
    """These agents, and what keeps each from the session's next turn."""
    breakers = {} if session is None else ports.store.breakers(of_session(session.id))
    found = []
    for name in names:
        try:
            provider = ports.adapter(name).provider
        except NobrakesError as error:
            found.append(Seat(name, "", str(error)))
            continue
        gate, breaker = board.gates.get(provider), breakers.get(provider)
        trouble = ""
        if gate is not None and gate.is_closed(board.now) and gate.reason in NO_LOGIN:
            trouble = f"{provider} refuses it: {gate.reason.value}"
        elif breaker is not None and breaker.state is Trip.OPEN:
            trouble = f"its breaker at {provider} is open"
        found.append(Seat(name, provider, trouble))
    return tuple(found)


def _last_turn(ports: Ports, feature: Feature, session: Session) -> LastTurn | None:
    """The oldest turn that ended and that nobody has dealt with."""
    seen = int(feature.data.get(keys.SEEN) or 0)
    turn = next((one for one in ports.store.turns(session.id) if one.id > seen and one.outcome is not None), None)
    if turn is None or turn.outcome is None:
        return None
    messages = [one for one in ports.store.messages(session.id) if one.turn == turn.id]
    said = [one.text for one in messages if not one.author]
    words, did = clean("\n".join(said)), frozenset(str(one) for one in turn.data.get("did", ()))
    context = turn.data.get("context")
    return LastTurn(
        turn.id,
        turn.number,
        turn.outcome,
        did,
        words,
        None if did or turn.outcome not in CLEAN else markers.read(words),
        None if context is None else float(context),
        any(one.author not in ("", BY) and one.answers is None for one in messages),
    )


def _asked(ports: Ports, feature: Feature) -> dict[About, Asked]:
    """The questions of nobrakes about the feature; what was decided without an answer has the decision as one."""
    found = {}
    for about, number in feature.data.get(keys.ASKED, {}).items():
        one = ports.store.escalation(int(number))
        answer = one.answer if one.answer is not None else one.resolution
        found[About(about)] = Asked(one.id, None if one.resolved_at is None else answer)
    return found
