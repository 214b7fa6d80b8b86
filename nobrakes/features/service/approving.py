"""The Forge: what the Shaper proposed, and the human's word that makes it live.

1. The Shaper only proposes: a plan cannot make anything live, and changes of live beads are stored as proposals
   (beads.proposals).
2. commit-strategy is a person's: drafts go live and changes apply in one transaction, then the snapshot is committed on
   main.
3. Everything can be repeated after a crash.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ... import US
from ...beads.model import Bead, BeadType, Outcome, Role, Status
from ...beads.proposals import CANCEL, ProposedChange, Standing
from ...beads.service.bead_commands import content, freeing_first
from ...errors import NobrakesError, NoMain, NotAllowed, OnlyByRequest, PlanError, UsageError
from ...events.kinds import Event, Kind
from ...files import for_git, write_atomic
from ...git.port import Git, Message
from ...paths import FOLDER, Paths
from ...records import frozen, grouped
from ...snapshot import log
from ...snapshot.beads_jsonl import dump
from ...snapshot.reader import records
from ...snapshot.service import SNAPSHOT_PIN, remember, snapshot
from ...text.cleaning import count, count_beads_and_epics
from ..model import PLANNED, Feature, Step
from ..reviewed_plan import beads_under, nodes_of, require_answers, under, unsigned
from .strategy import COMMITTED, proposals, revision

if TYPE_CHECKING:
    from ...agents.prompts import Briefing
    from ...config.settings import Config
    from ...plans.nodes import Plan
    from ...plans.service import PlanReport
    from ...store import Store


# A feature is approved when something of its plan went live and nothing of it still waits, in the transaction of
# commit-strategy.
def feature_approval_approved(
    store: "Store", drafts: Collection[str], changes: Collection[str], actor: str
) -> tuple[str, ...]:
    """The features completed by approving these drafts and changes (BEAD:PART); they are built from now on."""
    named = {*drafts, *(name.partition(":")[0] for name in changes)}
    if not named:
        return ()
    return tuple(
        one.id for one in store.features() if one.stage in PLANNED and _approve(store, one, frozenset(named), actor)
    )


def _approve(store: "Store", feature: Feature, named: frozenset[str], actor: str) -> bool:
    beads = beads_under(store, feature.id)
    if named.isdisjoint(bead.id for bead in beads):
        return False
    if any(bead.status is Status.DRAFT or bead.proposed for bead in beads):
        return False
    if not feature.plan:
        store.keep_plan(feature.id, nodes_of(store, feature.id), "approved by a person", actor)
    store.move_feature(feature.id, Step.APPROVED, actor, "a person approved the feature's plan")
    return True


def require(store: "Store", drafts: Collection[str]) -> None:
    """NotAllowed if a draft belongs to a feature whose plan is not signed off, or has an unanswered open point."""
    if (feature := unsigned(store, drafts)) is not None:
        raise NotAllowed(
            f"the plan of feature {feature.id} ({feature.title[:60]}) is not signed off",
            f"`nobrakes forge reviews {feature.id}` shows the plan's reviews and the command for the sign-off.",
        )
    for feature in store.features():
        if feature.stage in PLANNED and not {feature.id, *under(store, feature.id)}.isdisjoint(drafts):
            require_answers(store, feature.id)


# What is chosen is looked at again: a part whose object somebody edited since waits on, one whose bead is closed, or
# that is so already, is dropped. The caller's transaction holds it all; a change that the store refuses refuses the
# whole yes, by its name.
@frozen
class Choice:
    """Drafts and changes: BEAD (draft, all changes) or BEAD:PART; empty `only`: all. `overwrite`: later edits too."""

    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    overwrite: frozenset[str] = frozenset()

    def has(self, bead: str, name: str) -> bool:
        """Naming a change in `overwrite` chooses it."""
        means = {bead, name}
        return not means & self.without and (not self.only or bool(means & (self.only | self.overwrite)))


ALL = Choice()


@frozen
class Made:
    """Result of an approval: drafts now live; changes applied, left and dropped."""

    drafts: tuple[str, ...]
    changes: tuple[str, ...]
    left: tuple[str, ...]
    dropped: tuple[str, ...]


def approve(store: "Store", choice: Choice, actor: str, seen: str | None = None) -> Made:
    """Apply it in the caller's transaction. NotAllowed: `seen` is not the current revision."""
    if seen is not None and seen != revision(store):
        raise NotAllowed(
            "the proposal changed while you read it, so nothing was approved",
            "Read the proposal again: `nobrakes commit-strategy`.",
        )
    found = [change for bead in proposals(store) for change in bead.changes]
    drafts = store.listed([Status.DRAFT])
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
    live = [id_ for id_ in drafts if choice.has(id_, id_) and id_ not in given_up]
    first = store.position().seq + 1
    require(store, {*live, *(one.bead for one in goes)})
    if live:
        store.approve(live, actor)
    for one in dropped:
        store.propose(one.bead, {one.part: None}, actor, Kind.CHANGE_DROPPED, one.standing.value)
    if goes:
        apply_changes(store, goes, actor)
        told = {"first": first, "drafts": live, "changes": [one.name for one in goes]}
        store.record(Event(Kind.STRATEGY_APPROVED, actor=actor, data=told))
    return Made(tuple(live), *(tuple(one.name for one in group) for group in (goes, left, dropped)))


def drop(store: "Store", names: Collection[str], actor: str) -> tuple[str, ...]:
    """Reject what is proposed under these names (BEAD: everything proposed for it)."""
    with store.write():
        found = [change for bead in proposals(store) for change in bead.changes]
        drafts = {*store.listed([Status.DRAFT])}
        wanted = frozenset(names)
        for name in sorted(wanted & drafts - {one.bead for one in found}):
            raise UsageError(f"the draft {name} has no proposed change", f"Drop the draft: `nobrakes cancel {name}`.")
        _known(wanted, found, ())
        gone = [one for one in found if {one.bead, one.name} & wanted]
        for one in gone:
            store.propose(one.bead, {one.part: None}, actor, Kind.CHANGE_DROPPED, "dropped by a person")
    return tuple(one.name for one in gone)


def _known(names: Collection[str], found: Sequence[ProposedChange], drafts: Collection[str]) -> None:
    """UsageError for a name without a waiting proposal."""
    known = {one.bead for one in found} | {one.name for one in found} | set(drafts)
    if wrong := sorted(set(names) - known):
        raise UsageError(
            f"no proposal has the name '{wrong[0][:80]}'",
            "`nobrakes commit-strategy --dry-run` lists proposals. Name a bead, or a change as BEAD:FIELD.",
        )


def apply_changes(store: "Store", goes: Sequence[ProposedChange], actor: str) -> None:
    """Approval of each bead is recorded before its changes. What frees comes before what binds: a sound result is never
    refused for a state in between."""
    for bead, parts in grouped((one.bead, one) for one in goes).items():
        store.propose(bead, {one.part: None for one in parts}, actor, Kind.CHANGE_APPROVED)
    for one in goes:
        if one.part == CANCEL:
            reason = {"reason": f"proposed by {one.actor or 'somebody'}"}
            _named([one], partial(store.record, Event(Kind.CANCELLED, one.bead, actor=actor, data=reason)))
    edges = [(one, dependency) for one in goes if (dependency := one.dependency) is not None]
    for one, edge in edges:
        if not one.after:
            _named([one], partial(store.remove_dependency, edge, actor))
    fields = grouped((one.bead, one) for one in goes if one.dependency is None and one.part != CANCEL)
    wanted = {bead: content({one.part: one.after for one in parts}) for bead, parts in fields.items()}
    for bead, values in freeing_first(store, wanted):
        _named(fields[bead], partial(store.change, bead, values, actor))
    for one, edge in edges:
        if one.after:
            _named([one], partial(store.add_dependency, edge, actor))


def _named(changes: Sequence[ProposedChange], write: Callable[[], object]) -> None:
    """Errors name the changes and how to continue without them."""
    try:
        write()
    except NobrakesError as error:
        names = " ".join(one.name for one in changes)
        error.args = (f"nothing was approved, because {names} failed: {error}",)
        error.hint = f"To approve the rest: `nobrakes commit-strategy --without {' --without '.join(names.split())}`."
        raise


@frozen
class Approved:
    """What commit-strategy did. `approved`: drafts now live. `commit` None: main has it already, or does not exist.
    `changes` applied; `left`: waiting, because somebody edited the same; `dropped`: without an object; `features`:
    built from now on; `settings_left`: edited on a branch while main has another text; `replaced`: beads that main's
    snapshot had as another clone wrote them."""

    approved: tuple[str, ...]
    commit: str | None
    changes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    settings_left: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


def propose(store: "Store", plan: "Plan", actor: str, dry_run: bool = False) -> "PlanReport":
    """Store a plan's beads as drafts and propose its changes of live ones. PlanError. `dry_run`: only report."""
    from ...plans.service import apply_plan

    ended = {node.id for node in plan.nodes if node.status == "cancelled"} - {None}
    known = {bead.id for bead in store.beads(ids=[id_ for id_ in ended if id_])} if ended else set()
    if plan.live or any(
        node.status in ("live", "done") or (node.status == "cancelled" and node.id not in known) for node in plan.nodes
    ):
        raise PlanError(
            f"{plan.source}: a proposal can only make drafts; commit-strategy approves the drafts",
            "Remove 'live' and every 'status' from the plan, except 'cancelled' for a bead to cancel.",
        )
    return apply_plan(store, plan, actor=actor, dry_run=dry_run)


def approved(store: "Store") -> frozenset[str]:
    """Every bead that is not a draft, finished ones included."""
    return frozenset(node.id for node in store.nodes() if node.status is not Status.DRAFT)


def commit_strategy(
    store: "Store", git: Git, paths: Paths, actor: str, choice: Choice = ALL, revision: str | None = None
) -> Approved:
    """Make drafts live and apply proposed changes, all or none, then commit the snapshot on main. `revision`: of the
    StrategyView that was approved. NotAllowed if it changed; nothing is written then, nor on Deadlock, NotAllowed and
    BadBead of a change."""
    made, features = make_live(store, choice, actor, revision)
    drafts, beads = len(made.drafts), len({name.partition(":")[0] for name in made.changes})
    told = [f"{drafts} new bead{'s' if drafts > 1 else ''}"] if drafts else []
    told += [f"{beads} changed bead{'s' if beads > 1 else ''}"] if beads else []
    replaced = _written_elsewhere(store, git)
    commit = commit_snapshot(store, git, paths, f"Strategy: {', '.join(told)}" if told else "Snapshot of the beads")
    from ...files import wake

    wake(paths)
    left = settings(git, paths)[1]
    return Approved(made.drafts, commit, made.changes, made.left, made.dropped, features, left, replaced)


def make_live(store: "Store", choice: Choice, actor: str, revision: str | None = None) -> tuple[Made, tuple[str, ...]]:
    """commit-strategy in the store, all or none, with completed features. The caller writes the snapshot next."""
    with store.write(told=False):
        made = approve(store, choice, actor, revision)
        features = feature_approval_approved(store, made.drafts, made.changes, actor)
        store.set_setting(COMMITTED, str(store.position().seq))
    return made, features


def commit_snapshot(store: "Store", git: Git, paths: Paths, subject: str) -> str | None:
    """Commit the graph and settings on main; None: no difference or no main. Other branches' checkouts stay."""
    upto = store.position()
    made = snapshot(store, paths)
    if git.elsewhere() is None:
        write_atomic(paths.snapshot, made.text, None)
        remember(store, made)
    files: dict[str, bytes | None] = {**settings(git, paths)[0], f"{FOLDER}/beads.jsonl": made.text}
    try:
        commit = git.commit_files(files, Message(subject, "", US, store.now()))
    except (
        NoMain,
        OnlyByRequest,
    ):  # no commit yet, or nobody commits on main here: the file is a person's to bring there
        log.keep_up(store, paths)
        return None
    git.pin(SNAPSHOT_PIN, commit or git.main())
    log.shorten(store, paths, upto)
    return commit


def _written_elsewhere(store: "Store", git: Git) -> tuple[str, ...]:
    """Beads of main's snapshot that another clone changed since ours was committed, and that are otherwise here."""
    pin, path = git.kept().get(SNAPSHOT_PIN), f"{FOLDER}/beads.jsonl"
    try:
        theirs = git.read(git.main(), path) if pin is not None else None
    except NoMain:
        return ()
    if pin is None or theirs is None or theirs == (ours := git.read(pin, path) or b""):
        return ()
    known = {*ours.split(b"\n"), *dump(store.alike()).split(b"\n")}
    others = b"\n".join(line for line in theirs.split(b"\n") if line not in known)
    with suppress(PlanError):  # git left conflict markers there
        return tuple(sorted(records(others.decode("utf-8", "replace"), path, [])))
    return ()


def settings(git: Git, paths: Paths) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The checkout's settings for main, by path, and those that only a person can bring there."""
    own = {f"{FOLDER}/{name}": text for name, text in for_git(paths.folder).items()}
    if (head := git.elsewhere()) is None:
        return own, ()
    try:
        main = git.main()
    except NoMain:
        return {}, ()
    before = {path: git.read(head, path) if head else None for path in own}
    theirs = {path: git.read(main, path) for path in own}
    edited = {path for path, text in own.items() if text not in (before[path], theirs[path])}
    mine = {path for path in edited if before[path] == theirs[path]}
    return {path: own[path] for path in mine}, tuple(sorted(edited - mine))


def bead_prompt(
    store: "Store", paths: Paths, config: "Config", id: str, role: Role | None = None, git: Git | None = None
) -> "Briefing":
    """What the next agent on this bead would get; the real prompt differs only in its nonce. NoSuchBead."""
    from ...agents.prompts import brief
    from ...daemon.deciders import ROLE_FOR

    bead = store.bead(id)
    wanted = role or ROLE_FOR.get(bead.status, Role.DOER)
    start = None if git is None else _start(store, git, id, wanted)
    if git is not None and start is not None:
        config = config.within(git, start, wanted)
    return brief(store, paths, config, config.main, bead, wanted, "preview0", instructions=_own(git, bead))


def _own(git: Git | None, bead: Bead) -> str:
    from ...agents.prompts import instructions

    try:
        main = git.main() if git is not None else None
    except NoMain:
        return ""
    return "" if git is None or main is None else instructions(lambda path: git.read(main, path), bead.touches)


def _start(store: "Store", git: Git, bead: str, role: Role) -> str | None:
    """The commit that the next attempt would start from (for a Doer proven tests, else main), or None."""
    attempts = store.attempts(bead) if role is Role.DOER else []
    proven = [a.head for a in attempts if a.role is Role.TEST_WRITER and a.outcome is Outcome.COMPLETED and a.head]
    if proven and git.has(proven[-1]):
        return proven[-1]
    try:
        return git.main()
    except NoMain:  # a repository without a commit has no tests yet
        return None


def beads_and_epics(store: "Store", ids: Collection[str]) -> str:
    epics = sum(bead.type is BeadType.EPIC for bead in store.beads(ids=ids)) if ids else 0
    return " and ".join(count_beads_and_epics(len(ids) - epics, epics, "bead"))


def told(store: "Store", done: Approved) -> list[str]:
    """The result in lines for people."""
    found = [f"{beads_and_epics(store, done.approved)} went live"] if done.approved else []
    found += [f"{count(len(done.changes), 'change')} of beads took effect"] if done.changes else []
    found += [f"agents now build feature {name}" for name in done.features]
    return found
