"""Beads as people ask for them: one with all that is about it, in one value, and many in a list.

1. `bead_page` says what the bead is, what it waits for, and what was tried. It costs what the bead's own history is
   long, not the graph.
2. A list is ordered by priority, then the oldest first; an import keeps the order of its source.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from ...agents.limits import Cost
from ...decisions.model import Escalation
from ...errors import NoSuchBead
from ...events.kinds import Event
from ...records import copied, frozen
from ...requests import model
from ...requests.model import RequestLine, RequestView
from ...review import reading
from ..graph import Node
from ..model import CLOSED, Attempt, Bead, Dependency, DependencyType, Outcome, Role, Status
from ..readiness import Why
from ..readiness import explain as explain_all
from ..work_status import BEGINS, WorkStatus, statuses

if TYPE_CHECKING:
    from ...git.port import Git
    from ...store import Store


@frozen
class BeadDetail(Bead):
    """A bead with its dependencies in both directions, attempts, open escalations, newest pull request and cost; an
    epic's includes its beads."""

    dependencies: tuple[Dependency, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    request: RequestView | None = None
    cost: Cost = Cost()


def bead_detail(store: "Store", bead: str) -> BeadDetail:
    """Raises NoSuchBead."""
    found = store.bead(bead)
    pull = store.pull(bead)
    own = {one.name: getattr(found, one.name) for one in fields(Bead)}
    return BeadDetail(
        **own,
        dependencies=tuple(store.dependencies(bead)),
        attempts=tuple(store.attempts(bead)),
        escalations=tuple(store.escalations(bead=bead)),
        request=None if pull is None else model.view(pull),
        cost=store.cost_of(bead),
    )


def neighbours(store: "Store", bead: BeadDetail) -> dict[str, Bead]:
    ids = {id_ for one in bead.dependencies for id_ in (one.bead, one.needs)}
    return {one.id: one for one in store.beads(ids=ids)} if ids else {}


PAGE = 1000


@frozen
class Review:
    """One attempt of the Reviewer. `results`: checks of its last validation, as JSON values. `outcome` None: it is at
    `step`. `commit`: the new commit of main, or of the branch `onto`."""

    attempt: int
    bead: str
    title: str
    outcome: Outcome | None
    started_at: float
    ended_at: float | None
    detail: str
    step: str
    commit: str | None
    results: tuple[Mapping[str, Any], ...]
    gates: tuple[str, ...] = ()  # the changed files that decide whether work passes
    onto: str = ""  # the epic on whose branch it lands; empty: on main


@frozen
class BeadHistory:
    """Everything about one bead. `commit`: on main; `archived`: (ref, commit) of archived branches."""

    bead: Bead
    dependencies: tuple[Dependency, ...]
    events: tuple[Event, ...]
    attempts: tuple[Attempt, ...]
    reviews: tuple[Review, ...]
    escalations: tuple[Escalation, ...]
    commit: str | None
    archived: tuple[tuple[str, str], ...]
    cost: Cost


def review_of(attempt: Attempt, bead: Bead) -> Review:
    results, onto = attempt.data.get("results"), str(attempt.data.get("epic") or "")
    commit = str(attempt.data.get("candidate", "")) if onto else bead.merged_commit
    return copied(
        Review,
        attempt,
        attempt=attempt.id,
        title=bead.title,
        step=str(attempt.data.get("step", "")),
        commit=commit if attempt.outcome is Outcome.COMPLETED else None,
        results=tuple(results) if isinstance(results, list | tuple) else (),
        gates=tuple(map(str, attempt.data.get("gates") or ())),
        onto=onto,
    )


def reviews(store: "Store", limit: int = 20) -> list[Review]:
    attempts = store.reviews(limit)
    beads = {bead.id: bead for bead in store.beads(ids=[a.bead for a in attempts])} if attempts else {}
    return [review_of(attempt, beads[attempt.bead]) for attempt in attempts]


def history(store: "Store", git: "Git | None", id: str) -> BeadHistory:
    """The post-mortem of one bead. Raises NoSuchBead. Without `git` it omits commits and archives."""
    bead = store.bead(id)
    attempts = store.attempts(id)
    events: list[Event] = []
    after = 0
    while True:
        page = store.events(after, PAGE, id)
        events += page
        if len(page) < PAGE:
            break
        after = page[-1].seq
    commit = bead.merged_commit
    archived: list[tuple[str, str]] = []
    if git is not None:
        archived = git.archived(id)
        commit = commit or git.merged().get(id)
    return BeadHistory(
        bead,
        tuple(store.dependencies(id)),
        tuple(events),
        tuple(attempts),
        tuple(review_of(attempt, bead) for attempt in attempts if attempt.role is Role.REVIEWER),
        tuple(store.escalations(open_only=False, bead=id)),
        commit,
        tuple(archived),
        store.cost_of(id),
    )


class Explained(NamedTuple):
    """Why a bead is ready or not. `whys`: the reasons' codes, in the same order."""

    bead: str
    ready: bool
    reasons: tuple[str, ...]
    whys: tuple[str, ...] = ()


def ready(store: "Store", limit: int = 20) -> list[Bead]:
    return store.ready(limit)


def ready_beyond(store: "Store", limit: int) -> int:
    return max(0, store.counts()["ready"] - limit)


def explain(store: "Store", ids: Collection[str] | None = None) -> list[Explained]:
    """The reasons of the named beads, or of all, by id. Raises NoSuchBead."""
    # a bead that is asked for by name needs its neighbourhood only: the store lets no circle in
    nodes, dependencies = store.around(tuple(ids)) if ids else (store.nodes(), store.dependencies())
    found = explain_all(nodes, dependencies, store.now())
    for id_ in ids or ():
        if id_ not in found:
            raise NoSuchBead(f"there is no bead '{id_[:80]}'")
    return [
        Explained(id_, not reasons, tuple([r.text for r in reasons]), tuple([r.why for r in reasons]))
        for id_, reasons in found.values()
        if not ids or id_ in ids
    ]


EVENTS = 200


@frozen
class BeadPage:
    """`waits_for`, `waited_for_by`: (bead, type of dependency); `reasons`: why it is not ready. `children`: an epic's;
    `can`: commands that its status allows; `request`: its newest pull request; `readings`: code reviews, `read`: their
    summary."""

    history: BeadHistory
    waits_for: tuple[tuple[Bead, str], ...]
    waited_for_by: tuple[tuple[Bead, str], ...]
    children: tuple[Bead, ...]
    reasons: tuple[str, ...]
    events: tuple[Event, ...]
    left_out: int
    can: frozenset[str]
    now: float
    request: RequestView | None = None
    readings: tuple[Mapping[str, Any], ...] = ()
    read: str = ""


def bead_page(store: "Store", git: "Git | None", id: str) -> BeadPage:
    """Raises NoSuchBead. Without `git` it omits commits and archives."""
    found = history(store, git, id)
    whole = bead_detail(store, id)
    beads = neighbours(store, whole)
    mine, others, children = [], [], []
    for one in found.dependencies:
        if (other := beads.get(one.needs if one.bead == id else one.bead)) is None:
            continue
        if one.type is DependencyType.PARENT_CHILD and one.needs == id:
            children.append(other)
        elif one.bead == id:
            mine.append((other, one.type.value))
        else:
            others.append((other, one.type.value))
    why = explain(store, [id])[0]
    readings = reading.readings_since_last_merge(reading.session_readings(store.code_reviews(id)))
    reasons = tuple(
        text for text, kind in zip(why.reasons, why.whys, strict=True) if kind not in (Why.DONE, Why.CANCELLED)
    )
    return BeadPage(
        found,
        tuple(mine),
        tuple(others),
        tuple(children),
        reasons,
        found.events[-EVENTS:],
        max(0, len(found.events) - EVENTS),
        allowed(found.bead),
        store.now(),
        whole.request,
        tuple(one.as_values() for one in readings),
        reading.summary(readings),
    )


def allowed(bead: Bead | Node) -> frozenset[str]:
    """The commands that the bead's state allows."""
    if bead.status in CLOSED:
        return frozenset({"reopen", "edit"})
    can = {"edit", "cancel", "done", "depend"}
    if bead.type != "epic" or bead.status is not Status.DRAFT:
        can |= {"release"} if bead.held is not None else {"hold"}
        can |= {"defer"}
    return frozenset(can - ({"done"} if bead.status is Status.DRAFT else set()))


WORK_STATUS_PAGE = 1000


def events_between(store: "Store", bead: str, first: int, last: int) -> Iterator[Event]:
    """A bead's events up to `last`, from its last beginning at or before `first` on, oldest first."""
    began = store.latest_events(BEGINS, first + 1, 1, bead)
    after = began[0].seq - 1 if began else 0
    while after < last and (page := store.events(after, WORK_STATUS_PAGE, bead)):
        after = page[-1].seq
        yield from (event for event in page if event.seq <= last)


def status_now(store: "Store", bead: str) -> WorkStatus | None:
    last = store.position().seq
    found = statuses(events_between(store, bead, last, last))
    return found[max(found)] if found else None


@frozen
class ListedBead(Bead):
    """A listed bead. `request`: if it waits for people at a code host."""

    request: RequestLine | None = None


@frozen
class Listing:
    """The first matching beads, and the number of matches."""

    beads: Sequence[Bead | Node]
    fitting: int
    read: int  # so many were looked at for their labels
    requested: Mapping[str, RequestLine] = field(default_factory=dict)  # those that wait for people at a code host


def listing(
    store: "Store",
    statuses: Iterable[Status] = (),
    epic: str | None = None,
    labels: Iterable[str] = (),
    limit: int | None = None,
    lines_only: bool = False,
) -> Listing:
    """The first `limit` beads (None: all) of these statuses, epic and labels. `lines_only`: a text line's fields."""
    which = tuple(statuses), None if epic is None else [epic]
    shown = store.listed(*which, -1 if limit is None else limit)
    fitting = len(shown) if limit is None else store.how_many(*which)
    beads = _read(store, shown, lines_only)
    if wanted := set(labels):
        beads = [bead for bead in beads if isinstance(bead, Bead) and wanted <= set(bead.labels)]
    return Listing(beads, fitting, len(shown), store.requested())


def with_requests(found: Listing) -> list[ListedBead]:
    names = tuple(one.name for one in fields(Bead))
    return [
        ListedBead(**{name: getattr(bead, name) for name in names}, request=found.requested.get(bead.id))
        for bead in found.beads
    ]


def _read(store: "Store", ids: list[str], lines_only: bool) -> list[Bead | Node]:
    """These beads in order; for lines of a whole graph, nodes."""
    if not ids:
        return []
    some: Sequence[Bead | Node] = store.nodes() if lines_only else store.beads(ids=ids)
    found = {bead.id: bead for bead in some}
    return [found[id_] for id_ in ids]
