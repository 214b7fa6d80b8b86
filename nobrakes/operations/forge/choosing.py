"""A person's yes to what was proposed, or to a part of it, brought into the store; and a person's no.

1. What is chosen is looked at again at this moment: a part whose object somebody edited since waits on, one whose bead
   is closed, or that is so already, is dropped. All of it is told.
2. Dependencies go before fields change, and come after: so a change never refuses itself by what it takes away.
3. The caller's transaction holds it all; a change that the store refuses refuses the whole yes, by its name.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.beads.bead import Status
from ...core.beads.events import Event, Kind
from ...core.beads.proposals import CANCEL, ProposedChange, Standing
from ...core.errors import NobrakesError, NotAllowed, UsageError
from ...ports.store import Store
from ..beads import content
from ..signed import require
from .strategy import proposals, revision


@dataclass(frozen=True, slots=True)
class Choice:
    """Which drafts and changes are meant, by BEAD (its draft, or all that is proposed for it) or BEAD:PART.

    `only` empty: all. `overwrite`: changes that replace what somebody edited since.
    """

    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    overwrite: frozenset[str] = frozenset()

    def has(self, bead: str, name: str) -> bool:
        """Whether it is chosen. Who names a change to be overwritten means it."""
        means = {bead, name}
        return not means & self.without and (not self.only or bool(means & (self.only | self.overwrite)))


ALL = Choice()


@dataclass(frozen=True, slots=True)
class Made:
    """What a yes did: the drafts that are live now, and the names of changes in force, left, dropped."""

    drafts: tuple[str, ...]
    changes: tuple[str, ...]
    left: tuple[str, ...]
    dropped: tuple[str, ...]


def approve(store: Store, choice: Choice, actor: str, seen: str | None = None) -> Made:
    """Bring it into force, in the caller's transaction. NotAllowed: `seen` is not the revision of now."""
    if seen is not None and seen != revision(store):
        raise NotAllowed(
            "what was proposed changed while you looked at it: nothing was approved",
            "Look again: `nobrakes commit-strategy`.",
        )
    found = [change for bead in proposals(store) for change in bead.changes]
    drafts = [id_ for _, id_ in store.by_priority([Status.DRAFT])]
    _known(choice.only | choice.without | choice.overwrite, found, drafts)
    chosen = [one for one in found if choice.has(one.bead, one.name)]
    over = choice.overwrite
    goes = [
        one
        for one in chosen
        if one.standing is Standing.APPLIES or (one.standing is Standing.EDITED and {one.bead, one.name} & over)
    ]
    left = [one for one in chosen if one.standing is Standing.EDITED and one not in goes]
    dropped = [one for one in chosen if one.standing in (Standing.ALREADY, Standing.CLOSED)]
    given_up = {one.bead for one in goes if one.part == CANCEL}
    live = sorted(id_ for id_ in drafts if choice.has(id_, id_) and id_ not in given_up)
    first = store.position().seq + 1
    require(store, {*live, *(one.bead for one in goes)})
    if live:
        store.approve(live, actor)
    for one in dropped:
        store.propose(one.bead, {one.part: None}, actor, Kind.CHANGE_DROPPED, one.standing.value)
    if goes:
        _apply(store, goes, actor)
        told = {"first": first, "drafts": live, "changes": [one.name for one in goes]}
        store.record(Event(Kind.STRATEGY_APPROVED, actor=actor, data=told))
    return Made(tuple(live), *(tuple(one.name for one in group) for group in (goes, left, dropped)))


def drop(store: Store, names: Collection[str], actor: str) -> tuple[str, ...]:
    """A person's no: take away what is proposed under these names (BEAD: all that is proposed for it)."""
    with store.together():
        found = [change for bead in proposals(store) for change in bead.changes]
        drafts = {id_ for _, id_ in store.by_priority([Status.DRAFT])}
        wanted = frozenset(names)
        for name in sorted(wanted & drafts - {one.bead for one in found}):
            raise UsageError(f"{name} is a draft: no change of it is proposed", f"`nobrakes cancel {name}` drops it.")
        _known(wanted, found, ())
        gone = [one for one in found if {one.bead, one.name} & wanted]
        for one in gone:
            store.propose(one.bead, {one.part: None}, actor, Kind.CHANGE_DROPPED, "dropped by a person")
    return tuple(one.name for one in gone)


def _known(names: Collection[str], found: Sequence[ProposedChange], drafts: Collection[str]) -> None:
    """UsageError for a name under which nothing waits."""
    known = {one.bead for one in found} | {one.name for one in found} | set(drafts)
    wrong = sorted(set(names) - known)
    if wrong:
        raise UsageError(
            f"nothing is proposed under the name '{wrong[0][:80]}'",
            "`nobrakes commit-strategy --dry-run` shows what waits; name a bead, or a change as BEAD:FIELD.",
        )


def _apply(store: Store, goes: Sequence[ProposedChange], actor: str) -> None:
    """Each bead's yes is written before what it changes."""
    beads: dict[str, list[ProposedChange]] = {}
    for one in goes:
        beads.setdefault(one.bead, []).append(one)
    for bead, parts in beads.items():
        store.propose(bead, {one.part: None for one in parts}, actor, Kind.CHANGE_APPROVED)
    edges = [(one, dependency) for one in goes if (dependency := one.dependency) is not None]
    for one, edge in edges:
        if not one.after:
            _named([one], partial(store.remove_dependency, edge, actor))
    for bead, parts in beads.items():
        fields = [one for one in parts if one.dependency is None and one.part != CANCEL]
        if fields:
            values = {one.part: one.after for one in fields}
            _named(fields, partial(_change, store, bead, values, actor))
    for one, edge in edges:
        if one.after:
            _named([one], partial(store.add_dependency, edge, actor))
    for one in goes:
        if one.part == CANCEL:
            reason = {"reason": f"proposed by {one.actor or 'somebody'}"}
            cancelled = Event(Kind.CANCELLED, one.bead, actor=actor, data=reason)
            _named([one], partial(store.record, cancelled))


def _change(store: Store, bead: str, values: Mapping[str, Any], actor: str) -> None:
    store.change(bead, content(values), actor)


def _named(changes: Sequence[ProposedChange], write: Callable[[], object]) -> None:
    """Write it; what the store refuses is told with the changes' names and how to go on without them."""
    try:
        write()
    except NobrakesError as error:
        names = " ".join(one.name for one in changes)
        error.args = (f"nothing was approved, since {names} cannot be: {error}",)
        error.hint = f"Approve the others: `nobrakes commit-strategy --without {' --without '.join(names.split())}`."
        raise
