"""A checkout in which a session worked follows it: HEAD goes to the session's branch, and the index to its commit.

1. No file is touched: they are as the agent left them. No branch of a person is moved: HEAD is switched to that of the
   session, as `git switch -c` would do it.
2. It happens under the index's lock, so no git command of the person comes in between; and only where HEAD still is
   where the session began or was left. Else the person went on there, and HEAD and index stay theirs.
3. The index goes first. Killed in between, the checkout shows the session's work as staged, and doing it again ends it.
"""

from .. import commands, refs
from ..landing import worktrees
from ..landing.worktrees import Worktree
from ..location import Place


def follow(place: Place, branch: str, head: str, last: str) -> bool:
    """Whether the checkout is on the branch, at `head`, now. `last`: where the session was before.

    `branch` is at `head` or at `last` before, or is not there; else, and where the person is elsewhere, False.
    """
    assert place.worktree is not None, "who works in a checkout has one"
    here, ref = Worktree(place.worktree, place.git_dir), f"refs/heads/{branch}"
    with worktrees.locked(here) as is_ours:
        if not is_ours or here.under_way() is not None:
            return False
        own = {**here.env}
        is_there = worktrees.refs_in(here) == [ref]
        at = refs.read(place, ref)
        now = commands.run(["rev-parse", "-q", "--verify", "HEAD"], cwd=here.path, env=own, expect=(0, 1, 128)).text
        if at not in (None, last, head) or now not in (last, head) or (now == head and not is_there and head != last):
            return False
        commands.run(["read-tree", "--reset", head], cwd=here.path, env=own)
        commands.run(["update-index", "-q", "--refresh"], cwd=here.path, env=own, expect=(0, 1))
        worktrees.publish(here)
        if at != head and not refs.swap(place, ref, head, at or "0" * len(head), "nobrakes: handed back"):
            return False
        if not is_there:
            asked = ["symbolic-ref", "-m", f"nobrakes: the work of {branch}", "HEAD", ref]
            commands.run(asked, cwd=here.path, env=own)
        return True
