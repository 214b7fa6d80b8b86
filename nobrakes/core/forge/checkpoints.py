"""What is collected while a feature is built, and when it goes back to its plan.

1. Suggestions of agents are collected, comments about what is left to do that a merge brought, and what beads wait for
   a person with. That is asked at once all the same; once it is decided, it is no item any more.
2. A checkpoint is due when so many items wait, when no bead of the feature has anything left to do and an item waits,
   or when a person says so. It is asked of one feature at a time: who has the repository's turn goes first.
3. Live beads go on. Only those that the new plan names are held until a person decided about it.
"""

from collections.abc import Iterable, Mapping, Sequence

from ..beads.bead import CLOSED, Status
from ..beads.escalations import Escalation
from . import data_keys as keys
from . import failing
from .actions import Checkpoint, ForgeAction, HoldNamed
from .board import ForgeBoard, Standing
from .context import line
from .feature import PLANNED, Feature, Item, ItemKind, ItemState, Stage, State
from .rules import Rules

HOLD_REASON = "the plan of feature {feature} is being changed, and names it"
"""Why a live bead is held while a new plan that names it waits for a yes."""
MOST_TOLD, SHORT = 100, 300
"""Items and questions that are told, and characters of each."""
KINDS: Mapping[str, ItemKind] = {"dependency": ItemKind.DEPENDENCY, "scope": ItemKind.SCOPE}
"""How an agent's suggestion begins that is about more than one's bead: "dependency: …", "scope: …"."""


def kind_of(suggestion: str) -> ItemKind:
    """What kind of item an agent's suggestion is."""
    word = suggestion.partition(":")[0].strip().casefold()
    return KINDS.get(word, ItemKind.SUGGESTION)


def why(rules: Rules, items: Sequence[Item], beads: Mapping[str, Status], asked: bool) -> str:
    """Why a checkpoint is due; empty: it is not."""
    if asked:
        return "a person asked for it"
    if not items:
        return ""
    if beads and all(status in CLOSED for status in beads.values()):
        return "all its beads are done"
    return f"{len(items)} items are collected" if len(items) >= rules.collect else ""


def plan(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    """What a feature that is built needs: its checkpoint, and live beads held or let go."""
    feature = one.feature
    if one.to_hold or one.to_release:
        return [HoldNamed(feature.id, one.to_hold, one.to_release)]
    if feature.stage is not Stage.IMPLEMENTATION or feature.state is not State.ACTIVE or board.paused:
        return []
    if any(other.feature.has_turn for other in board.standings):
        return []
    items = [item for item in one.items if item.state is ItemState.WAITING]
    reason = why(board.rules, items, one.beads, bool(feature.data.get(keys.CHECKPOINT_ASKED)))
    return [Checkpoint(feature.id, tuple(item.id for item in items), reason)] if reason else []


def is_changing(feature: Feature) -> bool:
    """Whether a plan that is partly live is being changed: live beads that it names are held."""
    return feature.stage in PLANNED and feature.replannings > 0


def is_over(feature: Feature, held: str | None, named: bool) -> bool:
    """Whether a bead is held for the feature's sake, and that is over. `named`: the new plan names it."""
    over = {
        HOLD_REASON: not (is_changing(feature) and named),
        failing.RESHAPED: feature.stage not in PLANNED and not feature.data.get(keys.CHECKPOINT_ASKED),
        failing.PAUSED: feature.state is not State.PAUSED,
    }
    return any(held == reason.format(feature=feature.id) and done for reason, done in over.items())


def asked(one: Escalation) -> str:
    """What stops a bead, as it is collected: its words, and what speaks for a cause."""
    kind = one.type.value.replace("_", " ")
    return f"{kind}: {one.title}" + (f"; it may be {one.hypothesis}" if one.hypothesis else "")


def told(items: Iterable[Item], escalations: Iterable[Escalation], reason: str) -> str:
    """What the Shaper is told at a checkpoint; what agents wrote is quoted, one line each."""
    parts = [
        f"A checkpoint of the feature: {reason}. Part of it is built, and its live beads go on. Decide with the person "
        "what becomes of each of these: propose new beads, which may depend on any bead, changes of live ones, or "
        "nothing. Ask where only a person can decide. Then say that the plan is whole: all of it is reviewed again."
    ]
    lines = [_line(item) for item in items]
    if lines:
        parts.append("Collected:\n" + "\n".join(lines[:MOST_TOLD]))
    open_ = [f"> {one.type.value} {one.id}, bead {one.bead}: {line(one.title, SHORT)}" for one in escalations]
    if open_:
        parts.append("Beads that wait for a person's decision:\n" + "\n".join(open_[:MOST_TOLD]))
    return "\n\n".join(parts)


def _line(item: Item) -> str:
    where = f" {item.file}:{item.line}" if item.file else ""
    whose = f" (bead {item.bead})" if item.bead else ""
    return f"> {item.kind.value}{where}{whose}: {line(item.text, SHORT)}"
