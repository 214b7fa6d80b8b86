"""Differences between the database and main about merged beads.

1. What main carries and the database does not know is set right by the next start of a daemon; what a person took off
   main is theirs to decide.
2. `status` asks, and may have many thousands of done beads: of these only ids and merges are read, git is asked about
   all of them at once, and main is read since the commit at which a daemon compared it.
3. A merge that is going on is no disagreement: main is read first, then the store; and done beads the other way round.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..agents.prompts.delivery import off_main, taken_back
from ..beads.model import Bead, Status
from ..errors import GitFailed, NoMain
from ..events.kinds import MERGES
from ..git.port import Git
from ..review.journal import Journal
from ..review.verify import COMPARED, NAMED, Merge, is_ours, merges
from ..text.cleaning import count

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..store import Store


_MANY = 1000
_RECENT = 500
"""So many of main's last commits the doctor looks at; `verify` looks at all since the first record."""


def off_main_message(store: "Store", git: Git, config: "Config") -> str:
    """What a person is told of done beads whose merge main does not carry any more; empty: there is none."""
    try:
        return off_main(store, git, config)
    except (NoMain, GitFailed):
        return ""  # which is told by itself


def lost_changes_messages(store: "Store", git: Git) -> list[str]:
    """What a person is told of done beads whose changes a commit of theirs took back unseen."""
    try:
        return [f"{one.told()}: {one.advice()}" for one in taken_back(store, git, _RECENT)]
    except (NoMain, GitFailed):
        return []  # which is told by itself


def unknown(store: "Store", git: Git) -> list[str]:
    """What a person is told of beads that main carries, and that are not done here."""
    found = [
        f"{bead} is on main as {commit[:12]}, and the database does not know: `nobrakes run` makes it done"
        for bead, commit in merged_unknown(store, git)
    ]
    more = len(found) - NAMED
    return (
        found if more <= 0 else [*found[:NAMED], f"and {count(more, 'more bead')} of which the database does not know"]
    )


def merged_unknown(store: "Store", git: Git) -> list[tuple[str, str]]:
    """(bead, commit on main) of beads that main carries, and that are not done here."""
    try:
        main = git.main()
        since = store.setting(COMPARED)
        if since == main:
            return []
        since = since if since and git.has(since) and git.contains(since, main) else None
        named = git.merged(since).keys() - store.merges().keys()
        beads = {bead.id: bead for bead in store.beads(ids=named) if bead.status is not Status.DONE} if named else {}
        if not beads:
            return []
        standing = [one for one in merges(git.line(main, since)) if one.stands and one.bead in beads]
        return [(one.bead, one.tip.commit) for one in _agreement_unknown(store, git, standing, beads)]
    except (NoMain, GitFailed):
        return []  # which is told by itself


def _agreement_unknown(store: "Store", git: Git, standing: list[Merge], beads: Mapping[str, Bead]) -> list[Merge]:
    landing = {Journal.of(one.data).build.candidate for one in store.reviewing()}
    left = [one for one in standing if one.tip.commit not in landing and not _is_told(store, one)]
    chain = {entry.commit for entry in git.evidence()} if left else set[str]()
    return [one for one in left if is_ours(one, beads[one.bead], chain, ())]


def _is_told(store: "Store", merge: Merge) -> bool:
    """Whether an event names it: then a person opened the bead again."""
    named = store.latest_events(MERGES, limit=_MANY, bead=merge.bead)
    return any(event.data.get("merged_commit") == merge.tip.commit for event in named)
