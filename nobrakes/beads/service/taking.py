"""`take`: a person works on a bead themselves, in their own worktree beside the repository.

1. A running agent is stopped and its work archived first; the bead is held for the person.
2. The worktree has the bead's branch, or a new one from main. A branch that conflicts with main is left in its rebase,
   at the conflict.
3. It is outside of .nobrakes and the person's checkout, and overwrites nothing. An earlier worktree is reported, not
   recreated.
"""

import contextlib
import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import US
from ...agents.limits import State
from ...decisions import forms
from ...decisions.model import STOPS_BEAD, Escalation
from ...decisions.service import desk
from ...errors import GitFailed, NobrakesError, NotAllowed, Tampered, UsageError
from ...events.kinds import Event, Kind
from ...features.service import rollback
from ...files import wake
from ...git.landing.standing import Worktree
from ...git.persons import Persons
from ...git.port import EPICS, Conflict, Git, Message
from ...paths import Paths
from ...records import frozen
from ...review.service.landed import git_at, where_of
from ...text.cleaning import first_of
from .. import model
from ..branches import named
from ..model import Attempt, Bead, BeadType, Outcome, Retried, Role, Status, is_with_person, taken
from ..proposals import ByHand

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


@frozen
class Repository:
    """Used by take and hand_in; `config` names branches and says where beads land."""

    store: "Store"
    git: Git
    persons: Persons
    paths: Paths
    config: "Config"

    def epic_of(self, bead: Bead) -> str:
        return where_of(self.store, self.config, bead).epic

    def git_of(self, bead: Bead) -> Git:
        """The repository with the bead's target branch as main."""
        return git_at(self.git, where_of(self.store, self.config, bead))


def repository(store: "Store", git: Git, paths: Paths, config: "Config") -> Repository:
    return Repository(store, git, Persons(paths.root, config.main), paths, config)


@frozen
class Taken:
    """Where the bead is worked on. `made`: the worktree is new; `stopped`: its former worker. `conflicts`: files in
    conflict with main, or with the branch of the epic `onto`; `rebasing`: a rebase stopped there."""

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
        return f"refs/nobrakes/{EPICS}/{self.onto}" if self.onto else "main"


def take(here: Repository, bead: str, actor: str, to: str = "") -> Taken:
    """NoSuchBead, NotAllowed, UsageError: nothing was done; GitFailed: it is only held."""
    before = here.store.bead(bead)
    refuse(before)
    branch = before.branch or named(before, here.config.git.branch_pattern)
    earlier = known_place(here, bead) or here.persons.worktree_on_branch(branch)
    if earlier is not None and to and os.path.realpath(to) != os.path.realpath(earlier.path):
        raise NotAllowed(
            f"bead {bead} already has a worktree in {earlier.path}",
            f"`cd {earlier.path}`; then `nobrakes hand-in {bead}`.",
        )
    folder = earlier.path if earlier is not None else _free_place(here, bead, to)
    moves = before.status in (*model.WORKING, Status.NEEDS_REVIEW)
    archived: tuple[str, ...] = ()
    if earlier is None or moves or not is_with_person(before.held):
        with contextlib.suppress(Tampered):  # it stays where it is
            archived = here.git.archive(before, before.fence)
        data = {"reason": taken(actor, folder), "folder": folder}
        here.store.record(Event(Kind.TAKEN, bead, actor=actor, data=data))
        wake(here.paths)
    stopped = before.assignee if before.status in model.WORKING and before.assignee else ""
    if earlier is not None:
        checked_out = here.persons.branch(earlier) or branch
        return Taken(here.store.bead(bead), folder, checked_out, False, stopped, archived)
    conflicts, rebasing = _make(here, before, branch, folder)
    return Taken(
        here.store.bead(bead), folder, branch, True, stopped, archived, conflicts, rebasing, here.epic_of(before)
    )


def refuse(bead: Bead) -> None:
    if bead.status in model.CLOSED:
        raise NotAllowed(f"bead {bead.id} is {bead.status.value}", f"`nobrakes reopen {bead.id}` reopens the bead.")
    if bead.status is Status.DRAFT:
        why = "Approve the draft first: `nobrakes approve` lists what needs approval."
        raise NotAllowed(f"bead {bead.id} is a draft", why)
    if bead.type is BeadType.EPIC:
        raise NotAllowed(
            f"bead {bead.id} is an epic: take one of its children", f"`nobrakes show {bead.id}` names its children."
        )


def known_place(here: Repository, bead: str) -> Worktree | None:
    """The worktree of the bead's last take, if it exists."""
    events = here.store.latest_events((Kind.TAKEN,), None, 1, bead)
    folder = str(events[0].data.get("folder") or "") if events else ""
    found = here.persons.around(folder) if folder and os.path.isdir(folder) else None
    return found if found is not None and os.path.realpath(found.path) == os.path.realpath(folder) else None


def folder_of(store: "Store", paths: Paths, bead: Bead) -> tuple[str, bool]:
    """Where the bead is worked on, and whether by a person who has it; else it is the agents' clone; empty: nowhere."""
    taken = store.latest_events((Kind.TAKEN,), None, 1, bead.id) if is_with_person(bead.held) else []
    folders = [(str(event.data.get("folder") or ""), True) for event in taken]
    folders.append((os.path.join(paths.workspaces, bead.id), False))
    return next((one for one in folders if one[0] and os.path.exists(os.path.join(one[0], ".git"))), ("", False))


def _free_place(here: Repository, bead: str, to: str) -> str:
    root = os.path.realpath(here.paths.root)
    name = os.path.basename(root).removesuffix(".git")
    folder = os.path.realpath(to) if to else os.path.join(os.path.dirname(root), f"{name}-{bead}")
    if here.persons.around(os.path.dirname(folder)) is not None or folder == root or folder.startswith(root + os.sep):
        raise UsageError(f"{folder} is inside a checkout of this repository", "Name another folder: --to ../FOLDER.")
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise UsageError(f"{folder} is not empty", "Name another folder: --to FOLDER.")
    above = os.path.dirname(folder)
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"{above} cannot be written", "Name a folder elsewhere: --to FOLDER.")
    return folder


def _make(here: Repository, bead: Bead, branch: str, folder: str) -> tuple[tuple[str, ...], bool]:
    """Make the worktree; files in conflict with main, and whether a rebase stopped there."""
    git = here.git_of(bead)
    main = git.main()
    head, began = _work(here, bead, main)
    if not (is_ours := here.persons.add(folder, branch, head)):
        head = here.persons.commit(f"refs/heads/{branch}") or head
    if (fork := git.fork(main, head, began)) is None or git.contains(head, main):
        return (), False
    made = git.squash(main, head, Message(bead.title, "", US, 0.0), fork)
    if not isinstance(made, Conflict):
        return (), False
    return tuple(made.files), is_ours and here.persons.rebase(folder, main, fork)


def _work(here: Repository, bead: Bead, main: str) -> tuple[str, str | None]:
    """The bead's present work, and main's commit below it if known."""
    git = here.git
    past = [one for one in _since_merge(here.store.attempts(bead.id)) if one.role is not Role.REVIEWER]
    if bead.status in model.WAITING_FOR_AGENT and not bead.branch_kept:  # what was tried is over, but for proven tests
        proven = Role.TEST_WRITER if bead.status is Status.NEEDS_DOER else None
        past = [one for one in past if one.role is proven and one.outcome is Outcome.COMPLETED]
    elif past and past[-1].role not in model.NO_AGENTS:
        with contextlib.suppress(GitFailed):
            tip = git.tip(bead) if git.has_workspace(bead.id) else None
            if tip is not None:
                return (main if git.contains(tip, main) else tip), past[-1].data.get(model.FORK)
    for one in reversed(past):
        if one.head and git.has(one.head) and not git.contains(one.head, main):
            return one.head, one.data.get(model.FORK)
    return main, main


def _since_merge(attempts: Sequence[Attempt]) -> Sequence[Attempt]:
    merged = [n for n, one in enumerate(attempts) if one.role is Role.REVIEWER and one.outcome is Outcome.COMPLETED]
    return attempts[merged[-1] + 1 :] if merged else attempts


_SHOWN = 5


@frozen
class HandedIn:
    """The commit, the number of the person's attempt, and its source."""

    bead: Bead
    attempt: int
    head: str
    folder: str
    branch: str


# The commit is kept under refs/nobrakes/incoming before the bead moves; folder and branch stay as they are. A bead with
# an agent at it has to be taken first.
def hand_in(here: Repository, bead: str, actor: str, source: str = "") -> HandedIn:
    """Hand in from `source`, else where it was taken, else here. NoSuchBead, NotAllowed, UsageError change nothing."""
    before = here.store.bead(bead)
    refuse(before)
    if before.status in model.WORKING:
        raise NotAllowed(
            f"{before.assignee or 'somebody'} is working on bead {bead} ({before.status.value})",
            f"`nobrakes take {bead}` stops the agent and archives the agent's work; then hand in yours.",
        )
    worktree, branch, head = _found(here, bead, source)
    if (fork := here.git.fork(here.git_of(before).main(), head)) is None:
        raise NotAllowed("your branch shares no commit with main", f"`nobrakes take {bead}` makes a branch from main.")
    if fork == head:
        raise NotAllowed(
            f"there is no new work to hand in: main already contains {head[:12]}",
            f"`nobrakes take {bead}` gives you a worktree for the bead; `--from BRANCH` names another branch.",
        )
    folder = worktree.path if worktree is not None else ""
    takes_back = rollback.takes_back(here.store, here.git, bead)
    here.git.came_through(fork, head)
    with here.store.write():
        fence = here.store.bead(bead).fence + 1
        kept = f"incoming/{bead}/{fence}"
        here.git.pin(kept, head)
        try:
            attempt = here.store.hand_in(ByHand(bead, actor, fence, head, fork, folder, takes_back))
        except NobrakesError:
            here.git.pin(kept, None)
            raise
    wake(here.paths)
    return HandedIn(here.store.bead(bead), attempt.number, head, folder, branch)


def _found(here: Repository, bead: str, source: str) -> tuple[Worktree | None, str, str]:
    """(worktree, branch, commit) to hand in; refuses unfinished work."""
    persons = here.persons
    if source and not os.path.isdir(source):
        commit = persons.commit(f"refs/heads/{source}") or persons.commit(source)
        if commit is None:
            raise UsageError(
                f"'{source[:80]}' is neither a folder nor a branch here", "`git branch` lists the branches."
            )
        if (worktree := persons.worktree_on_branch(source)) is None:
            return None, source, commit
    else:
        worktree = persons.around(source) if source else known_place(here, bead) or _current(here, bead)
    if worktree is None:
        raise UsageError(
            f"{source or os.getcwd()} is not in a worktree of this repository",
            f"`nobrakes take {bead}` makes a worktree; `--from BRANCH` hands in a branch of the repository.",
        )
    if persons.branch(worktree) != persons.place.branch:  # of main itself there is nothing to hand in
        _finished(here, worktree, bead)
    return worktree, persons.branch(worktree), persons.head(worktree)


def _current(here: Repository, bead: str) -> Worktree | None:
    if (found := here.persons.around(os.getcwd())) is None:
        return None
    for event in here.store.latest_events((Kind.TAKEN,), None, 200):
        if event.bead != bead and event.data.get("folder") == found.path:
            raise UsageError(
                f"the worktree {found.path} was made for bead {event.bead}, not for {bead}",
                f"Type `nobrakes hand-in {event.bead}`, or name the branch: --from BRANCH.",
            )
    return found


def _finished(here: Repository, worktree: Worktree, bead: str) -> None:
    place = shlex.quote(worktree.path)
    if (under_way := worktree.under_way()) is not None:
        goes_on = "rebase" if "rebase" in under_way else under_way.split()[-1]
        how = (
            f"`git -C {place} {goes_on} --continue`" if goes_on in ("rebase", "merge", "cherry-pick", "revert") else ""
        )
        raise NotAllowed(
            f"{under_way} is not finished in {worktree.path}",
            f"Resolve the conflicts, `git -C {place} add` the files, then {how}, then `nobrakes hand-in {bead}`.",
        )
    if loose := here.persons.uncommitted(worktree):
        raise NotAllowed(
            f"{worktree.path} has uncommitted files: {first_of(loose, _SHOWN)}",
            f"Commit (`git -C {place} add -A`, `commit`) or ignore the files, then `nobrakes hand-in {bead}`.",
        )


def retry(
    store: "Store", bead: str, actor: str, note: str = "", all: bool = False, paths: Paths | None = None
) -> Retried:
    """Send the bead back to agents with `note`. NoSuchBead, NotAllowed change nothing. `all`: every question."""
    with store.write():
        before = store.bead(bead)
        if before.status is not Status.ESCALATED:  # else it may be an epic: its review as a whole begins again
            refuse(before)
        if before.status in model.WORKING and before.held is None:
            raise NotAllowed(
                f"{before.assignee or 'somebody'} is working on bead {before.id} ({before.status.value})",
                f"To start again: `nobrakes stop {before.id}`, then repeat this command.",
            )
        asked = [one for one in store.escalations(bead=bead) if one.type in STOPS_BEAD]
        if len({one.type for one in asked}) > 1 and not all:
            what = ", ".join(f"{one.id} ({one.type.value.replace('_', ' ')})" for one in asked)
            raise NotAllowed(
                f"several questions stop bead {bead}: {what}",
                f"Type `nobrakes resolve {asked[0].id} --retry`, or for all questions `nobrakes retry {bead} --all`.",
            )
        for number, one in enumerate(asked):
            if store.escalation(one.id).resolved_at is None:
                desk.resolve(store, one.id, "retry", "" if number or not takes_words(one) else note, actor)
        if note.strip() and not asked:
            store.change(bead, {"notes": "\n\n".join(filter(None, (before.notes, note)))}, actor)
        if store.bead(bead).held is not None:
            store.record(Event(Kind.RELEASED, bead, actor=actor))
        open_ = sum(one.state is State.OPEN for one in store.breakers(model.bead_owner(bead)).values())
        is_waiting = before.status is not Status.ESCALATED and (before.failures or before.retry_at is not None or open_)
        if is_waiting:
            store.record(Event(Kind.RETRIED, bead, actor=actor, data={"failures": before.failures, "reason": note}))
            store.reset_breakers(bead, actor)
        if not asked and before.held is None and not is_waiting:
            raise NotAllowed(
                f"there is nothing to retry: bead {bead} is {before.status.value}, and has no failures",
                f"`nobrakes ready --explain {bead}` shows what the bead waits for.",
            )
        after = store.bead(bead)
    if paths is not None:
        wake(paths)
    return Retried(after, tuple(one.id for one in asked), before.held, before.failures, open_)


def takes_words(one: Escalation) -> bool:
    return one.form is None or forms.form(one.form).rest() is not None
