"""Taking a merge off main again, by a commit: main only ever moves forward, and by compare-and-swap."""

from ..core.bead import Bead
from ..core.errors import GitFailed, NotAllowed
from ..ports import Conflict, Git, Landing, Message, Store

TRIES = 5
US = "nobrakes <nobrakes@nobrakes.invalid>"


def revert_merge(store: Store, git: Git, bead: Bead, commit: str) -> str:
    """Put a commit on main that takes `commit` back; its id. NotAllowed: later work or open edits are in the way."""
    message = Message(
        f"Revert: {bead.title}",
        f"Taken back by hand. This reverts commit {commit}.",
        US,
        store.now(),
        (("Reverts-Bead", bead.id),),
    )
    for _ in range(TRIES):
        main = git.main()
        if not git.contains(commit, main):
            raise NotAllowed(f"{commit[:12]} is not on main, so it cannot be taken off it")
        made = git.revert(commit, main, message)
        if isinstance(made, Conflict):
            files = ", ".join(made.files[:5])
            raise NotAllowed(
                f"later work builds on {bead.id}: taking it back conflicts in {files}",
                "Take the later merges back first, or plan a bead that undoes it.",
            )
        landed = git.land(made.commit, main)
        if landed.landing is Landing.MOVED:
            return made.commit
        if landed.landing is Landing.BLOCKED:
            raise NotAllowed(f"main cannot be moved now: {landed.reason}")
    raise GitFailed("main moves faster than the merge can be taken back", "Try again in a moment.")
