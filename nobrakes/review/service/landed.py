"""Where a bead's work lands: main, an epic's branch or another base; and where main and the database differ about it.

1. The next daemon start records what main has and the database lacks; what a person took off main is theirs to decide.
2. `status` asks for maybe thousands of done beads: only ids and merges are read, git is asked about all at once, and
   main only since the commit last compared by a daemon.
3. A merge in progress is not a difference: main is read first, then the store; for done beads the other way round.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ...beads.model import CLOSED, Bead, BeadType, Status
from ...daemon.model import COMPARED
from ...errors import GitFailed, NoMain
from ...events.kinds import MERGES
from ...git.port import Git
from ...requests.model import Delivery, Where, delivery, own_base
from ...text.cleaning import count, first_of
from ..journal import Journal

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...git.port import Made
    from ...store import Store
    from ..reading import Rules
    from ..verify import Lost, Merge

NAMED = 20
"""How many beads a text names; more are counted."""


def fallen_off(done: Mapping[str, str], off: Collection[str], merged: Collection[str]) -> str:
    """A message about done beads that main lost; empty: none. `done`: bead -> merge; `off`: commits not on main;
    `merged`: beads that main still names (a rebase)."""
    gone = [(bead, commit) for bead, commit in done.items() if commit in off and bead not in merged]
    if not gone:
        return ""
    named = first_of([f"{bead} ({commit[:12]})" for bead, commit in gone], NAMED)
    return (
        f"main was rewritten and no longer contains these done beads: {named}. Restore a bead with "
        "`git cherry-pick COMMIT` on main, or let agents redo the bead with `nobrakes reopen BEAD`"
    )


RECENT = 40
"""How many of main's last commits are searched for fresh reverts by people."""


# What has begun goes on as it began, whatever the settings say meanwhile: an open request, an epic's branch that has
# something.
def delivery_of(store: "Store", config: "Config", bead: Bead) -> Delivery:
    """How the bead's work is delivered from now on; of a done bead, how it was."""
    rules = config.review.rules(config.main)
    above = epics_above(store, bead) if rules.features and bead.epic else [bead.epic] if bead.epic else []
    found = delivery(bead, above, rules)
    if rules.by_request and bead.scaffolding and bead.epic is None and (base := store.setting(own_base(bead.id))):
        found = replace(found, base=base)
    if found.direct and (pull := store.pull(bead.id)) is not None and pull.waits:
        found = replace(found, direct=False)
    if rules.by_request and bead.status in CLOSED and rules.features:
        found = replace(found, base=merged_into(store, bead))
    is_epic = bead.type is BeadType.EPIC
    own = bead.id if is_epic else bead.epic
    if rules.by_request and own and (found.direct or not (found.epic or is_epic)) and _is_begun(store, own):
        begun = delivery(bead, above, rules, is_begun=True)
        found = replace(found, epic=begun.epic, direct=begun.direct)
    return replace(found, epic="") if found.epic and _goes_by_itself(store, bead, found.epic) else found


def reading_rules(store: "Store", config: "Config", bead: str) -> "Rules":
    """How agents review the bead's code before it lands; with "auto" a person is asked about what becomes a request."""
    from ..reading import ASK, AUTO, OFF

    found = config.review.reading_rules()
    if found.way != AUTO:
        return found
    way = delivery_of(store, config, store.bead(bead)) if config.review.by_request else None
    return replace(found, way=OFF if way is None or way.direct or way.epic else ASK)


def epics_above(store: "Store", bead: Bead) -> list[str]:
    """The epics around the bead, the nearest first."""
    found: list[str] = []
    epic = bead.epic
    while epic is not None and epic not in found:
        found.append(epic)
        epic = store.bead(epic).epic
    return found


def _is_begun(store: "Store", epic: str) -> bool:
    return any(one.epic == epic for one in store.beads(statuses=(Status.LANDED,)))


def _goes_by_itself(store: "Store", bead: Bead, epic: str) -> bool:
    pull = store.pull(bead.id)
    return (pull is not None and pull.waits) or store.bead(epic).status is Status.DONE


def merged_into(store: "Store", bead: Bead) -> str:
    """The branch beside main with the bead: of its request, its epic's request, or a push; empty: none."""
    pull = store.pull(bead.id) or (store.pull(bead.epic) if bead.epic else None)
    return (store.setting(own_base(bead.id)) or "") if pull is None else pull.into


def where_of(store: "Store", config: "Config", bead: Bead) -> Where:
    """The branch on which the bead begins, is reviewed and proven."""
    if not config.review.by_request:
        return Where()
    found = delivery_of(store, config, bead)
    return Where(found.base, found.epic, found.direct)


def bases(config: "Config") -> list[str]:
    """The branches beside main that people merge features to."""
    if not config.review.by_request:
        return []
    rules = config.review.rules(config.main)
    named = dict.fromkeys(one.base for one in rules.features.values())
    return [base for base in named if base not in (None, rules.main)]


def off_main(store: "Store", git: Git, config: "Config") -> str:
    """A message about done beads that main lost; empty: none. Raises NoMain. Other branches are people's matter."""
    done = store.merges(on_main=True)
    off = git.off_main(done.values()) if done else frozenset()
    for base in bases(config) if off else ():
        with suppress(NoMain):
            off &= git_at(git, Where(base)).off_main(off)
    return fallen_off(done, off, git.merged()) if off else ""


def taken_back(store: "Store", git: Git, most: int = RECENT) -> "list[Lost]":
    """Done beads whose changes a person's commit reverted unseen, in main's last `most` commits. Raises NoMain."""
    line: list[Made] = []
    commit: str | None = git.main()
    while commit is not None and len(line) < most and (made := git.made(commit)) is not None:
        line.append(made)
        commit = made.parents[0] if made.parents else None
    if all(one.trailer("Bead") for one in line):
        return []  # nobody else was here
    from ..verify import lost_changes

    lost = [one for one in lost_changes(line, git.moves) if one.is_unseen]
    done = store.merges() if lost else {}
    return [one for one in lost if one.bead in done]


def git_at(git: Git, where: Where) -> Git:
    if where.base or where.direct:
        git = git.with_base_branch(where.base, where.direct)
    return git.with_epic_branch(where.epic) if where.epic else git


_MANY = 1000
_RECENT = 500


def off_main_message(store: "Store", git: Git, config: "Config") -> str:
    try:
        return off_main(store, git, config)
    except (NoMain, GitFailed):
        return ""  # which is told by itself


def lost_changes_messages(store: "Store", git: Git) -> list[str]:
    try:
        return [f"{one.told()}: {one.advice()}" for one in taken_back(store, git, _RECENT)]
    except (NoMain, GitFailed):
        return []  # which is told by itself


def unknown(store: "Store", git: Git) -> list[str]:
    found = [
        f"{bead} is on main as {commit[:12]}, but the database does not show it as done: `nobrakes run` corrects that"
        for bead, commit in merged_unknown(store, git)
    ]
    more = len(found) - NAMED
    return found if more <= 0 else [*found[:NAMED], f"and {count(more, 'more bead')} not shown as done in the database"]


def merged_unknown(store: "Store", git: Git) -> list[tuple[str, str]]:
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
        return [(one.bead, one.tip.commit) for one in _agreement_unknown(store, git, git.line(main, since), beads)]
    except (NoMain, GitFailed):
        return []  # which is told by itself


def _agreement_unknown(store: "Store", git: Git, line: "Sequence[Made]", beads: Mapping[str, Bead]) -> "list[Merge]":
    from ..verify import is_ours, merges  # main seldom carries what the database does not know

    standing = [one for one in merges(line) if one.stands and one.bead in beads]
    landing = {Journal.of(one.data).build.candidate for one in store.reviewing()}
    left = [one for one in standing if one.tip.commit not in landing and not _is_reported(store, one)]
    chain = {entry.commit for entry in git.evidence()} if left else set[str]()
    return [one for one in left if is_ours(one, beads[one.bead], chain, ())]


def _is_reported(store: "Store", merge: "Merge") -> bool:
    """An event names it: then a person reopened the bead."""
    named = store.latest_events(MERGES, limit=_MANY, bead=merge.bead)
    return any(event.data.get("merged_commit") == merge.tip.commit for event in named)
