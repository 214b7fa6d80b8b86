"""The review of an epic as a whole: what is on its branch is brought to main by one pull request.

1. Each of its beads was reviewed when it landed there. What is proven here is all of it on the base as it is now: the
   branch itself where it contains the base, else the two together.
2. What people, their checks or ours find fault with is a bead of its own in the epic; the request follows when that
   has landed.
3. Only what the request had is done when it is merged: what landed meanwhile, or is open, goes on, and so does the
   epic.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...beads.model import CLOSED, Attempt, Bead, BeadType, DependencyType, Outcome, Status
from ...beads.proposals import submitted
from ...beads.service.beads import mend
from ...decisions.model import MENDS, EscalationType
from ...events.kinds import Event, Kind
from ...features.worker.forge import complete
from ...git.port import EPICS, Candidate, Conflict, Git, Message
from ...ports import Ports
from ...review.evidence import PERSON
from ...review.journal import Journal
from ...review.machine import Fact
from ...review.verify import NONE
from ...review.worker import evidence
from ...review.worker.evidence import AttemptEnd, Report, refused
from . import landing_branch

if TYPE_CHECKING:
    from ...store import Store


_SENT_BACK = {
    Outcome.FAILED_REVIEW: "what the checks say of the pull request of",
    Outcome.REMARKS: "what people wrote about the pull request of",
    Outcome.FINDINGS: MENDS[EscalationType.CODE_REVIEW].answers,
}
"""What a bead of its own answers, as its title says."""


def is_epic(bead: Bead) -> bool:
    """Whether the review is one of an epic."""
    return bead.type is BeadType.EPIC


def taken_in(ports: Ports, bead: Bead) -> Report:
    """What is on the epic's branch."""
    git = ports.git
    if not landing_branch.ensure_objects(ports, bead.id) or not landing_branch.landings(ports, bead.id):
        return refused(Outcome.NO_WORK, f"nothing of {bead.id} is on its branch")
    head, main = git.of_epic(bead.id).main(), git.main()
    # whether what landed first did not begin on what is main here
    landed = landing_branch.landings(ports, bead.id)
    known = [one.base for one in landed if one.base and ports.git.has(one.base)]
    first = [base for base in known if not any(_holds(ports.git, base, one.commit) for one in landed)]
    if not all(_began_on(ports, bead.id, main, base) for base in first):
        why = (
            f"its branch began on another branch than {evidence.main_of(ports)}, and would bring that along: have "
            f"review.features.{bead.id}.base name the one that it began on, then `nobrakes release {bead.id}`"
        )
        landing_branch.hold(ports, bead.id, why)
        return refused(Outcome.NO_WORK, f"{bead.id} is held: {why}")
    fork = git.fork(main, head)
    if fork is None:
        return refused(Outcome.BOUNDARY, f"the branch of {bead.id} has no history in common with main")
    anchor = git.evidence_tip() or NONE
    return Report(Fact.TAKEN_IN, {"head": head, "fork": fork, "epic": "", "base": fork, "anchor": anchor})


def _began_on(ports: Ports, epic: str, main: str, base: str) -> bool:
    """Whether between the two there is only what landed on the epic's branch once, though its bead is done by now,
    open again or in another epic, and what was joined there.
    """
    git, todo, seen = ports.git, [base], set[str]()
    while todo:
        commit = todo.pop()
        if commit in seen or git.contains(commit, main):
            continue
        seen.add(commit)
        made = git.made(commit)
        if made is None or not made.parents:
            return False
        if len(made.parents) == 1 and not landing_branch.has_landed_as(ports, epic, commit, made.trailer("Bead")):
            return False
        todo += made.parents
    return True


def without_request(ports: Ports, bead: Bead) -> Report | None:
    """What the review of an epic is told where work lands in another way by now; None: people merge it."""
    if not is_epic(bead) or ports.pulls is not None:
        return None
    why = hold_without_request(ports, bead.id)
    return Report(Fact.STOPPED, ending=AttemptEnd(Outcome.INTERRUPTED, f"{bead.id} is held: {why}"))


def hold_without_request(ports: Ports, epic: str) -> str:
    """Hold an epic that has something on its branch, which nobody would be asked to merge; why."""
    why = (
        "what landed of it is on its branch, which people merge by a pull request, and review.land is "
        f'"{ports.config().review.land}" by now: set it to "pull_request" again, then `nobrakes release {epic}`'
    )
    landing_branch.hold(ports, epic, why)
    return why


def made(ports: Ports, bead: Bead, attempt: Attempt, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
    """The epic's branch on the base: itself where it has it, else both together in the way of the settings."""
    change = journal.change
    git = ports.git
    if git.contains(base, change.head):
        return (Candidate(change.head, git.tree(change.head)),)
    if ports.config().review.diverged == "rebase":
        return _rebased(ports, bead, journal, base)
    words = Message(
        f"Merge {ports.where.base or ports.config().main} into the branch of {bead.id}",
        "",
        PERSON,
        attempt.started_at,
    )
    both = git.join(base, change.head, words)
    return both if isinstance(both, Conflict) else (both,)


def _rebased(ports: Ports, bead: Bead, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
    """The landings of the branch one by one on the base, with their words and trailers."""
    git = ports.git
    landed = {one.commit: one for one in landing_branch.landings(ports, bead.id)}
    tip = Candidate(base, git.tree(base))
    for made in reversed(git.line(journal.change.head, journal.change.fork)):
        one = landed.get(made.commit)
        if one is None:
            continue
        words = Message(one.bead.title, one.bead.description, made.author, made.at, tuple(made.trailers))
        found = git.squash(tip.commit, one.commit, words, one.base)
        if isinstance(found, Conflict):
            return found
        tip = found
    return (tip,)


def has_more(ports: Ports, bead: Bead, journal: Journal) -> Report | None:
    """What a review is told that waits for people or readers while more of the epic has landed; None: it has all."""
    if not is_epic(bead):
        return None
    head = ports.git.of_epic(bead.id).main()
    are_done = all(one.status in (Status.LANDED, *CLOSED) for one in _children(ports.store, bead))
    if head == journal.change.head or not are_done:
        return None
    why = f"more of {bead.id} has landed, and its request follows"
    return Report(Fact.STOPPED, ending=AttemptEnd(Outcome.INTERRUPTED, why, journal.change.head))


def works(ports: Ports, bead: Bead) -> list[Attempt]:
    """The attempts whose work the review is of, in the order in which they began: of an epic, what is on its branch."""
    done = [submitted(ports.store.attempts(one.id)) for one in (within(ports, bead) or [bead])]
    return sorted((one for one in done if one is not None), key=lambda one: one.id)


def within(ports: Ports, bead: Bead) -> list[Bead]:
    """The beads of an epic that its review is of; empty: it is of one bead."""
    return [one.bead for one in landing_branch.landings(ports, bead.id)] if is_epic(bead) else []


def _children(store: "Store", bead: Bead) -> list[Bead]:
    found = store.dependencies(bead.id)
    ids = [one.bead for one in found if one.needs == bead.id and one.type is DependencyType.PARENT_CHILD]
    return store.beads(ids=ids) if ids else []


def sent_back(ports: Ports, bead: Bead, journal: Journal, ending: AttemptEnd) -> None:
    """A bead of the epic for what is to be mended. Its Doer begins on what failed: base and branch together.

    The caller has a transaction.
    """
    build, change = journal.build, journal.change
    if ending.outcome not in _SENT_BACK:
        return
    git = ports.git
    if ending.outcome is Outcome.FAILED_REVIEW and (
        build.candidate not in ("", change.head) and git.contains(change.head, build.candidate)
    ):
        git.of_epic(bead.id).land(build.candidate, change.head)
    mend(ports.store, bead, _SENT_BACK[ending.outcome], ending.detail, "nobrakes")


def _merged(ports: Ports, bead: Bead, journal: Journal) -> list[landing_branch.Landed]:
    """The beads whose landing the request had."""
    build = journal.build
    git, landed = ports.git, landing_branch.landings(ports, bead.id)
    named: set[str] = set()
    if ports.config().review.diverged == "rebase":  # its commits are other ones then, with the same trailers
        named = {of for made in git.line(build.candidate, build.base) if (of := made.trailer("Bead"))}
    return [one for one in landed if one.bead.id in named or _holds(git, build.candidate, one.commit)]


def _holds(git: Git, commit: str, landing: str) -> bool:
    """Whether the commit contains the landing; what is gone from git nobody can tell of."""
    return git.has(landing) and git.contains(landing, commit)


def is_a_landing(ports: Ports, bead: Bead, merged: str) -> bool:
    """Whether the epic came to main by the very commit that one of its beads landed by, and that has its record."""
    return is_epic(bead) and any(one.commit == merged for one in landing_branch.landings(ports, bead.id))


def let_go(ports: Ports, bead: Bead, journal: Journal) -> None:
    """Archive the branch whose request is merged. It stays where it has more than the request had."""
    git, name = ports.git, f"{EPICS}/{bead.id}"
    there = git.kept().get(name)
    if there is None:
        return
    git.pin(f"archive/{bead.id}/epic-{there[:12]}", there)
    if len(_merged(ports, bead, journal)) == len(landing_branch.landings(ports, bead.id)):
        git.pin(name, None)


def end(ports: Ports, bead: Bead, journal: Journal, merged: str) -> Kind:
    """What the merged request had is done, and with it the feature that the epic is. The caller has a transaction.

    Gives the kind of event by which the epic's review ends: MERGED, or LANDED where the epic goes on with what the
    request had not.
    """
    reason = (
        "main had all of it already" if merged == journal.build.base else f"the pull request of {bead.id} was merged"
    )
    for one in _merged(ports, bead, journal):
        is_there = ports.git.contains(one.commit, merged)
        data = {
            "merged_commit": one.commit if is_there else merged,
            "base": one.base if is_there else "",
            "reason": reason,
            "with": bead.id,
            "whole": merged,
        }
        ports.store.record(Event(Kind.FOUND_MERGED, one.bead.id, data=data))
    if any(one.status not in CLOSED for one in _children(ports.store, bead)):
        return Kind.LANDED
    complete(ports.store, bead.id)
    return Kind.MERGED


def adds_nothing(ports: Ports, candidate: Sequence[Candidate], base: str) -> bool:
    """Whether main has all of the branch already, by whatever way."""
    return candidate[-1].tree == ports.git.tree(base)
