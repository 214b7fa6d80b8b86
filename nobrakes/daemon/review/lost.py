"""A review whose objects are gone from git (a prune, a ref that was removed): built anew from what is still there.

1. A candidate has a ref (`pin_of`) before the journal names it, and with it all that it stands on. So only what was
   pruned in the moment between its making and its ref, or by somebody who removed refs, is ever gone.
2. A candidate is built anew from the head. A head is taken in again from the workspace. One that is nowhere any more
   sends the bead back to a Doer; that is nobody's failure.
3. After a few times a person is asked: something on this machine takes away what it is not to take away.
"""

from ...core.beads.attempt import Attempt, AttemptLog
from ...core.beads.bead import Role
from ...core.beads.escalations import EscalationType
from ...core.beads.outcomes import Outcome
from ...core.beads.taking import submitted
from ...core.board import Limits
from ...core.errors import GitFailed
from ...core.review import machine
from ...core.review.journal import Journal
from ...core.review.machine import Fact, Next
from ...ports import NewEscalation, Notice
from ..attempts.end import close
from ..ports import Ports

MOST_REBUILT = 5
"""So often one review is built anew, before a person is asked."""


def pin_of(bead: str) -> str:
    """The ref (below refs/nobrakes/) that keeps the candidate of the bead's open review alive."""
    return f"candidate/{bead}/review"


def handed_in(ports: Ports, bead: str) -> Attempt | None:
    """The Doer's or the person's attempt whose work is reviewed; None: nothing was handed in."""
    return submitted(ports.store.attempts(bead))


class Lost:
    """Looks for what is gone, whenever git fails in a review."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def look(self, attempt: Attempt, journal: Journal, limits: Limits) -> Next | None:
        """How the review goes on, or that it is over; None: nothing of it is gone, so the trouble is another one."""
        done = handed_in(self.ports, attempt.bead)
        head = journal.head or str((done and done.head) or "")
        is_head_gone = bool(head) and not self._is_there(head)
        made = (journal.candidate, *journal.chain, journal.base, journal.fork)
        if not is_head_gone and all(not commit or self._is_there(commit) for commit in made):
            return None
        if journal.rebuilt >= MOST_REBUILT:
            return self._give_up(attempt, journal)
        if is_head_gone and not self._taken_in_again(attempt, head):
            return self._nowhere(attempt, journal, head, limits)
        text = "git lost objects of its review (a prune?), and it is built anew"
        self.ports.notifier.tell(Notice(f"{attempt.bead}: {text}", attempt.bead))
        gone = Fact.HEAD_GONE if is_head_gone or not journal.candidate else Fact.CANDIDATE_GONE
        return machine.advance(journal, gone)

    def _is_there(self, commit: str) -> bool:
        return self.ports.git.is_whole(commit)

    def _taken_in_again(self, attempt: Attempt, head: str) -> bool:
        """Whether the workspace still had what was handed in."""
        git, store = self.ports.git, self.ports.store
        done = handed_in(self.ports, attempt.bead)
        if done is not None and done.role is Role.PERSON:
            return False  # a person's worktree is theirs, and an agent's clone holds something else
        fence = attempt.fence if done is None else done.fence
        try:
            for name, commit in git.kept().items():
                if commit == head and name.startswith(f"incoming/{attempt.bead}/"):
                    git.pin(name, None)  # it leads nowhere, and would be taken for the head
            return git.take_in(store.bead(attempt.bead), fence) == head and self._is_there(head)
        except GitFailed:
            return False

    def _nowhere(self, attempt: Attempt, journal: Journal, head: str, limits: Limits) -> Next:
        """The bead goes back to a Doer, who begins afresh."""
        over = machine.advance(journal, Fact.WORK_GONE)
        why = f"the work that was handed in ({head[:12]}) is gone from git and from its workspace"
        self.ports.notifier.tell(Notice(f"{attempt.bead}: {why}; it is done again", attempt.bead, urgent=True))
        log = AttemptLog(attempt.log.summary, attempt.log.blockers, attempt.log.learnings, keep_branch=False)
        close(self.ports, limits, attempt, Outcome.LOST, why, kind=machine.GOES_TO[over.act], log=log)
        return over

    def _give_up(self, attempt: Attempt, journal: Journal) -> Next:
        over = machine.advance(journal, Fact.GONE_TOO_OFTEN)
        why = (
            f"What git holds of this review was lost {journal.rebuilt + 1} times. Look for what removes objects or "
            "refs below refs/nobrakes/ here, and resolve this to review the bead again."
        )
        title = f"{attempt.bead}: git keeps losing what is reviewed"
        self.ports.store.close_attempt(
            attempt,
            machine.GOES_TO[over.act],
            Outcome.LOST,
            detail=why,
            head=journal.head,
            escalation=NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, why, {"head": journal.head}),
        )
        return over
