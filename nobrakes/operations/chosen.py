"""What an option of nobrakes' own does once a person chose it, beside being the answer: rest, a new plan, a way back.

1. Only questions that nobrakes asked have such options: their evidence says so (blockers.MARK, failing.FEATURE), or
   their type.
2. It is one transaction with the end of the question. A refusal leaves the question open, and nothing is changed.
"""

from collections.abc import Callable, Mapping

from ..core.beads import blockers
from ..core.beads.escalations import Escalation, EscalationType
from ..core.beads.events import Event, Kind
from ..core.forge import failing
from ..core.forge.feature import ItemKind, State, Step
from ..ports.store import Store
from . import readings
from .forging import asking_checkpoint, resting


def follow(store: Store, found: Escalation, label: object, actor: str) -> bool:
    """Do what the chosen option means, and end the question; False: it is an answer, and nothing more."""
    if found.type is EscalationType.CODE_REVIEW:
        return readings.follow(store, found, str(label), actor)
    act = _ACTS[_asked(found)].get(str(label))
    if act is None or found.bead is None:
        return False
    with store.together():
        reason = act(store, found, actor)
        store.resolve(found.id, str(label), actor)
        if store.bead(found.bead).held != reason:
            store.record(Event(Kind.HELD, found.bead, actor=actor, data={"reason": reason}))
    return True


Act = Callable[[Store, Escalation, str], str]
"""Does it; why the bead is held then."""


def _asked(found: Escalation) -> str:
    if blockers.is_blocker(found.evidence):
        return blockers.MARK
    return failing.FEATURE if found.evidence.get(failing.FEATURE) else ""


def _rest(store: Store, found: Escalation, actor: str) -> str:
    return f"{actor} lets it rest, asked by question {found.id}"


def _pause(store: Store, found: Escalation, actor: str) -> str:
    feature = store.feature(str(found.evidence[failing.FEATURE]))
    if feature.state is not State.PAUSED:
        store.move_feature(feature.id, Step.PAUSED, actor, f"chosen at escalation {found.id}")
        resting.hold(store, feature.id, actor)
    return failing.PAUSED.format(feature=feature.id)


def _replan(store: Store, found: Escalation, actor: str) -> str:
    feature = asking_checkpoint.checkpoint(store, str(found.evidence[failing.FEATURE]), actor)
    text = f"{found.title}: a person wants the plan changed because of it"
    store.collect(feature.id, ItemKind.ESCALATION, text, actor, bead=found.bead, nth=found.id)
    return failing.RESHAPED.format(feature=feature.id)


_ACTS: Mapping[str, Mapping[str, Act]] = {
    "": {},
    blockers.MARK: {blockers.PAUSE: _rest},
    failing.FEATURE: {failing.PAUSE: _pause, failing.REPLAN: _replan, failing.ROLL_BACK: _pause},
}
"""By what nobrakes asked, and by the label of the option."""
