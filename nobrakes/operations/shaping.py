"""The Forge: the Shaper's prompt, what it proposed, and the human's word that makes it live.

1. The Shaper proposes drafts and nothing else: what a plan says about going live is refused on this way in.
2. commit-strategy is a person's: all drafts go live in one transaction, then the snapshot is committed on main.
3. Everything that is done here may be done again after a crash: what is live stays, what is committed is no change.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.assigner import ROLE_FOR
from ..core.bead import Bead, Role, Status, first_status
from ..core.circles import Circle
from ..core.errors import NoMain, PlanError
from ..core.events import Kind
from ..core.graph import deadlocks, ready_beads
from ..interop import beads as interop
from ..places import FOLDER, Places
from ..ports import Git, Message, Store
from . import plans
from .planwork import node_of
from .shaper import Conversation, conversation, install_skills, shaper_prompt

if TYPE_CHECKING:
    from ..config import Config

__all__ = [
    "Committed",
    "Conversation",
    "Strategy",
    "bead_prompt",
    "commit_snapshot",
    "commit_strategy",
    "conversation",
    "difference",
    "install_skills",
    "propose",
    "shaper_prompt",
]

COMMITTED = "strategy_committed"
"""The setting that remembers the last event before the latest commit-strategy."""
US = "nobrakes <nobrakes@nobrakes.invalid>"


@dataclass(frozen=True, slots=True)
class Strategy:
    """What commit-strategy would make live. The ids are sorted.

    `changed`: live beads that were edited since the last commit-strategy; `removed`: those cancelled since.
    """

    drafts: tuple[Bead, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    becomes_ready: tuple[str, ...]
    critical_path: tuple[str, ...]
    deadlocks: tuple[Circle, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """What commit-strategy did. `commit` None: main had it all already, or there is no main yet."""

    beads: tuple[str, ...]
    commit: str | None


def propose(store: Store, plan: plans.Plan, actor: str) -> plans.PlanReport:
    """File a plan's beads as drafts. PlanError for a plan that wants more than that."""
    if plan.live or any(node.status in ("live", "done", "cancelled") for node in plan.nodes):
        raise PlanError(
            f"{plan.source}: what is proposed becomes a draft, and goes live by commit-strategy only",
            "Take 'live' and every 'status' but draft out of the plan.",
        )
    return plans.apply_plan(store, plan, actor=actor)


def difference(store: Store) -> Strategy:
    """What commit-strategy would make live, and what was changed since the last one."""
    from ..analysis.paths import critical_path

    drafts = store.beads([Status.DRAFT])
    nodes, dependencies = store.nodes(), store.dependencies()
    live = {bead.id: node_of(replace(bead, status=first_status(bead))) for bead in drafts}
    after = [live.get(node.id, node) for node in nodes]
    now = store.now()
    becomes_ready = set(ready_beads(after, dependencies, now)) - set(ready_beads(nodes, dependencies, now))
    changed, removed = _since(store, set(live))
    return Strategy(
        tuple(drafts),
        tuple(sorted(live)),
        tuple(sorted(changed)),
        tuple(sorted(removed)),
        tuple(sorted(becomes_ready)),
        critical_path(after, dependencies),
        tuple(deadlocks(after, dependencies)),
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


def commit_strategy(store: Store, git: Git, places: Places, actor: str) -> Committed:
    """Make every draft live, all or none, then commit the snapshot with the settings on main."""
    drafts = tuple(bead.id for bead in store.beads([Status.DRAFT]))
    with store.together():
        if drafts:
            store.approve(drafts, actor)
        seq = int(store.setting(COMMITTED) or 0)
        while page := store.events(seq, 1000):
            seq = page[-1].seq
        store.set_setting(COMMITTED, str(seq))
    commit = commit_snapshot(store, git, places, _subject(drafts))
    from .control import wake

    wake(places)
    return Committed(drafts, commit)


def _subject(drafts: Sequence[str]) -> str:
    if not drafts:
        return "Snapshot of the beads"
    return f"Strategy: {len(drafts)} new bead{'s' if len(drafts) > 1 else ''}"


def commit_snapshot(store: Store, git: Git, places: Places, subject: str) -> str | None:
    """Write the graph to .nobrakes/beads.jsonl and commit it with the settings; None: nothing differed, or no main."""
    text = interop.dump(store.beads(), store.dependencies()).encode()
    temporary = f"{places.snapshot}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, places.snapshot)
    files: dict[str, bytes | None] = {}
    for name in ("config.toml", "beads.jsonl", ".gitignore"):
        path = os.path.join(places.folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files[f"{FOLDER}/{name}"] = file.read()
    try:
        return git.commit_files(files, Message(subject, "", US, store.now()))
    except NoMain:  # a repository without a commit: the first snapshot comes with the first commit-strategy after it
        return None


def bead_prompt(store: Store, config: "Config", id: str, role: Role | None = None) -> str:
    """The prompt that an agent on this bead would get now; the real one differs in its nonce. NoSuchBead."""
    from ..roles.prompts import compile_prompt

    bead = store.bead(id)
    answers = [(e.title, e.answer) for e in store.escalations(open_only=False, bead=id) if e.answer]
    wanted = role or ROLE_FOR.get(bead.status, Role.DOER)
    return compile_prompt(wanted, bead, config, store.attempts(id), answers, nonce="preview0", main=config.main)
