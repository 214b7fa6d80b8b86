"""Taking a merge off main again, by a commit: main only ever moves forward, and by compare-and-swap.

1. The commit is a candidate like any other: main moves to it only after it has passed every check.
2. A merge of several commits is taken back whole, by one commit.
3. What the store says is on the disk before main moves.
4. Where main is already as it would be (a killed command got that far), nothing lands.
"""

from collections.abc import Callable

from ...core.beads.bead import Bead
from ...core.beads.taking_back import Merged
from ...core.errors import GitFailed, NotAllowed
from ...git.taking_back import Hindered, taken_back
from ...ports.git import Git, Landing, Message
from ...ports.store import Store

TRIES = 5
US = "nobrakes <nobrakes@nobrakes.invalid>"


Prove = Callable[[str], None]
"""Returns when a commit passes every check; NotProven."""

Keep = Callable[[Bead, str, str], object]
"""Writes down that a bead's merge (base, commit) was taken back; done again, it changes nothing."""


def revert_merge(store: Store, git: Git, bead: Bead, commit: str, base: str, prove: Prove) -> str:
    """Put a commit on main that takes `base`..`commit` back; its id.

    NotAllowed: later work or open edits are in the way. NotProven: main would be red without it.
    """
    message = Message(
        f"Revert: {bead.title}",
        f"Taken back by hand. This reverts commit {commit}.",
        US,
        store.now(),
        (("Reverts-Bead", bead.id),),
    )
    for _ in range(TRIES):
        ready = git.catch_up()
        if ready.landing is not Landing.MOVED:
            raise NotAllowed(f"main cannot be moved now: {ready.reason}")
        main = git.main()
        if commit in git.off_main((commit,)):
            raise NotAllowed(
                f"the merge of {bead.id} ({commit[:12]}) is not on main any more, so there is nothing to take back: "
                "main was rewritten since",
                f"`nobrakes reopen {bead.id}` has it done again; `git cherry-pick {commit[:12]}` brings it back.",
            )
        made = taken_back(git, (Merged(bead.id, commit, base),), main, message)
        if isinstance(made, Hindered):
            files = ", ".join(made.files[:5])
            raise NotAllowed(
                f"later work builds on {bead.id}: taking it back conflicts in {files}",
                "Take the later merges back first, or plan a bead that undoes it.",
            )
        if made.tree == git.tree(main):
            return main
        prove(made.commit)
        store.sync()
        landed = git.land(made.commit, main)
        if landed.landing is Landing.MOVED:
            git.pin(f"archive/{bead.id}/reverted-{commit[:12]}", commit)
            return made.commit
        if landed.may_have_landed:
            raise GitFailed(
                f"nobody knows yet whether the merge of {bead.id} was taken back: {landed.reason}",
                "Say it again in a moment: it is done once.",
            )
        if landed.landing is Landing.BLOCKED:
            raise NotAllowed(f"main cannot be moved now: {landed.reason}")
    raise GitFailed("main moves faster than the merge can be taken back", "Try again in a moment.")
