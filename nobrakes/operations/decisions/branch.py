"""The branch that a person decides about: where its commits are by now, and what it changes.

1. What was handed in is looked for by its commit first, and where git has let go of that among what was archived.
2. Nothing is guessed: where nothing is left, that is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...core.beads.attempt import FORK, Attempt
from ...core.beads.escalations import Escalation
from ...core.errors import NobrakesError
from ...ports.git import Git
from .excerpts import WHOLE, excerpt, line
from .view import BranchDifference, FileDifference

FILES, LINES, BYTES = 12, 40, 200_000
GONE = "git has the commits of this branch no more, and no archive of it is left."


@dataclass(frozen=True, slots=True)
class Branch:
    """Where the work is: its commit, where it left main, and the archived ref that keeps it, if one does."""

    head: str
    base: str
    ref: str = ""


def branch(git: Git, found: Escalation, attempts: Sequence[Attempt]) -> Branch | None:
    """The branch's commits; None: there are none, or they are gone. GitFailed."""
    archived = git.archived(found.bead) if found.bead else []
    for head in _heads(found, attempts):
        if git.has(head):
            ref = next((ref for ref, commit in archived if commit == head), "")
            return Branch(head, _base(git, head, attempts), ref)
    kept = [(ref, commit) for ref, commit in archived if not ref.endswith("-wip")]
    return Branch(kept[0][1], _base(git, kept[0][1], attempts), kept[0][0]) if kept else None


def _heads(found: Escalation, attempts: Sequence[Attempt]) -> list[str]:
    """The commits that it may be about, the likeliest first."""
    named = [found.evidence.get(key) for key in ("head", "commit")]
    before = [one for one in attempts if one.started_at <= found.created_at] or list(attempts)
    return [str(head) for head in (*named, *(one.head for one in reversed(before))) if head]


def _base(git: Git, head: str, attempts: Sequence[Attempt]) -> str:
    """Where the branch left main; of what was merged, main before that; of a branch without commits, the branch."""
    main = git.main()
    if any(head == one.head == one.data.get(FORK) for one in attempts):
        return head
    if git.contains(head, main):
        parents = made.parents if (made := git.made(head)) else ()
        return parents[0] if parents else head
    began = next((str(one.data[FORK]) for one in reversed(attempts) if one.data.get(FORK)), None)
    return git.fork(main, head, began) or head


def difference(git: Git, bead: str, found: Branch | None, is_whole: bool) -> BranchDifference:
    """What it changes: the files with their counts, and the beginning of the text."""
    if found is None:
        return BranchDifference(missing=GONE)
    command = f"nobrakes diff {bead}"
    try:
        patch = git.patch(found.base, found.head, 10**7 if is_whole else BYTES)
    except NobrakesError as error:
        return BranchDifference(found.base, found.head, found.ref, missing=line(error))
    listed = patch.files if is_whole else patch.files[:FILES]
    text = replace(excerpt(patch.text, WHOLE if is_whole else LINES, is_code=True), command=command)
    return BranchDifference(
        found.base,
        found.head,
        found.ref,
        tuple(FileDifference(line(one.path), one.how, one.added, one.removed) for one in listed),
        len(patch.files) - len(listed),
        sum(one.added or 0 for one in patch.files),
        sum(one.removed or 0 for one in patch.files),
        text,
    )
