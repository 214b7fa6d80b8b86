"""Where a bead's work lands: main, an epic's branch or another base; and what main no longer carries of it."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ...beads.model import CLOSED, Bead, BeadType, Status
from ...errors import NoMain
from ...features.plan_beads import epics_above
from ...git.port import Git
from ...requests.model import own_base
from ...requests.text import Delivery, Where, delivery
from ...review.evidence import Made
from ...review.verify import Lost, fallen_off, lost_changes

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


RECENT = 40
"""So many of main's last commits are looked at where a person's commit may have taken merges back just now."""


# What has begun goes on as it began, whatever the settings say meanwhile: an open request, an epic's branch that has
# something.
def delivery_of(store: "Store", config: "Config", bead: Bead) -> Delivery:
    """How the bead's work gets to people from now on; of one that is done, how it got there."""
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


def _is_begun(store: "Store", epic: str) -> bool:
    """Whether the epic's branch has something that is not done."""
    return any(one.epic == epic for one in store.beads(statuses=(Status.LANDED,)))


def _goes_by_itself(store: "Store", bead: Bead, epic: str) -> bool:
    """Whether the bead has an open request of its own, or was opened again when nobody asks for its epic any more."""
    pull = store.pull(bead.id)
    return (pull is not None and pull.waits) or store.bead(epic).status is Status.DONE


def merged_into(store: "Store", bead: Bead) -> str:
    """The branch beside main that the bead came to: that of its request, of its epic's, or that it was pushed to;
    empty: there is none.
    """
    pull = store.pull(bead.id) or (store.pull(bead.epic) if bead.epic else None)
    return (store.setting(own_base(bead.id)) or "") if pull is None else pull.into


def where_of(store: "Store", config: "Config", bead: Bead) -> Where:
    """By which branch the bead is begun, reviewed and proven."""
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
    """What a person is told of done beads whose merge main does not carry any more; empty: there is none. NoMain.

    What people merged into another branch is theirs to look after.
    """
    done = store.merges(on_main=True)
    off = git.off_main(done.values()) if done else frozenset()
    for base in bases(config) if off else ():
        with suppress(NoMain):
            off &= git_at(git, Where(base)).off_main(off)
    return fallen_off(done, off, git.merged()) if off else ""


def taken_back(store: "Store", git: Git, most: int = RECENT) -> list[Lost]:
    """The merges of done beads whose changes a person's commit took back unseen, in so many of main's last commits.

    NoMain.
    """
    line: list[Made] = []
    commit: str | None = git.main()
    while commit is not None and len(line) < most and (made := git.made(commit)) is not None:
        line.append(made)
        commit = made.parents[0] if made.parents else None
    if all(one.trailer("Bead") for one in line):
        return []  # nobody else was here
    lost = [one for one in lost_changes(line, git.moves) if one.is_unseen]
    done = store.merges() if lost else {}
    return [one for one in lost if one.bead in done]


def git_at(git: Git, where: Where) -> Git:
    """The repository as it is seen there: main is that branch."""
    if where.base or where.direct:
        git = git.of_base(where.base, where.direct)
    return git.of_epic(where.epic) if where.epic else git
