"""What an agent is told whose session goes on: what stopped it, and what is new since. It knows the rest.

The rules of prompts.py hold here as well: what agents wrote is quoted and fenced, what people wrote is bounded.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ...beads.branches import branch_of
from ...beads.model import CLOSED, Attempt, Bead, BeadType, Outcome, Status
from ...decisions.model import Escalation
from ...errors import NoMain
from ...features.plan_beads import epics_above
from ...git.port import Git
from ...requests.model import own_base
from ...requests.text import Delivery, Where, delivery
from ...review.evidence import Made
from ...review.verify import Lost, fallen_off, lost_changes
from ..transcript import PREFIX
from .quoting import answered, answers_of

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


_HAPPENED: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "You handed in, and the bead came back to you",
    Outcome.MERGE_REVIEW: "A person looked at what you handed in before the merge, and sent it back",
    Outcome.BLOCKED: "You stopped to wait for the human",
    Outcome.KILLED: "Your process was killed from outside",
    Outcome.LOST: "Your process or the machine went down",
    Outcome.TURN_LIMIT: "You had used up what one run may use",
    Outcome.AUTH: "The provider did not accept the credentials for a while",
    Outcome.BILLING: "The provider wanted money for a while",
    Outcome.RATE_LIMITED: "The provider's usage limit was reached, and is over now",
    Outcome.PROVIDER_DOWN: "The provider had an outage",
    Outcome.NETWORK: "The provider could not be reached for a while",
    Outcome.INTERRUPTED: "You were stopped, by the human or with nobrakes itself",
    Outcome.CAPPED: "You were stopped because a cap on what agents may cost was reached; there is room again",
    Outcome.CANCELLED: "The bead was taken away from you, and given back",
}


def resume_prompt(bead: Bead, last: Attempt, filed: Sequence[Escalation], changed: str, plan: str, nonce: str) -> str:
    """The prompt of an attempt that goes on with the session of `last`.

    `changed` is the bead as it is now, where that is not what the session was told; `plan` the section about its plan.
    """
    happened = _HAPPENED.get(last.outcome or Outcome.LOST, "You were stopped")
    parts = [
        f"# You go on with bead {bead.id}\n\n{happened}. This is the same session, in a new process: your branch "
        f"`{branch_of(bead)}` and your files are as they were, what you had started is gone, and what you were doing "
        "last may be done by halves. Look (`git status`, `git log`), then go on where you stopped."
    ]
    answers = answers_of(new_since(last, filed))
    if answers:
        parts.append("# What the human answered\n\n" + answered(answers, nonce))
    if plan:
        parts.append(plan)
    if changed:
        parts.append("The bead was changed meanwhile. It now reads:\n\n" + changed)
    parts.append(
        "All of your first prompt holds: commit, hand in with `nobrakes agent done`, and end your last "
        f"message with exactly one line `{PREFIX}…`."
    )
    return "\n\n".join(parts) + "\n"


def new_since(last: Attempt, filed: Sequence[Escalation]) -> list[Escalation]:
    """What was decided after the session of `last` stopped, or in its last moments while it gave up waiting; and what
    was answered while it worked, and it did not read.
    """
    ended = last.ended_at or last.started_at
    begin = last.started_at if last.outcome is Outcome.BLOCKED else ended
    decided = (one for one in filed if one.resolved_at is not None)
    return [
        one
        for one in decided
        if (one.resolved_at or 0.0) >= begin
        or (one.answer is not None and (one.read_at is None or one.read_at >= ended))
    ]


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
