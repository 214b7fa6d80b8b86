"""Actions of people on beads: their own work, reverted merges, proposed changes."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from ..records import frozen
from .graph import Node
from .lifecycle import given_up, retyped
from .model import CLOSED, CONTENT, Attempt, Bead, BeadType, Dependency, DependencyType, Outcome, Role


def submitted(attempts: Sequence[Attempt]) -> Attempt | None:
    for one in reversed(attempts):
        if one.role in (Role.DOER, Role.PERSON) and one.head and one.outcome is Outcome.COMPLETED:
            return one
    return None


def is_by_person(attempts: Sequence[Attempt]) -> bool:
    found = submitted(attempts)
    return found is not None and found.role is Role.PERSON


TAKES_BACK = "takes_back"
"""In an attempt's data: the merges that its work reverts; set only on handing in."""
BUILT = "built"
"""In a handed-in attempt's data: nobrakes made the commit, not a person."""


@frozen
class Merged:
    """A bead's merge: `base`..`commit` on main; empty `base`: only the commit is known. `seq`: its event's number."""

    bead: str
    commit: str
    base: str = ""
    seq: int = 0


@frozen
class ByHand:
    """A person's work: commit `head` on `fork`, in `folder`. `fence`: above the bead's. `built`: by nobrakes."""

    bead: str
    person: str
    fence: int
    head: str
    fork: str
    folder: str = ""
    takes_back: tuple[Merged, ...] = ()
    built: bool = False


def as_data(merges: Sequence[Merged], built: bool = False) -> dict[str, Any]:
    rows = [{"bead": one.bead, "commit": one.commit, "base": one.base, "seq": one.seq} for one in merges]
    return {**({TAKES_BACK: rows} if rows else {}), **({BUILT: True} if built else {})}


def is_built(attempts: Sequence[Attempt]) -> bool:
    last = submitted(attempts)
    return last is not None and bool(last.data.get(BUILT))


def reverted_merges(attempts: Sequence[Attempt]) -> tuple[Merged, ...]:
    """The merges that a bead's work reverts, by its latest attempt that names any."""
    for one in reversed(attempts):
        if rows := one.data.get(TAKES_BACK):
            return tuple(
                Merged(str(row["bead"]), str(row["commit"]), str(row["base"]), int(row["seq"])) for row in rows
            )
    return ()


def newest_first(merges: Sequence[Merged], line: Sequence[str]) -> tuple[Merged, ...]:
    """In main's order. `line`: commits of main, newest first; missing ones sort by their event."""
    places = {commit: place for place, commit in enumerate(line)}
    known = sorted((one for one in merges if one.commit in places), key=lambda one: places[one.commit])
    return (*known, *sorted((one for one in merges if one.commit not in places), key=lambda one: -one.seq))


CANCEL = "cancel"
LISTS: Mapping[str, DependencyType] = {
    "needs": DependencyType.BLOCKS,
    "related": DependencyType.RELATED,
    "discovered_from": DependencyType.DISCOVERED_FROM,
}
"""The kinds of dependencies in plans."""
WORD_OF: Mapping[DependencyType, str] = {kind: word for word, kind in LISTS.items()}


class Standing(StrEnum):
    """The effect of approving a part now."""

    APPLIES = "applies"
    ALREADY = "already"  # the bead is as the part wants it
    EDITED = "edited"  # somebody changed the same thing since it was proposed
    CLOSED = "closed"  # the bead is done or cancelled by now


# Proposals lie beside the bead, part by part, and apply only after a person's approval. A part remembers what
# it was proposed against: where somebody edited the bead since, that edit stands until a person says otherwise.
@frozen
class ProposedChange:
    """One proposed change of a bead. `before`: its value then; `now`: its present value. For a dependency they say
    whether it exists; for a cancel `after` is true."""

    name: str  # what people call it
    bead: str
    part: str
    before: Any
    after: Any
    now: Any
    standing: Standing
    actor: str
    at: float

    @property
    def dependency(self) -> Dependency | None:
        return dependency_of(self.bead, self.part)


def part_of(dependency: Dependency) -> str:
    return f"{WORD_OF[dependency.type]}:{dependency.needs}"


def dependency_of(bead: str, part: str) -> Dependency | None:
    word, colon, needs = part.partition(":")
    return Dependency(bead, needs, LISTS[word]) if colon and word in LISTS and needs else None


def is_part(part: str) -> bool:
    return part in CONTENT or part == CANCEL or dependency_of("", part) is not None


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return value.value if isinstance(value, StrEnum) else value


def entry(before: Any, after: Any, actor: str, at: float) -> dict[str, Any]:
    return {"before": plain(before), "after": plain(after), "actor": actor, "at": at}


def sound(found: Any) -> dict[str, Any]:
    """The valid part of a stored value, which may come from an edited file."""
    if not isinstance(found, Mapping):
        return {}
    return {
        str(part): entry(kept["before"], kept["after"], str(kept.get("actor", "")), _seconds(kept.get("at")))
        for part, kept in found.items()
        if is_part(str(part)) and isinstance(kept, Mapping) and {"before", "after"} <= kept.keys()
    }


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def changes_of(bead: Bead, dependencies: Iterable[Dependency]) -> tuple[ProposedChange, ...]:
    """The bead's proposals by part, with their state. `dependencies` include its own."""
    own = frozenset(one for one in dependencies if one.bead == bead.id)
    return tuple(_change(bead, part, bead.proposed[part], own) for part in sorted(bead.proposed, key=_order))


def _order(part: str) -> tuple[int, str]:
    return (CONTENT.index(part) if part in CONTENT else len(CONTENT) + (part == CANCEL), part)


def _change(bead: Bead, part: str, kept: Mapping[str, Any], own: frozenset[Dependency]) -> ProposedChange:
    before, after = kept["before"], kept["after"]
    if (dependency := dependency_of(bead.id, part)) is not None:
        now: Any = dependency in own
    elif part == CANCEL:
        now = False
    else:
        now = plain(getattr(bead, part))
    if bead.status in CLOSED:
        standing = Standing.CLOSED
    elif now == after:
        standing = Standing.ALREADY
    else:
        standing = Standing.APPLIES if now == before else Standing.EDITED
    by, at = str(kept.get("actor", "")), _seconds(kept.get("at"))
    return ProposedChange(f"{bead.id}:{part}", bead.id, part, before, after, now, standing, by, at)


_IN_GRAPH = ("type", "title", "priority", "estimate", "epic")


def overlay(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], changes: Iterable[ProposedChange]
) -> tuple[list[Node], list[Dependency]]:
    """The graph with these changes applied, without parent-child dependencies (the nodes' epics)."""
    after = {node.id: node for node in nodes}
    edges = {one for one in dependencies if one.type is not DependencyType.PARENT_CHILD}
    for change in changes:
        if (dependency := change.dependency) is not None:
            (edges.add if change.after else edges.discard)(dependency)
        elif change.part == CANCEL:
            after[change.bead] = after[change.bead]._replace(status=given_up())
        elif change.part in _IN_GRAPH:
            made = after[change.bead]._replace(**{change.part: change.after})
            after[change.bead] = made._replace(status=retyped(made.status, made.type == BeadType.EPIC))
    known = after.keys()
    kept = [one for one in edges if one.bead in known and one.needs in known]
    whole = [n if n.epic is None or n.epic in known else n._replace(epic=None) for n in after.values()]
    return sorted(whole, key=lambda node: node.id), sorted(kept, key=lambda one: (one.bead, one.type.value, one.needs))
