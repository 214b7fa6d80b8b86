"""`take`: a person works on a bead themselves, in a worktree of their own beside the repository.

1. Who works on the bead is stopped, and what it made is archived first; the bead is held for the person.
2. The worktree has the bead's branch, where it is by now; what nobody began is a branch from main. Where the branch
   conflicts with main it is rebased, and stands at the conflict.
3. It lies neither in .nobrakes nor in the person's checkout, and nothing that lies anywhere is overwritten. What was
   taken before is told, and not made again.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.beads.attempt import FORK, Attempt
from ..core.beads.bead import CLOSED, NO_AGENTS, WAITING_FOR_AGENT, WORKING, Bead, BeadType, Role, Status
from ..core.beads.branches import named
from ..core.beads.events import Event, Kind
from ..core.beads.outcomes import Outcome
from ..core.beads.taking import is_with_person, taken
from ..core.errors import GitFailed, NotAllowed, Tampered, UsageError
from ..git.landing.worktrees import Worktree
from ..git.persons import Persons
from ..paths import Paths
from ..ports.git import EPICS, Conflict, Git, Message
from ..ports.store import Store
from ..roles.delivery import git_at, where_of
from .waking import wake

if TYPE_CHECKING:
    from ..config.settings import Config


@dataclass(frozen=True, slots=True)
class Repository:
    """What taking and handing in work with; `config` names branches, and says where beads land."""

    store: Store
    git: Git
    persons: Persons
    paths: Paths
    config: "Config"

    def epic_of(self, bead: Bead) -> str:
        """The epic on whose branch the bead lands; empty: on main."""
        return where_of(self.store, self.config, bead).epic

    def git_of(self, bead: Bead) -> Git:
        """The repository as the bead sees it: main is the branch that it lands on."""
        return git_at(self.git, where_of(self.store, self.config, bead))


def repository(store: Store, git: Git, paths: Paths, config: "Config") -> Repository:
    """The repository that is open, for `take` and `hand_in`."""
    persons = Persons(paths.root, config.main)
    return Repository(store, git, persons, paths, config)


@dataclass(frozen=True, slots=True)
class Taken:
    """Where the bead is worked on. `made`: the worktree is new; `stopped`: who worked on it until now.

    `conflicts`: the files in which its branch conflicts with main, or with the branch of the epic `onto` on which it
    lands; `rebasing`: a rebase stands at them.
    """

    bead: Bead
    folder: str
    branch: str
    made: bool
    stopped: str = ""
    archived: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    rebasing: bool = False
    onto: str = ""

    @property
    def base(self) -> str:
        """What git calls what it lands on."""
        return f"refs/nobrakes/{EPICS}/{self.onto}" if self.onto else "main"


def take(here: Repository, bead: str, actor: str, to: str = "") -> Taken:
    """Take the bead. NoSuchBead, NotAllowed, UsageError: nothing was done; GitFailed: it is held only."""
    before = here.store.bead(bead)
    refuse(before)
    branch = before.branch or named(before, here.config.git.branch_pattern)
    earlier = known_place(here, bead) or here.persons.of_branch(branch)
    if earlier is not None and to and os.path.realpath(to) != os.path.realpath(earlier.path):
        raise NotAllowed(
            f"bead {bead} is worked on in {earlier.path} already",
            f"`cd {earlier.path}`; then `nobrakes hand-in {bead}`.",
        )
    folder = earlier.path if earlier is not None else _free_place(here, bead, to)
    moves = before.status in (*WORKING, Status.NEEDS_REVIEW)
    archived: tuple[str, ...] = ()
    if earlier is None or moves or not is_with_person(before.held):
        with contextlib.suppress(Tampered):  # it stays where it is
            archived = here.git.archive(before, before.fence)
        data = {"reason": taken(actor, folder), "folder": folder}
        here.store.record(Event(Kind.TAKEN, bead, actor=actor, data=data))
        wake(here.paths)
    stopped = before.assignee if before.status in WORKING and before.assignee else ""
    if earlier is not None:
        checked_out = here.persons.branch(earlier) or branch
        return Taken(here.store.bead(bead), folder, checked_out, False, stopped, archived)
    conflicts, rebasing = _make(here, before, branch, folder)
    return Taken(
        here.store.bead(bead), folder, branch, True, stopped, archived, conflicts, rebasing, here.epic_of(before)
    )


def refuse(bead: Bead) -> None:
    """NotAllowed for a bead on which nobody can work."""
    if bead.status in CLOSED:
        raise NotAllowed(f"bead {bead.id} is {bead.status.value}", f"`nobrakes reopen {bead.id}` has it done again.")
    if bead.status is Status.DRAFT:
        raise NotAllowed(f"bead {bead.id} is a draft", "`nobrakes commit-strategy` makes drafts live.")
    if bead.type is BeadType.EPIC:
        raise NotAllowed(
            f"bead {bead.id} is an epic: its children are worked on", f"`nobrakes show {bead.id}` names its children."
        )


def known_place(here: Repository, bead: str) -> Worktree | None:
    """The worktree in which the bead was taken last, if it is still there."""
    events = here.store.latest_events((Kind.TAKEN,), None, 1, bead)
    folder = str(events[0].data.get("folder") or "") if events else ""
    found = here.persons.around(folder) if folder and os.path.isdir(folder) else None
    return found if found is not None and os.path.realpath(found.path) == os.path.realpath(folder) else None


def _free_place(here: Repository, bead: str, to: str) -> str:
    """Where the worktree shall be: nothing lies there, and it is nobody's else."""
    root = os.path.realpath(here.paths.root)
    name = os.path.basename(root).removesuffix(".git")
    folder = os.path.realpath(to) if to else os.path.join(os.path.dirname(root), f"{name}-{bead}")
    if here.persons.around(os.path.dirname(folder)) is not None or folder == root or folder.startswith(root + os.sep):
        raise UsageError(f"{folder} lies in a checkout of this repository", "Name a folder outside: --to ../FOLDER.")
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise UsageError(f"there is something in {folder} already", "Name another folder: --to FOLDER.")
    above = os.path.dirname(folder)
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"{above} cannot be written", "Name a folder elsewhere: --to FOLDER.")
    return folder


def _make(here: Repository, bead: Bead, branch: str, folder: str) -> tuple[tuple[str, ...], bool]:
    """Make the worktree; the files in conflict with main, and whether a rebase stands there."""
    git = here.git_of(bead)
    main = git.main()
    head, began = _work(here, bead, main)
    is_ours = here.persons.add(folder, branch, head)
    if not is_ours:
        head = here.persons.commit(f"refs/heads/{branch}") or head
    fork = git.fork(main, head, began)
    if fork is None or git.contains(head, main):
        return (), False
    made = git.squash(main, head, Message(bead.title, "", "nobrakes <nobrakes@nobrakes.invalid>", 0.0), fork)
    if not isinstance(made, Conflict):
        return (), False
    return tuple(made.files), is_ours and here.persons.rebase(folder, main, fork)


def _work(here: Repository, bead: Bead, main: str) -> tuple[str, str | None]:
    """Where the bead's work is by now, and the commit of main under it as far as it is known."""
    git = here.git
    past = [one for one in _since_merge(here.store.attempts(bead.id)) if one.role is not Role.REVIEWER]
    if bead.status in WAITING_FOR_AGENT and not bead.branch_kept:  # what was tried is over, but for proven tests
        proven = Role.TEST_WRITER if bead.status is Status.NEEDS_DOER else None
        past = [one for one in past if one.role is proven and one.outcome is Outcome.COMPLETED]
    elif past and past[-1].role not in NO_AGENTS:
        with contextlib.suppress(GitFailed):
            tip = git.tip(bead) if git.has_workspace(bead.id) else None
            if tip is not None:
                return (main if git.contains(tip, main) else tip), past[-1].data.get(FORK)
    for one in reversed(past):
        if one.head and git.has(one.head) and not git.contains(one.head, main):
            return one.head, one.data.get(FORK)
    return main, main


def _since_merge(attempts: Sequence[Attempt]) -> Sequence[Attempt]:
    """Those after the last merge: what was merged before is on main, or was taken back."""
    merged = [n for n, one in enumerate(attempts) if one.role is Role.REVIEWER and one.outcome is Outcome.COMPLETED]
    return attempts[merged[-1] + 1 :] if merged else attempts
