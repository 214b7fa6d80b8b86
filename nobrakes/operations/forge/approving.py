"""The Forge: what the Shaper proposed, and the human's word that makes it live.

1. The Shaper proposes drafts and nothing else: what a plan says about going live is refused on this way in, and so
   is a change to a bead that is live.
2. commit-strategy is a person's: all drafts go live in one transaction, then the snapshot is committed on main.
3. Everything that is done here may be done again after a crash: what is live stays, what is committed is no change.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, Role, Status
from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.errors import NoMain, PlanError
from ...core.graph.cycles import Circle
from ...core.graph.links import node_of
from ...core.graph.priority_levels import b_levels
from ...core.graph.readiness import Links, deadlocks, ready_beads
from ...paths import FOLDER, Paths
from ...ports import Git, Message, Store
from ..snapshot import log, since
from ..snapshot.sources import SNAPSHOT_PIN
from ..snapshot.text import remember, snapshot

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...roles.briefing import Briefing
    from ..plan import apply

__all__ = [
    "Approved",
    "Committed",
    "Strategy",
    "approved",
    "bead_prompt",
    "commit_snapshot",
    "commit_strategy",
    "difference",
    "propose",
]

COMMITTED = "strategy_committed"
"""The setting that remembers the last event before the latest commit-strategy."""
US = "nobrakes <nobrakes@nobrakes.invalid>"


@dataclass(frozen=True, slots=True)
class Strategy:
    """What commit-strategy would make live. The ids are sorted, the drafts by how much waits behind each.

    `changed`: live beads that were edited since the last commit-strategy; `removed`: those cancelled since. `needs`:
    what a draft waits for.
    """

    drafts: tuple[Bead, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    becomes_ready: tuple[str, ...]
    critical_path: tuple[str, ...]
    deadlocks: tuple[Circle, ...]
    needs: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Committed:
    """What commit-strategy did. `commit` None: main had it all already, or there is no main yet."""

    beads: tuple[str, ...]
    commit: str | None


@dataclass(frozen=True, slots=True)
class Approved:
    """What surfaces show of it. `commit` as in Committed."""

    approved: tuple[str, ...]
    commit: str | None


def propose(store: Store, plan: "apply.Plan", actor: str) -> "apply.PlanReport":
    """File a plan's beads as drafts, and change drafts. PlanError for a plan that wants more than that."""
    from ..plan import apply

    if plan.live or any(node.status in ("live", "done", "cancelled") for node in plan.nodes):
        raise PlanError(
            f"{plan.source}: what is proposed becomes a draft, and goes live by commit-strategy only",
            "Take 'live' and every 'status' but draft out of the plan.",
        )
    with store.together():
        drafts = {id_ for _, id_ in store.by_priority([Status.DRAFT])}
        report = apply.apply_plan(store, plan, actor=actor)
        live = [id_ for id_ in report.changed if id_ not in drafts]
        if live:
            raise PlanError(
                f"{plan.source}: {', '.join(live[:10])} went live already, and only drafts are changed by proposing",
                "Leave them as they are, or have a person change them: `nobrakes edit`, `nobrakes depend`, "
                "`nobrakes cancel`. A new bead may depend on any bead.",
            )
    return report


def approved(store: Store) -> frozenset[str]:
    """The beads that a person's word made live, finished ones too."""
    return frozenset(node.id for node in store.nodes() if node.status is not Status.DRAFT)


def difference(store: Store) -> Strategy:
    """What commit-strategy would make live, and what was changed since the last one."""
    from ...analysis.paths import critical_path

    drafts = store.beads([Status.DRAFT])
    nodes, dependencies = store.nodes(), store.dependencies()
    live = {bead.id: node_of(lifecycle.live(bead)) for bead in drafts}
    after = [live.get(node.id, node) for node in nodes]
    now = store.now()
    becomes_ready = set(ready_beads(after, dependencies, now)) - set(ready_beads(nodes, dependencies, now))
    changed, removed = _since(store, set(live))
    blockers = Links(nodes, dependencies).blockers
    behind = b_levels(after, dependencies)
    return Strategy(
        tuple(sorted(drafts, key=lambda draft: (-behind[draft.id], draft.priority, draft.id))),
        tuple(sorted(live)),
        tuple(sorted(changed)),
        tuple(sorted(removed)),
        tuple(sorted(becomes_ready)),
        critical_path(after, dependencies),
        tuple(deadlocks(after, dependencies)),
        {id_: tuple(blockers[id_]) for id_ in live if id_ in blockers},
    )


_EDITS = frozenset({Kind.CHANGED, Kind.DEPENDENCY_ADDED, Kind.DEPENDENCY_REMOVED})


def _since(store: Store, drafts: set[str]) -> tuple[set[str], set[str]]:
    """(edited, cancelled) live beads since the last commit-strategy; before the first one, nothing was live."""
    changed: set[str] = set()
    removed: set[str] = set()
    after = int(store.setting(COMMITTED) or 0)
    while True:
        page = store.events(after, 1000)
        for event in page:
            if event.bead is not None and event.kind in _EDITS and event.bead not in drafts:
                changed.add(event.bead)
            elif event.bead is not None and event.kind is Kind.CANCELLED:
                removed.add(event.bead)
        if len(page) < 1000:
            return changed - removed, removed
        after = page[-1].seq


def commit_strategy(store: Store, git: Git, paths: Paths, actor: str) -> Committed:
    """Make every draft live, all or none, then commit the snapshot with the settings on main."""
    drafts = tuple(sorted(id_ for _, id_ in store.by_priority([Status.DRAFT])))
    with store.together(told=False):  # the snapshot is written next, and holds it all
        if drafts:
            store.approve(drafts, actor)
        seq = int(store.setting(COMMITTED) or 0)
        while page := store.events(seq, 1000):
            seq = page[-1].seq
        store.set_setting(COMMITTED, str(seq))
    commit = commit_snapshot(store, git, paths, _subject(drafts))
    from ..waking import wake

    wake(paths)
    return Committed(drafts, commit)


def _subject(drafts: Sequence[str]) -> str:
    if not drafts:
        return "Snapshot of the beads"
    return f"Strategy: {len(drafts)} new bead{'s' if len(drafts) > 1 else ''}"


def commit_snapshot(store: Store, git: Git, paths: Paths, subject: str) -> str | None:
    """Write the graph to .nobrakes/beads.jsonl and commit it with the settings; None: nothing differed, or no main."""
    upto = store.position()
    made = snapshot(store, paths)
    temporary = f"{paths.snapshot}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(made.text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, paths.snapshot)
    remember(store, made)
    files: dict[str, bytes | None] = {}
    for name in ("config.toml", "beads.jsonl", ".gitignore"):
        path = os.path.join(paths.folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files[f"{FOLDER}/{name}"] = file.read()
    try:
        commit = git.commit_files(files, Message(subject, "", US, store.now()))
    except NoMain:  # a repository without a commit: the first snapshot comes with the first commit-strategy after it
        since.keep_up(store, paths)
        return None
    git.pin(SNAPSHOT_PIN, commit or git.main())
    log.shorten(store, paths, upto)
    return commit


def bead_prompt(
    store: Store, paths: Paths, config: "Config", id: str, role: Role | None = None, git: Git | None = None
) -> "Briefing":
    """What the next agent on this bead would be given; the real prompt differs in its nonce alone. NoSuchBead."""
    from ...core.assigner import ROLE_FOR
    from ...roles.briefing import brief

    bead = store.bead(id)
    wanted = role or ROLE_FOR.get(bead.status, Role.DOER)
    start = None if git is None else _start(store, git, id, wanted)
    if git is not None and start is not None:
        config = config.within(git, start, wanted)
    return brief(store, paths, config, config.main, bead, wanted, "preview0", instructions=_own(git, bead))


def _own(git: Git | None, bead: Bead) -> str:
    """The repository's own instructions for the bead."""
    from ...roles.instructions import instructions

    try:
        main = git.main() if git is not None else None
    except NoMain:
        return ""
    return "" if git is None or main is None else instructions(lambda path: git.read(main, path), bead.touches)


def _start(store: Store, git: Git, bead: str, role: Role) -> str | None:
    """The commit that the next attempt would start from: proven tests for a Doer, else main; None: there is none."""
    attempts = store.attempts(bead) if role is Role.DOER else []
    proven = [a.head for a in attempts if a.role is Role.TEST_WRITER and a.outcome is Outcome.COMPLETED and a.head]
    if proven and git.has(proven[-1]):
        return proven[-1]
    try:
        return git.main()
    except NoMain:  # a repository without a commit has no tests yet
        return None
