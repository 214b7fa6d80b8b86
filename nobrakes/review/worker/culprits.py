"""A red main: the queue is frozen and released, the merge that broke it is reverted, and people are told.

1. Only a done bead's merge is reverted, as a whole, by one commit; a person's own commit is only reported.
2. Main only moves forward: others may have its commits already.
3. The bead reopens and waits for a person: its checks had passed, so something else is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ... import US
from ...agents.limits import WORKSPACES
from ...agents.worker.end import close
from ...beads.model import Attempt, AttemptLog, Bead, Outcome, Role, Status
from ...beads.proposals import submitted
from ...checks.contract import CheckResult, Verdict, cannot_run, setup_failed
from ...checks.worker.validation import as_json, explain
from ...daemon.model import Limits
from ...daemon.service import control
from ...decisions import causes
from ...decisions.model import EscalationType, NewEscalation, waiting_text
from ...errors import Tampered
from ...events.kinds import MERGES, Event, Kind
from ...git.port import Candidate, Message
from ...host.port import Notice
from ...ports import Ports
from ...text.cleaning import count
from .. import machine
from ..journal import Journal
from ..machine import Fact, Next
from ..main_monitor import Phase, Watch, at_rest

if TYPE_CHECKING:
    from ...store import Store


_SEEN_GREEN = (Kind.MERGED, Kind.MAIN_GREEN, Kind.MAIN_UNFROZEN)


# One red main is one question, whoever finds it red and however often, until main was seen green: by the canary or by a
# merge. It becomes the question of the bead whose merge was taken back for it.
def question(
    store: "Store", title: str, detail: str, evidence: Mapping[str, Any], hypothesis: str = ""
) -> NewEscalation:
    """The question about a red main: adds to the open one, if any."""
    return NewEscalation(EscalationType.MAIN_RED, title, detail, evidence, hypothesis, _open(store))


def _open(store: "Store") -> int:
    green = store.latest_events(_SEEN_GREEN, limit=1)
    since = green[0].at if green else 0.0
    asked = [one.id for one in store.escalations() if one.type is EscalationType.MAIN_RED and one.created_at >= since]
    return max(asked, default=0)


FROZEN = control.FROZEN
"""The setting with the red tip while nothing may merge."""

BROKEN = control.BROKEN
"""The setting with the reason why main's checks cannot run."""

REPAIR = "canary/repair"
"""The ref (below refs/nobrakes/) of the prepared revert."""

MAX_MERGES = 500

_NOTE = 2000
_MEANWHILE = "Merges wait until main passes again. nobrakes checks main at every new commit and every hour."

_UNTIL_MENDED = (
    "The checks fail in the same way for every change, so nobrakes blames no change and counts no attempt as failed. "
    "Beads wait until the checks can run on main. Fix the checks, their set-up, or what they need. nobrakes tries "
    "again at each new commit on main, each edit of the checks, each start of `nobrakes run`, after 1, 2, 4 ... 60 "
    "minutes, then each hour, and immediately if you answer with `retry`.\n"
)

_ENDS = {
    "environment": "The last commit that passed now fails too. So the environment broke main (the machine, the "
    "network or the time), not a commit.",
    "nothing_known": "nobrakes knows no earlier commit of main that passed, so it cannot tell which commit broke main.",
    "unsure": "nobrakes stopped searching for the bad commit: the checks could not tell if an earlier commit passes.",
    "still_red": "main still fails without the suspected commit, so nobrakes did not revert the commit.",
    "person": "The failing commit is not a bead's merge, so nobrakes does not revert it. Its author decides.",
    "conflict": "Later work builds on the commit that broke main, so nobrakes cannot revert it alone.",
}


class Culprits:
    """Freezes, finds the culprit, reverts, reports."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    # --- frozen and let go -----------------------------------------------------------------------

    def freeze(self, watch: Watch, results: Sequence[CheckResult], how: str) -> Watch:
        """Stop all merging."""
        store = self.ports.store
        store.set_setting(FROZEN, watch.tip)
        store.record(Event(Kind.MAIN_FROZEN, data={"commit": watch.tip, "results": as_json(results)}))
        if broken := cannot_run(results):
            store.set_setting(BROKEN, broken)
            store.end_cooldown(WORKSPACES, "nobrakes")  # the same set-up is asked about once
            return self._ask_of_checks(watch, results, _UNTIL_MENDED)
        title = f"main is red at {watch.tip[:12]}, {how}"
        known = "" if watch.green else f"{_ENDS['nothing_known']} "
        return self._escalate(watch, title, f"{known}{_MEANWHILE}\n{explain(results)}")

    def let_go(self, watch: Watch, why: str = "") -> Watch:
        """Allow merging: main is green, unwatched, or `why`."""
        store = self.ports.store
        if store.setting(FROZEN) is not None:
            store.set_setting(FROZEN, None)
            store.set_setting(BROKEN, None)
            store.record(Event(Kind.MAIN_UNFROZEN, data={"commit": watch.tip}))
        self._resolve(watch, why or ("main is green again" if watch.tip else "main is no longer checked"))
        return replace(watch, escalation=0, results=(), frozen=False)

    def tell_green(self, watch: Watch) -> None:
        unsteady = watch.phase is Phase.CONFIRM
        self.ports.store.record(Event(Kind.MAIN_GREEN, data={"commit": watch.tip, "unsteady": unsteady}))

    def was_decided(self, watch: Watch) -> bool:
        return bool(watch.escalation) and self.ports.store.escalation(watch.escalation).resolved_at is not None

    def broken_since(self, watch: Watch) -> float | None:
        if not watch.escalation or self.ports.store.setting(BROKEN) is None:
            return None
        return self.ports.store.escalation(watch.escalation).created_at

    def _is_open(self, watch: Watch) -> bool:
        return bool(watch.escalation) and self.ports.store.escalation(watch.escalation).resolved_at is None

    def tell_end(self, before: Watch, watch: Watch, seen: Verdict, results: Sequence[CheckResult]) -> Watch:
        """End the search without a repair."""
        if not watch.frozen:  # nobody can tell what main is like
            is_asked = cannot_run(results) and WORKSPACES in self.ports.store.gates()  # of the same machine
            return watch if is_asked else self._ask_of_checks(watch, results)
        if before.phase is Phase.LOOK and cannot_run(results) and self.ports.store.setting(BROKEN) is not None:
            return self._ask_of_checks(watch, results, _UNTIL_MENDED)
        if before.phase is Phase.LOOK:
            is_news = self.was_decided(before) or self.ports.store.setting(BROKEN) is not None
            return self._escalate(watch, "main is still red", explain(results)) if is_news else watch
        if before.phase is Phase.PROVE:
            return self.tell(watch, "still_red")
        return self.tell(watch, "environment" if before.phase is Phase.KNOWN and seen is Verdict.RED else "unsure")

    def _ask_of_checks(self, watch: Watch, results: Sequence[CheckResult], meanwhile: str = "") -> Watch:
        """Ask about checks that cannot run on main, or add to the open question."""
        what = "the set-up (`setup`) failed" if setup_failed(results) else "the checks could not run"
        evidence = {"commit": watch.tip, "results": as_json(results)}
        if meanwhile:
            meanwhile = f"{meanwhile}{waiting_text(self.ports.store.beads())}\n"
        known = watch.escalation if self._is_open(watch) else 0
        title, said = f"{what} on main at {watch.tip[:12]}", explain(results)
        guess = causes.likely_cause(said)
        new = NewEscalation(EscalationType.BROKEN_CHECKS, title, f"{meanwhile}{said}", evidence, guess, known)
        return replace(watch, escalation=self.ports.store.escalate(new, None, None, "nobrakes").id)

    def tell(self, watch: Watch, why: str, whose: str = "") -> Watch:
        """Record the culprit and open its escalation. `why`: a key of _ENDS; `whose`: words about the culprit."""
        self.ports.store.record(
            Event(Kind.CULPRIT_FOUND, data={"commit": watch.culprit or None, "why": why, "green": watch.green or None})
        )
        if why == "nothing_known" and self._was_said(watch):
            return watch
        title = f"main is red since {watch.culprit[:12]}{whose}" if watch.culprit else f"main is red: {why}"
        failed = "\n".join(f"{row['name']}: {row['outcome']}: {row['reason']}\n{row['tail']}" for row in watch.results)
        return self._escalate(watch, title.replace("_", " "), f"{_ENDS[why]} {_MEANWHILE}\n{failed}")

    def _was_said(self, watch: Watch) -> bool:
        """The open question already says that no earlier pass of this tip is known."""
        asked = self.ports.store.escalation(watch.escalation) if self._is_open(watch) else None
        return asked is not None and not watch.green and asked.evidence.get("main") == watch.tip

    def _escalate(self, watch: Watch, title: str, detail: str) -> Watch:
        evidence = {
            "main": watch.tip,
            "green": watch.green or None,
            "culprit": watch.culprit or None,
            "searched": list(watch.line[:50]),
            "results": list(watch.results),
        }
        new = question(self.ports.store, title, detail, evidence, causes.likely_cause(detail))
        if self.ports.store.setting(BROKEN) is not None:  # the checks can be run again, and it is red
            self.ports.store.set_setting(BROKEN, None)
            self._resolve(watch, "the checks can run again")
        return replace(watch, escalation=self.ports.store.escalate(new, None, None, "nobrakes").id)

    def _resolve(self, watch: Watch, why: str) -> None:
        asked = self.ports.store.escalation(watch.escalation) if watch.escalation else None
        if asked is not None and asked.resolved_at is None and asked.bead is None:
            self.ports.store.resolve(watch.escalation, why, "nobrakes")

    # --- taking back -----------------------------------------------------------------------------

    def prepare(self, watch: Watch, now: float) -> Watch:
        """Build the culprit's revert, to be run; at rest if impossible."""
        git = self.ports.git
        found = self.merge_of(watch.culprit)
        if found is None:
            return self.tell(at_rest(watch, now), "person")
        bead, base, commit = found
        main = git.main()
        words = Message(
            f"Revert: {bead.title}",
            f"main does not pass its checks since this was merged. This reverts commit {commit}.",
            US,
            now,
            (("Reverts-Bead", bead.id),),
        )
        whole = git.squash(base, commit, words)
        made = git.revert(whole.commit, main, words) if isinstance(whole, Candidate) else whole
        if not isinstance(made, Candidate):
            return self.tell(at_rest(watch, now), "conflict", f" (bead {bead.id})")
        git.pin(REPAIR, made.commit)
        return replace(watch, candidate=made.commit, onto=main)

    def merge_of(self, commit: str) -> tuple[Bead, str, str] | None:
        """(bead, base, merge) of the unreverted merge with this commit; None: a person's own."""
        store, git = self.ports.store, self.ports.git
        for event in store.latest_events(MERGES, limit=MAX_MERGES):
            merge = str(event.data.get("merged_commit") or "")
            if not merge or event.bead is None or not git.has(merge) or not git.contains(commit, merge):
                continue
            base = str(event.data.get("base") or "")
            if not base and event.attempt is not None:
                base = str(store.attempt(event.attempt).data.get("base") or "")
            if not base or git.contains(commit, base):
                continue
            bead = store.bead(event.bead)
            return (bead, base, merge) if bead.status is Status.DONE and bead.merged_commit == merge else None
        return None

    def taken_back(self, watch: Watch, now: float) -> Watch:
        """Main is green again: reopen the bead and report with the evidence."""
        store = self.ports.store
        store.record(Event(Kind.CULPRIT_FOUND, data={"commit": watch.culprit, "why": "merge", "green": watch.green}))
        found = self.merge_of(watch.culprit)
        if found is not None:  # else a person took it back or opened it meanwhile
            self._reopen(found[0], found[2], watch)
        healed = replace(
            watch, phase=Phase.REST, tip=watch.candidate, green=watch.candidate, looked_at=now, searched=""
        )
        return replace(self.let_go(healed), culprit="", candidate="", onto="", line=())

    def _reopen(self, bead: Bead, merge: str, watch: Watch) -> None:
        store = self.ports.store
        rows = [row for row in watch.results if row["outcome"] != "pass"]
        failed = "; ".join(f"{row['name']}: {row['reason']}" for row in rows)
        data = {"commit": merge, "revert": watch.candidate, "results": list(watch.results)}
        # main's history holds it too, as long as nobody rewrites that
        self.ports.git.pin(f"archive/{bead.id}/reverted-{merge[:12]}", merge)
        store.record(Event(Kind.REVERTED, bead.id, data=data))
        # what checks print stays out of it: agents take a bead's own words for a person's
        note = f"Merged as {merge[:12]}, reverted by {watch.candidate[:12]}: main then failed ({failed})."
        store.change(bead.id, {"notes": f"{bead.notes}\n\n{note}".strip()[-_NOTE:]}, "nobrakes")
        log = "\n".join(f"{row['name']}: {row['reason']}\n{row['tail']}" for row in rows)
        new = question(
            store,
            f"{bead.id} broke main and was reverted",
            f"main passed at {watch.green[:12]} and has failed since {watch.culprit[:12]}.\n{log}",
            {"reverted": True, "main": watch.tip, "green": watch.green, "searched": list(watch.line), **data},
            causes.passed_before(f"{merge[:12]} passed when it was merged", log),
        )
        store.escalate(new, bead.id, None, "nobrakes")


MAX_REBUILT = 5
"""Rebuilds of a review before a person is asked."""


# A candidate has a ref (`pin_of`) before the journal names it: only what was pruned in between, or by who removed refs,
# is ever gone. It is rebuilt from the head, a head is taken in again from the workspace; one that is nowhere sends
# the bead back to a Doer, as nobody's failure.
def pin_of(bead: str) -> str:
    return f"candidate/{bead}/review"


def handed_in(ports: Ports, bead: str) -> Attempt | None:
    return submitted(ports.store.attempts(bead))


class Lost:
    """Looks for lost objects when git fails in a review."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def look(self, attempt: Attempt, journal: Journal, limits: Limits) -> Next | None:
        """How the review goes on or ends; None: nothing is lost, so the error has another cause."""
        build = journal.build
        done = handed_in(self.ports, attempt.bead)
        head = journal.change.head or str((done and done.head) or "")
        is_head_gone = bool(head) and not self.ports.git.is_whole(head)
        made = (build.candidate, *build.chain, build.base, journal.change.fork)
        if not is_head_gone and all(not commit or self.ports.git.is_whole(commit) for commit in made):
            return None
        git = self.ports.git
        if build.candidate and git.is_whole(build.candidate) and git.contains(build.candidate, git.main()):
            return None  # it has landed: rebuilt, it would land a second time
        if build.rebuilt >= MAX_REBUILT:
            return self._give_up(attempt, journal)
        if is_head_gone and not self._taken_in_again(attempt, head):
            return self._nowhere(attempt, journal, head, limits)
        text = "git lost objects of this review (perhaps by `git prune`); nobrakes builds them again"
        self.ports.notifier.tell(Notice(f"{attempt.bead}: {text}", attempt.bead))
        gone = Fact.HEAD_GONE if is_head_gone or not build.candidate else Fact.CANDIDATE_GONE
        return machine.advance(journal, gone)

    def _taken_in_again(self, attempt: Attempt, head: str) -> bool:
        git, store = self.ports.git, self.ports.store
        done = handed_in(self.ports, attempt.bead)
        if done is not None and done.role is Role.PERSON:
            return False  # a person's worktree is theirs, and an agent's clone holds something else
        fence = attempt.fence if done is None else done.fence
        try:
            for name, commit in git.kept().items():
                if commit == head and name.startswith(f"incoming/{attempt.bead}/"):
                    git.pin(name, None)  # it leads nowhere, and would be taken for the head
            return git.fetch_work(store.bead(attempt.bead), fence) == head and self.ports.git.is_whole(head)
        except Tampered:  # the workspace's own state; any other trouble of git's passes, and is met again
            return False

    def _nowhere(self, attempt: Attempt, journal: Journal, head: str, limits: Limits) -> Next:
        over = machine.advance(journal, Fact.WORK_GONE)
        why = f"the handed-in work ({head[:12]}) is missing in git and in its workspace"
        self.ports.notifier.tell(Notice(f"{attempt.bead}: {why}; an agent starts over", attempt.bead, urgent=True))
        log = AttemptLog(attempt.log.summary, attempt.log.blockers, attempt.log.learnings, keep_branch=False)
        close(self.ports, limits, attempt, Outcome.LOST, why, kind=machine.GOES_TO[over.act], log=log)
        return over

    def _give_up(self, attempt: Attempt, journal: Journal) -> Next:
        over = machine.advance(journal, Fact.GONE_TOO_OFTEN)
        why = (
            f"git lost objects of this review {count(journal.build.rebuilt + 1, 'time')}. Find out what removes "
            "objects or refs below refs/nobrakes/. Then resolve this escalation to review the bead again."
        )
        title = f"{attempt.bead}: git repeatedly loses objects of its review"
        self.ports.store.close_attempt(
            attempt,
            machine.GOES_TO[over.act],
            Outcome.LOST,
            detail=why,
            head=journal.change.head,
            escalation=NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, why, {"head": journal.change.head}),
        )
        return over
