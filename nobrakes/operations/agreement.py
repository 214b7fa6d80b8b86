"""Where the database and main disagree about what is merged.

What main carries and the database does not know is set right by the next start of a daemon; what a person took off main
is theirs to decide.
"""

from ..core.bead import Status
from ..core.errors import GitFailed, NoMain
from ..core.reconciling import fallen_off, is_ours, merges
from ..ports import Git, Store


def off_main(store: Store, git: Git) -> str:
    """What a person is told of done beads whose merge main does not carry any more; empty: there is none."""
    done = [bead for bead in store.beads([Status.DONE]) if bead.merged_commit]
    try:
        off = git.off_main([str(bead.merged_commit) for bead in done])
        return fallen_off(done, off, git.merged()) if off else ""
    except (NoMain, GitFailed):
        return ""  # which is told by itself


def merged_unknown(store: Store, git: Git) -> list[tuple[str, str]]:
    """(bead, commit on main) of beads that main carries, and that are not done here."""
    try:
        merged = git.merged()
    except (NoMain, GitFailed):
        return []  # which is told by itself
    beads = {bead.id: bead for bead in store.beads(ids=list(merged))} if merged else {}
    open_ = [
        bead for bead in beads.values() if bead.status is not Status.DONE and merged[bead.id] != bead.merged_commit
    ]
    if not open_:
        return []
    chain = {entry.commit for entry in git.evidence()}
    found = []
    for bead in open_:
        made = git.made(merged[bead.id])
        line = git.line(made.commit, made.parents[0]) if made is not None and made.parents else ()
        if any(is_ours(one, bead, chain, ()) for one in merges(line)):
            found.append((bead.id, merged[bead.id]))
    return found
