"""Taking a merge back where nobody pushes to main: as a bead of its own, whose pull request people merge.

1. Main is not moved here. The commit is built on what the remote's main is, and handed in; no agent works on it.
2. It takes back what people made of the bead's request, and nothing that came to main beside it.
3. The bead is done until that request is merged (daemon.pulls.reverts).
4. What is on an epic's branch only is taken off that, by a bead of the epic.
"""

from ...core.beads.bead import CLOSED, Bead, Status
from ...core.beads.taking_back import Merged
from ...core.errors import NobrakesError, NotAllowed
from ...core.pulls.delivery import Where
from ...core.pulls.pull import own_base
from ...git.taking_back import Hindered, taken_back
from ...ports import ByHand, Git, Landing, Message, Store
from ...roles.delivery import git_at
from .. import beads
from .revert import US


def asked(store: Store, git: Git, bead: Bead, merge: Merged, actor: str, base: str = "") -> str:
    """The bead that takes the merge back. NotAllowed: it was asked for already, or later work builds on it.

    `base`: the branch beside main that it was merged into.
    """
    git, line = git_at(git, Where(base)), base or "main"
    name = f"{bead.id}-back-{merge.commit[:8]}"
    known = store.beads(ids=[name])
    if known and known[0].status not in CLOSED:
        raise NotAllowed(f"taking {bead.id} back is asked for already, as bead {name}", f"`nobrakes show {name}`")
    heard = git.catch_up()
    if heard.landing is not Landing.MOVED:
        raise NotAllowed(f"{line} cannot be looked at now: {heard.reason}")
    main = git.main()
    if not merge.commit or merge.commit in git.off_main((merge.commit,)):
        why = (
            f"the merge of {bead.id} ({merge.commit[:12]}) is not on {line} any more, so there is nothing to take back"
        )
        raise NotAllowed(why, f"`nobrakes reopen {bead.id}` has it done again.")
    message = Message(
        f"Take back: {bead.title}"[:200],
        f"As {actor} asked. This reverts commit {merge.commit}.",
        US,
        store.now(),
        (("Reverts-Bead", bead.id),),
    )
    made = taken_back(git, (merge,), main, message)
    if isinstance(made, Hindered):
        raise NotAllowed(
            f"later work builds on {bead.id}: taking it back conflicts in {', '.join(made.files[:5])}",
            "Take the later merges back first, or plan a bead that undoes it.",
        )
    if made.tree == git.tree(main):
        raise NotAllowed(
            f"{line} has nothing of {bead.id} any more, so there is nothing to take back",
            f"`nobrakes reopen {bead.id}` has it done again.",
        )
    with store.together():
        new = _bead(store, bead, merge, name, bool(known), actor, line)
        if base:
            store.set_setting(own_base(new.id), base)
        kept, fence = f"incoming/{new.id}/{new.fence + 1}", new.fence + 1
        git.pin(kept, made.commit)
        try:
            store.hand_in(ByHand(new.id, actor, fence, made.commit, main, takes_back=(merge,), built=True))
        except NobrakesError:
            git.pin(kept, None)
            raise
    return new.id


def _bead(store: Store, bead: Bead, merge: Merged, name: str, is_known: bool, actor: str, line: str) -> Bead:
    """A new one, or the one that was given up before."""
    if is_known:
        return beads.reopen(store, name, actor, "it is asked for again")
    what = f"Takes the merge {merge.commit[:12]} of bead {bead.id} off {line} again, as {actor} asked."
    epic = bead.epic if bead.status is Status.LANDED else None
    return beads.add_take_back(store, f"Take back: {bead.title}", what, actor, name, epic)
