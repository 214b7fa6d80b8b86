"""What a person does to single beads: add, edit, connect, hold, defer, cancel, finish, reopen.

1. Each function is one transaction of the store; a refusal wrote nothing.
2. Cancelling or finishing a bead that is worked on ends its attempt in the same transaction; the daemon then stops
   the agent. With `places` it is woken for that at once.
3. Every step can be taken back by review.service.undo.
"""

import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import BadBead, Deadlock, NoSuchBead, NotAllowed
from ...events.kinds import Event, Kind
from ...files import wake
from ...paths import Paths
from ...text.cleaning import cut, one_line, shorten
from .. import lifecycle
from ..model import CONTENT, FIRST, Bead, BeadType, Dependency, DependencyType, Status, check_bead, parse_type

if TYPE_CHECKING:
    from ...store import Store


ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without look-alike characters."""
ID_LENGTH = 6


def new_id(store: "Store", taken: Container[str] = frozenset()) -> str:
    return unused_id(lambda found: found in taken or _exists(store, found))


def unused_id(is_taken: Callable[[str], bool]) -> str:
    import secrets  # commands that only look an id up need none of what it loads

    length = ID_LENGTH
    while True:
        for _ in range(8):
            found = "nb-" + "".join(secrets.choice(ALPHABET) for _ in range(length))
            if not is_taken(found):
                return found
        length += 1


def _exists(store: "Store", bead: str) -> bool:
    return bool(store.beads(ids=[bead]))


def known(store: "Store", bead: str) -> Bead:
    """NoSuchBead suggests similar ids."""
    try:
        return store.bead(bead)
    except NoSuchBead as error:
        from difflib import get_close_matches

        like = get_close_matches(bead[:64], [node.id for node in store.nodes()], n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(like)}?" if like else NoSuchBead.hint
        raise NoSuchBead(f"there is no bead '{cut(one_line(bead), 70)}'", hint) from error


def content(given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` converted to content fields. Raises BadBead."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name not in CONTENT:
            raise BadBead(f"'{name}' is not a field that can be set", f"The fields are: {', '.join(CONTENT)}.")
        if name == "type":
            value = value if isinstance(value, BeadType) else parse_type(str(value))
        elif FIRST[name] == ():
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise BadBead(f"'{name}' is a list of texts")
            value = tuple(dict.fromkeys(value)) if name == "labels" else tuple(value)
        elif FIRST[name] == {}:
            value = dict(value or {})
        made[name] = value
    return made


def freeing_first(store: "Store", wanted: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """These beads' edits in an order that refuses no sound result: old epics go before new ones come."""
    for bead in store.beads(ids=wanted) if len(wanted) > 1 else ():
        fields = wanted[bead.id]
        frees: dict[str, Any] = {"epic": None} if bead.epic not in (None, fields.get("epic", bead.epic)) else {}
        if bead.type is BeadType.EPIC and fields.get("type", bead.type) is not bead.type:
            frees["type"] = fields["type"]
        if frees:
            yield bead.id, frees
    yield from wanted.items()


def add(
    store: "Store",
    title: str,
    type: BeadType | str = BeadType.TASK,
    description: str = "",
    *,
    needs: Sequence[str] = (),
    id: str | None = None,
    draft: bool = True,
    actor: str = "person",
    paths: Paths | None = None,
    **fields: Any,
) -> Bead:
    """Add one bead with its dependencies. `fields`: others of CONTENT. BadBead, NoSuchBead, Deadlock write nothing."""
    made = content({"title": title, "type": type, "description": description, **fields})
    if id is not None and _exists(store, id):
        raise BadBead(f"bead {id} already exists", f"To change the bead: `nobrakes edit {id}`.")
    bead = Bead(id=id or new_id(store), **made)
    check_bead(bead)
    if bead.id in needs:
        raise Deadlock(f"bead {bead.id} cannot wait for itself")
    wanted = [*needs, *([bead.epic] if bead.epic else [])]
    known = {found.id for found in store.beads(ids=wanted)} if wanted else set()
    for other in wanted:
        if other not in known:
            raise NoSuchBead(f"there is no bead '{other}'")
    if not draft:
        bead = lifecycle.live(bead)
    store.put([bead], [Dependency(bead.id, other) for other in dict.fromkeys(needs)], actor)
    _woken(paths)
    return store.bead(bead.id)


def add_take_back(
    store: "Store", title: str, description: str, actor: str, id: str | None = None, epic: str | None = None
) -> Bead:
    """Add a live bead that stands for reverting merges on main or its epic's branch; no agent works on it. Raises as
    `add`."""
    return add(
        store,
        title[:200],
        BeadType.REPAIR,  # it may be what turns a red main green
        description,
        needs_tests=False,
        scaffolding=True,  # tests and settings that the merges brought go with them
        priority=0,
        id=id,
        epic=epic,
        draft=False,
        actor=actor,
    )


def edit(store: "Store", id: str, fields: Mapping[str, Any], actor: str, paths: Paths | None = None) -> Bead:
    """Set content fields by name. A running agent keeps what it read; the next one reads this."""
    made = content(fields)
    before = store.bead(id)
    changes = {name: value for name, value in made.items() if getattr(before, name) != value}
    if not changes:
        return before
    check_bead(replace(before, **changes))
    after = store.change(id, changes, actor)
    _woken(paths)
    return after


def _record(store: "Store", kind: Kind, id: str, actor: str, paths: Paths | None, data: Mapping[str, Any]) -> Bead:
    store.bead(id)
    store.record(Event(kind, bead=id, actor=actor, data=data))
    _woken(paths)
    return store.bead(id)


def _woken(paths: Paths | None) -> None:
    if paths is not None:
        wake(paths)


def _unfinished(store: "Store", id: str, what: str) -> Bead:
    bead = store.bead(id)
    if bead.status in (Status.DONE, Status.CANCELLED):
        raise NotAllowed(
            f"bead {id} is {bead.status.value}, so it cannot be {what}", f"`nobrakes reopen {id}` reopens the bead."
        )
    return bead


def hold(store: "Store", id: str, reason: str, actor: str, paths: Paths | None = None) -> Bead:
    """No agent starts until `release`; running work goes on. The same again is not a step."""
    _unfinished(store, id, "held")
    if (known := store.bead(id)).held == reason:
        return known
    return _record(store, Kind.HELD, id, actor, paths, {"reason": reason})


def release(store: "Store", id: str, actor: str, paths: Paths | None = None) -> Bead:
    if store.bead(id).held is None:
        raise NotAllowed(f"bead {id} is not held")
    return _record(store, Kind.RELEASED, id, actor, paths, {})


def defer(store: "Store", id: str, until: float | None, actor: str, paths: Paths | None = None) -> Bead:
    """`until`: seconds since 1970 UTC; None: not deferred."""
    _unfinished(store, id, "deferred")
    return _record(store, Kind.DEFERRED, id, actor, paths, {"until": until})


def cancel(store: "Store", id: str, reason: str, actor: str, paths: Paths | None = None) -> Bead:
    """Stops its agent; the work is archived."""
    return _record(store, Kind.CANCELLED, id, actor, paths, {"reason": reason})


def done(store: "Store", id: str, reason: str, actor: str, paths: Paths | None = None) -> Bead:
    """Stops its agent. NotAllowed for an epic with beads on its branch, which would never land."""
    if landed := [bead.id for bead in store.beads(statuses=(Status.LANDED,)) if bead.epic == id]:
        raise NotAllowed(
            f"the branch of {id} contains {', '.join(landed[:5])}; the epic is done after its pull request is merged",
            f"Merge the pull request (`nobrakes pr show {id}`), or cancel the epic: `nobrakes cancel {id}`.",
        )
    return _record(store, Kind.DONE_BY_HAND, id, actor, paths, {"reason": reason})


def reopen(store: "Store", id: str, actor: str, reason: str = "", paths: Paths | None = None) -> Bead:
    return _record(store, Kind.REOPENED, id, actor, paths, {"reason": reason})


def depend(
    store: "Store",
    bead: str,
    needs: str,
    type: DependencyType = DependencyType.BLOCKS,
    actor: str = "person",
    paths: Paths | None = None,
) -> Dependency:
    """Deadlock names the circle."""
    if bead == needs:
        raise Deadlock(f"bead {bead} cannot wait for itself")
    dependency = Dependency(bead, needs, type)
    store.add_dependency(dependency, actor)
    _woken(paths)
    return dependency


def undepend(
    store: "Store",
    bead: str,
    needs: str,
    type: DependencyType = DependencyType.BLOCKS,
    actor: str = "person",
    paths: Paths | None = None,
) -> bool:
    """Whether it existed."""
    dependency = Dependency(bead, needs, type)
    there = dependency in store.dependencies(bead)
    store.remove_dependency(dependency, actor)
    _woken(paths)
    return there


# What is to be mended in an epic that people merge as a whole: a bead of its own in that epic, since nobody works on
# an epic itself. The review of the whole begins again when it has landed.

MAX_DETAIL = 8000


def mend(store: "Store", epic: Bead, what: str, detail: str, actor: str) -> Bead:
    """Add the bead. `what`: of the epic; `detail`: for its Doer. Needs a transaction."""
    names = (f"{_mends_of(epic.id)}{number}" for number in itertools.count(1))
    mends = Bead(
        next(name for name in names if not store.beads(ids=[name])),
        f"Answer {what} {epic.id}",
        BeadType.FIX,
        description=shorten(detail, MAX_DETAIL),
        epic=epic.id,
        priority=max(0, epic.priority - 1),
        needs_tests=False,
    )
    store.put([lifecycle.live(mends)], [], actor)
    return mends


def is_mend(bead: Bead, epic: str) -> bool:
    return bead.epic == epic and bead.type is BeadType.FIX and bead.id.startswith(_mends_of(epic))


def _mends_of(epic: str) -> str:
    return f"{epic[:50]}-mend-"
