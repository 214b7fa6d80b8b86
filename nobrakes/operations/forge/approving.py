"""The Forge: what the Shaper proposed, and the human's word that makes it live.

1. The Shaper proposes and nothing else: what a plan says about going live is refused on this way in, and a change to a
   bead that is live is kept beside it (core.beads.proposals).
2. commit-strategy is a person's: drafts go live and proposed changes come into force in one transaction, then the
   snapshot is committed on main.
3. Everything that is done here may be done again after a crash: what is live stays, what is committed is no change.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.bead import Bead, Role, Status
from ...core.beads.outcomes import Outcome
from ...core.errors import NoMain, OnlyByRequest, PlanError
from ...paths import FOLDER, Paths
from ...ports.git import Git, Message
from ...ports.store import Store
from ...replacing import replacing
from ..snapshot import log, since
from ..snapshot.sources import SNAPSHOT_PIN
from ..snapshot.text import remember, snapshot
from . import feature_approval
from .choosing import ALL, Choice, Made, approve
from .strategy import COMMITTED

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...roles.briefing import Briefing
    from ..plan import apply

__all__ = [
    "Approved",
    "approved",
    "bead_prompt",
    "commit_snapshot",
    "commit_strategy",
    "make_live",
    "propose",
]

US = "nobrakes <nobrakes@nobrakes.invalid>"


@dataclass(frozen=True, slots=True)
class Approved:
    """What commit-strategy did. `approved`: the drafts that went live. `commit` None: main had it all already, or there
    is no main yet.

    `changes`: the proposed changes that are in force now; `left`: those that wait on, since somebody edited the same
    thing meanwhile; `dropped`: those that had no object any more; `features`: whose plans are whole, and
    built from now on.
    """

    approved: tuple[str, ...]
    commit: str | None
    changes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def propose(store: Store, plan: "apply.Plan", actor: str, dry_run: bool = False) -> "apply.PlanReport":
    """File a plan's beads as drafts, change drafts, and keep what it wants of live beads beside them.

    PlanError for a plan that wants more than that. `dry_run`: say what would be, and write nothing.
    """
    from ..plan import apply

    ended = {node.id for node in plan.nodes if node.status == "cancelled"} - {None}
    known = {bead.id for bead in store.beads(ids=[id_ for id_ in ended if id_])} if ended else set()
    if plan.live or any(
        node.status in ("live", "done") or (node.status == "cancelled" and node.id not in known) for node in plan.nodes
    ):
        raise PlanError(
            f"{plan.source}: what is proposed becomes a draft, and goes live by commit-strategy only",
            "Take 'live' and every 'status' out of the plan, but 'cancelled' of a bead that shall be given up.",
        )
    return apply.apply_plan(store, plan, actor=actor, dry_run=dry_run)


def approved(store: Store) -> frozenset[str]:
    """The beads that a person's word made live, finished ones too."""
    return frozenset(node.id for node in store.nodes() if node.status is not Status.DRAFT)


def commit_strategy(
    store: Store, git: Git, paths: Paths, actor: str, choice: Choice = ALL, revision: str | None = None
) -> Approved:
    """Make the drafts live and bring the proposed changes into force, all or none; then commit the snapshot on main.

    `choice`: which of them. `revision`: of the StrategyView that the yes was said to; where it is another by now,
    NotAllowed. Nothing was written then, as for Deadlock, NotAllowed and BadBead of a change.
    """
    made, features = make_live(store, choice, actor, revision)
    commit = commit_snapshot(store, git, paths, _subject(made))
    from ..waking import wake

    wake(paths)
    return Approved(made.drafts, commit, made.changes, made.left, made.dropped, features)


def make_live(store: Store, choice: Choice, actor: str, revision: str | None = None) -> tuple[Made, tuple[str, ...]]:
    """The yes of commit-strategy in the store, all or none of it, and the features whose plans are whole by it.

    The snapshot that holds it is the caller's to write next.
    """
    with store.together(told=False):
        made = approve(store, choice, actor, revision)
        features = feature_approval.approved(store, made.drafts, made.changes, actor)
        store.set_setting(COMMITTED, str(store.position().seq))
    return made, features


def _subject(made: Made) -> str:
    drafts, beads = len(made.drafts), len({name.partition(":")[0] for name in made.changes})
    told = [f"{drafts} new bead{'s' if drafts > 1 else ''}"] if drafts else []
    told += [f"{beads} changed bead{'s' if beads > 1 else ''}"] if beads else []
    return f"Strategy: {', '.join(told)}" if told else "Snapshot of the beads"


def commit_snapshot(store: Store, git: Git, paths: Paths, subject: str) -> str | None:
    """Write the graph to .nobrakes/beads.jsonl and commit it with the settings; None: nothing differed, or no main."""
    upto = store.position()
    made = snapshot(store, paths)
    with replacing(paths.snapshot) as file:
        file.write(made.text)
        file.flush()
        os.fsync(file.fileno())
    remember(store, made)
    files: dict[str, bytes | None] = {}
    for name in ("config.toml", "beads.jsonl", ".gitignore"):
        path = os.path.join(paths.folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files[f"{FOLDER}/{name}"] = file.read()
    try:
        commit = git.commit_files(files, Message(subject, "", US, store.now()))
    except (
        NoMain,
        OnlyByRequest,
    ):  # no commit yet, or nobody commits on main here: the file is a person's to bring there
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
