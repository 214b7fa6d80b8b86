"""Bugs of one line, planted one at a time into a copy of the program: the simulation must find each of them.

A line that is not there any more fails the test: then the bug has to be planted anew.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nobrakes
from tests.support.dose import dosed

PACKAGE = Path(nobrakes.__file__).parent
TESTS = Path(__file__).parent.parent


@dataclass(frozen=True)
class Bug:
    """One line of one file, and what takes its place.

    `seed` found it when it was planted; the search goes on from there for `runs` seeds, since every change of the
    program gives the seeds other stories.
    """

    name: str
    file: str
    line: str
    instead: str
    seed: int = 0
    runs: int = 60
    options: tuple[str, ...] = ()


RARE = ("fail", "conflict", "refuse", "machine", "cut", "edits")
MERGES = (
    "--beads",
    "14",
    "--stop",
    "0.15",
    "--crash",
    "0.005",
    "--slow",
    "1",
    *(word for what in RARE for word in (f"--{what}", "0")),
)
"""Many merges, and many stops in the midst of them."""
AGAIN = (
    *("--beads", "14", "--people", "0", "--fail", "0.6", "--crash", "0.002"),
    *(word for what in ("conflict", "refuse", "edits") for word in (f"--{what}", "0")),
)
"""Beads are begun again and again, and nobody else does anything."""
CLASHES = (
    *("--beads", "14", "--conflict", "0.9", "--slow", "4", "--crash", "0.002"),
    *(word for what in ("fail", "refuse", "machine", "cut", "edits") for word in (f"--{what}", "0")),
)
"""Everybody changes the same file, so that main moves under candidates, and they are rebased."""
QUEUES = ("--slow", "4", "--beads", "14")
"""Reviews stand in a queue."""
REWRITTEN = ("--rewrites", "10", "--people", "0.5", "--crash", "0.002")
"""People amend main, take it back and prune all the time."""

STAGED = ("--staging", "10", "--people", "0.5", "--crash", "0.01")
"""People stage and commit all the time, and many landings are cut off."""

ASKED = ("--questions", "5", "--people", "0.6", "--crash", "0.002")
"""Agents ask with options, and people answer and take their answers back all the time."""

OUTCOMES = "for outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN, CheckOutcome.FAIL):"

TALKS = ("--people", "0.5", "--crash", "0.01")
"""Where people have sessions, they have them all the time."""

APPROVED = ("--approvals", "1", "--people", "0.6", "--crash", "0.005")
"""People look at many merges, while main moves."""

READ = ("--readings", "1", "--people", "0.4", "--crash", "0.005")
"""Fresh eyes read what passed, and people decide on what they found."""

BY_HAND = ("--hands", "3", "--people", "0.5", "--crash", "0.003")
"""People take beads, hand work in and give beads back all the time."""

SHARED = ("--shared", "1", "--crash", "0.005")
"""Daemons of other repositories take and free places all the time."""

PLANNED = (
    *("--beads", "0", "--features", "4", "--people", "0.8", "--crash", "0.003", "--fail", "0.1", "--steps", "150"),
    *(word for what in ("refuse", "machine", "cut", "edits") for word in (f"--{what}", "0")),
)
"""People plan features and nothing else, all the time."""

WEAKENED = (
    "--slow",
    "4",
    "--beads",
    "10",
    "--weakens",
    "0.6",
    "--fail",
    "0.02",
    "--crash",
    "0.005",
    "--people",
    "0.02",
)
"""Many changes make tests that were there say less, while others wait beside them."""

DEGRADED = (*PLANNED, "--fail", "0.6")
"""Most reviewers fail."""

EPICS = ("--requests", "1", "--epics", "1")
"""People merge epics as a whole at a code host."""

LINGERING = ("--linger", "0.5", "--crash", "0.005")
"""Many agents that have finished live on."""

STUMBLES = ("--stumble", "0.5", "--crash", "0.005")
"""A bug of the program is met in what is about one bead."""

BROKEN = ("--broken", "0.1", "--crash", "0.005")
"""CLIs of agents break again and again."""

FILTERED = ("--filters", "0.3", "--crash", "0.005")
"""Agents write in clear what git keeps through a filter."""

PROTECTED = ("--protects", "0.3", "--people", "0.3", "--crash", "0.0005")
"""The remote protects main again and again, and a person mends that; no restart looks at it before its time."""

COLLECTED = ("--collects", "0.02", "--crash", "0.005")
"""git loses what was handed in, again and again; its workspaces have it."""

QUIET = tuple(word for what in ("fail", "machine", "cut", "refuse") for word in (f"--{what}", "0"))
NODES = ("--nodes", "0.6", "--beads", "3", "--people", "0.02", "--crash", "0.002", *QUIET)
"""Nodes die, hang, are drained and come back all the time."""

LOSSES = ("--nodes", "1", "--beads", "2", "--crash", "0.002", "--people", "0.02", *QUIET)
"""Two beads, whose nodes are lost again and again."""

PLANS = ("--beads", "2", "--features", "1", "--crash", "0", "--people", "0.1")
"""Little else waits than a feature's plan."""

BUGS = (
    Bug(
        "a lost node counts against the bead",
        "agents/worker/exit.py",
        "if verdict.outcome is not Outcome.LOST or LOST_NODE in attempt.data:",
        "if verdict.outcome is not Outcome.LOST:",
        runs=300,
        options=LOSSES,
    ),
    Bug(
        "a lost agent is heard when its node is back",
        "beads/db/attempts.py",
        "row = None if number is None else db.maybe(OPEN_ATTEMPT, (number,))",
        'row = None if number is None else db.maybe("SELECT * FROM attempts WHERE id = ?", (number,))',
        options=NODES,
    ),
    Bug(
        "agents start without a place on a node",
        "decisions/service/node_blockers.py",
        "limits = replace(board.limits, doers=min(wanted, most))",
        "limits = replace(board.limits, doers=wanted)",
        options=NODES,
    ),
    Bug(
        "nobody looks whether a node is back",
        "daemon/worker/loop.py",
        "if board.node_seconds and (waits or board.all_runs):",
        "if board.node_seconds and board.all_runs:",
        options=NODES,
    ),
    Bug(
        "a plan that waits for its sign-off is on no list",
        "decisions/service/all_blockers.py",
        "if feature.is_sign_off_asked:",
        "if feature.stage is None:",
        options=PLANS,
    ),
    Bug(
        "drafts that wait for a yes are on no list",
        "decisions/service/all_blockers.py",
        "    if drafts or changed:",
        "    if not (drafts or changed):",
        options=PLANS,
    ),
    Bug(
        "a fence does not grow",
        "beads/db/attempts.py",
        "fence = bead.fence + 1",
        "fence = max(1, bead.fence)",
        options=AGAIN,
    ),
    Bug(
        "no validation after the rebase",
        "review/worker/merge_queue.py",
        "return self.validation.passed(journal.build.tree, entry.attempt, journal.change.brings) is not None",
        "return journal.build.base != journal.change.fork or bool(self.validation.passed(journal.build.tree, entry.attempt, ()))",
        options=CLASHES,
    ),
    Bug(
        "a proof of before the rebase counts",
        "review/worker/merge_queue.py",
        'return f"{journal.step.value} {commit} {key}"',
        'return f"{journal.step.value} {key}"',
        options=CLASHES,
    ),
    Bug(
        "a hand-in that git lost is not fetched again",
        "review/worker/culprits.py",
        "if is_head_gone and not self._taken_in_again(attempt, head):",
        "if is_head_gone:",
        options=COLLECTED,
    ),
    Bug(
        "trouble of git's is taken for work that is gone",
        "review/worker/culprits.py",
        "except Tampered:",
        "except Exception:",
        options=(*COLLECTED, "--trouble", "0.05"),
    ),
    Bug(
        "who meets a hand-in that git lost waits for it",
        "daemon/worker/loop.py",
        "restore(self.ports, in_depth=True)",
        "pass",
        options=COLLECTED,
    ),
    Bug(
        "what a filter keeps sealed comes in clear",
        "checks/policy/boundaries.py",
        "if not lines:",
        "if True:",
        options=FILTERED,
    ),
    Bug(
        "each bead asks about the CLI that is broken",
        "agents/worker/process.py",
        "if noted.get(error, owner) != owner:",
        "if False:",
        options=BROKEN,
    ),
    Bug(
        "what a broken CLI costs is the bead's",
        "beads/model.py",
        "_START = Consequence(False, Retry.STARTS",
        "_START = Consequence(True, Retry.STARTS",
        options=BROKEN,
    ),
    Bug(
        "an agent that has finished is judged by what our stop came to",
        "agents/worker/process.py",
        "step if step.code == 0 else replace(step, code=None)",
        "step",
        options=LINGERING,
    ),
    Bug(
        "an agent that lives on until it is silent for too long is late with what it said",
        "agents/worker/process.py",
        "if verdict.outcome in _OWN_WORDS or verdict.unsure or why is Outcome.COMPLETED:",
        "if why is Outcome.COMPLETED:",
        options=(*LINGERING, "--stop", "0.05"),
    ),
    Bug(
        "what nobody expected about one bead ends the daemon",
        "parking.py",
        "    except Unexpected as met:\n        park(ports, met)",
        "    except Unexpected as met:\n        raise met.__cause__ or met",
        options=STUMBLES,
    ),
    Bug(
        "a dead run that cannot be dealt with is met again and again",
        "daemon/worker/loop.py",
        "                self.ports.store.end_run(run.id)  # else it stays known: nothing lives on without a trace\n",
        "",
        options=STUMBLES,
    ),
    Bug(
        "what fails a second time is tried for ever",
        "parking.py",
        "holds = bool(before) and",
        "holds = False and",
        options=(*STUMBLES, "--people", "0.5"),
    ),
    Bug(
        "who works in an epic starts on main",
        "review/service/landed.py",
        "    return git.with_epic_branch(where.epic) if where.epic else git",
        "    return git",
        seed=1,
        options=EPICS,
    ),
    Bug(
        "what a person took goes to an agent",
        "beads/db/moves.py",
        "Kind.TAKEN: _held,",
        "Kind.TAKEN: _released,",
        options=BY_HAND,
    ),
    Bug(
        "an agent begins on a person's work that did not pass",
        "agents/worker/end.py",
        "if is_persons and after.status in beads_model.WAITING_FOR_AGENT:",
        "if False:",
        options=BY_HAND,
    ),
    Bug(
        "a person's work that did not pass counts against the bead",
        "agents/worker/end.py",
        "counts = consequence.counts and not is_persons",
        "counts = consequence.counts",
        options=BY_HAND,
    ),
    Bug(
        "evidence does not say who handed in",
        "review/worker/chain.py",
        "for one in self.ports.store.attempts(bead.id) if one.id != review.id]",
        'for one in self.ports.store.attempts(bead.id) if one.id != review.id and one.role.value != "person"]',
        options=BY_HAND,
    ),
    Bug(
        "an undone merge is done again at once",
        "review/service/undo.py",
        'store.record(Event(Kind.HELD, bead.id, actor=marked, data={"reason": why}))',
        "pass",
        options=("--people", "0.6", "--crash", "0.002"),
    ),
    Bug(
        "who lost a race for main pushes again without a look",
        "review/worker/driver.py",
        "is_head = not entries or entries[0].attempt == context.attempt.id",
        "is_head = not entries",
        seed=4,
    ),
    Bug(
        "a push that is refused for good is waited for",
        "review/worker/driver.py",
        "now >= since + row.asked and",
        "now >= since + (row.asked or 900.0) and",
        seed=32,
    ),
    Bug(
        "a remote that a person mended is tried no more",
        "review/worker/driver.py",
        "wait = next_look(land.cause, now - since)",
        "wait = 1e9 if behind else next_look(land.cause, now - since)",
        seed=1,
        options=PROTECTED,
    ),
    Bug(
        "what fresh eyes found is passed over",
        "review/reading.py",
        "if not rules.stopping(last.findings):",
        "if last:",
        options=READ,
    ),
    Bug(
        "a round is read for ever",
        "review/reading.py",
        "if last.session.data.get(TRY, 1) < TRIES:",
        "if last:",
        options=READ,
    ),
    Bug(
        "a yes counts for whatever is merged",
        "review/journal.py",
        'and one.evidence.get("content") == content',
        "and one.evidence",
        options=APPROVED,
        seed=50,
    ),
    Bug(
        "those behind the head land without a yes",
        "review/worker/driver.py",
        "or self.approvals.is_missing(context.board, entries[place])",
        "",
        options=APPROVED,
        seed=60,
    ),
    Bug(
        "what a session was told is told again",
        "sessions/worker.py",
        "resends=fact is not Fact.ENDED_WELL and (lost or not begun),",
        "resends=fact is not Fact.ENDED_WELL,",
        options=TALKS,
    ),
    Bug(
        "what is said to an agent at work waits for ever",
        "sessions/db.py",
        "return Fact.CUT_OFF",
        "return Fact.ENDED_WELL",
        options=TALKS,
        seed=150,
    ),
    Bug(
        "a turn more than there are places",
        "daemon/deciders.py",
        "free = board.limits.sessions - len(board.talks)",
        "free = board.limits.sessions + 1 - len(board.talks)",
        options=TALKS,
    ),
    Bug(
        "an answer is taken back that somebody acts by",
        "decisions/db.py",
        'if row["read_at"] is not None:',
        "if False:",
        options=ASKED,
    ),
    Bug(
        "an agent begins with an answer that was taken back",
        "agents/worker/launch.py",
        "if not ports.store.journal(attempt.id, data, briefing.answers):",
        "if ports.store.journal(attempt.id, data) is None:",
        options=ASKED,
    ),
    Bug(
        "whatever a person types is an answer",
        "decisions/forms.py",
        "if len(begun) == 1:",
        "if True:\n        begun = begun or found.labels()",
        options=ASKED,
    ),
    Bug(
        "an agent starts though other repositories have all places",
        "daemon/worker/perform.py",
        "if not self.share.take(bead_owner(action.bead)):",
        "if False:",
        options=SHARED,
    ),
    Bug(
        "a start that was cut off goes on without a place",
        "daemon/worker/perform.py",
        "if self.share.take_again(run):\n            with self.share.starting(run.id) as place:\n                place.is_used = self._launch(",
        "if True:\n            with self.share.starting(run.id) as place:\n                place.is_used = self._launch(",
        options=(*SHARED, "--crash", "0.05"),
    ),
    Bug(
        "who waits for a place does not look again",
        "machine/worker.py",
        "if waits or self.lost:",
        "if self.lost:",
        options=SHARED,
    ),
    Bug(
        "a place is kept for a bead that was taken away",
        "machine/worker.py",
        "if not place.is_used:",
        "if False:",
        options=(*SHARED, "--people", "0.5"),
    ),
    Bug(
        "a place is kept for a start that failed",
        "machine/worker.py",
        "if not place.is_used:",
        "if False:",
        options=(*SHARED, *STUMBLES),
    ),
    Bug(
        "a checkout that comes to main late is not brought along",
        "review/worker/main_checks.py",
        "found = self.ports.git.bring_along()",
        "found = ()",
        options=STAGED,
    ),
    Bug(
        "a start leaves the locks and the checkout",
        "daemon/worker/recovery.py",
        "ports.git.clear_locks()",
        "ports.git.settle_in()",
        options=STAGED,
    ),
    Bug(
        "what is staged is in nobody's way",
        "tests/world/checkout.py",
        "return {*self.staged, *edited} & set(changed)",
        "return set(edited) & set(changed)",
        options=(*STAGED, "--conflict", "0.6"),
        seed=26,
    ),
    Bug(
        "quiet hours hold nothing",
        "notices/worker.py",
        "store.hold_deliveries(until)",
        "store.queues(until)",
        seed=1,
    ),
    Bug(
        "what a channel took is not settled",
        "notices/worker.py",
        "store.finish_delivery(sent.delivery, DeliveryState.SENT)",
        "store.queues(now)",
        seed=1,
    ),
    Bug(
        "what happened is dealt with before it is a notice",
        "notices/worker.py",
        "        with store.write():\n            store.add_notices(notices, SAME_WITHIN)\n            store.set_setting(CURSOR, place)",
        "        store.set_setting(CURSOR, place)\n        store.add_notices(notices, SAME_WITHIN)",
        seed=85,
    ),
    Bug(
        "a clone that is still being archived counts as gone",
        "notices/worker.py",
        "return self.ports.background.over(retiring(event.bead))",
        "return True",
    ),
    Bug(
        "two reviews at once where each needs runs of its own",
        "review/queue.py",
        "if rules.is_serial:",
        "if False:",
    ),
    Bug(
        "one validation too many",
        "review/worker/merge_queue.py",
        "return max(0, board.limits.queue.validators - busy)",
        "return max(0, board.limits.queue.validators + 1 - busy)",
        options=QUEUES,
        seed=25,
    ),
    Bug(
        "whoever waits is in the queue",
        "review/queue.py",
        "entry = next((entry for entry in left if entry.journal.build.base == onto), None)",
        "entry = next((entry for entry in left), None)",
        options=QUEUES,
        runs=120,
    ),
    Bug(
        "what stands on a red one lands",
        "review/queue.py",
        "while low < last and verdicts[low + 1] is Verdict.GREEN:",
        "while low < last and verdicts[low + 1] is not Verdict.RUNNING:",
        options=QUEUES,
    ),
    Bug(
        "what nobody validated is a green beginning",
        "review/queue.py",
        "if verdicts[i] is Verdict.GREEN), default=low)",
        "if verdicts[i] not in _RED), default=low)",
        options=QUEUES,
        seed=5,
    ),
    Bug(
        "what changes a test that was there shares its run",
        "review/worker/merge_queue.py",
        "if not entry.journal.change.shares_run}",
        "if entry.journal.change.shares_run is None}",
        options=WEAKENED,
        seed=23,
    ),
    Bug(
        "those behind the head may be taken away while they land",
        "review/worker/merge_queue.py",
        "for entry, brought in zip(seen.entries, said, strict=False)",
        "for entry, brought in zip(seen.entries[:1], said, strict=False)",
        options=QUEUES,
        runs=120,
        seed=20,
    ),
    Bug(
        "a merge leaves no evidence",
        "review/worker/chain.py",
        "gathered = _Gathered(self.ports, bead, self._steps(attempt))",
        'return ""',
    ),
    Bug(
        "evidence names a run of another tree",
        "review/worker/chain.py",
        'self.runs[run] = run_of(proof, tree, contract, self._bead(int(proof["attempt"])))',
        'self.runs[run] = run_of(proof, contract, contract, self._bead(int(proof["attempt"])))',
        seed=1,
    ),
    Bug(
        "the limit is off by one",
        "daemon/deciders.py",
        "free = board.limits.doers - agents",
        "free = board.limits.doers - agents + 1",
        seed=1,
    ),
    Bug(
        "a pause is ignored",
        "daemon/deciders.py",
        "if board.paused or board.stopping:\n        return actions",
        "if board.stopping:\n        return actions",
    ),
    Bug("a name is given twice", "beads/model.py", "if name not in in_use:", "if True:"),
    Bug(
        "boundaries are not checked",
        "checks/policy/boundaries.py",
        'found.append(f"{change.path}: {why}")\n    return found',
        'found.append(f"{change.path}: {why}")\n    return []',
        seed=8,
    ),
    Bug(
        "nobody is asked about a change of the gates",
        "review/worker/asked.py",
        "if not paths or bead.scaffolding or self.is_accepted(bead.id, journal.change.head):",
        "if True:",
        options=("--fail", "0.6"),
        seed=14,
    ),
    Bug("a failed check is a pass", "checks/contract.py", OUTCOMES, OUTCOMES.replace(", CheckOutcome.FAIL", "")),
    Bug(
        "a broken check is a pass",
        "checks/contract.py",
        OUTCOMES,
        OUTCOMES.replace("CheckOutcome.BROKEN, ", ""),
        options=("--machine", "0.3"),
        seed=1,
    ),
    Bug(
        "one failure too many is allowed",
        "decisions/model.py",
        "return failures >= max_failures",
        "return failures > max_failures",
        seed=20,
    ),
    Bug(
        "agents are started at a closed gate",
        "agents/limits.py",
        "found[gate.provider] = 0\n            continue",
        "continue",
        seed=1,
    ),
    Bug(
        "a refusal counts as a failure",
        "beads/model.py",
        "return Consequence(False, Retry.GATE, Session.RESUME, told, seconds)",
        "return Consequence(True, Retry.GATE, Session.RESUME, told, seconds)",
        seed=1,
    ),
    Bug(
        "one start too many in an hour",
        "daemon/deciders.py",
        "free = min(free, left - len(talks))",
        "free = min(free, left + 1 - len(talks))",
        seed=240,
    ),
    Bug(
        "a cap of the day is forgotten",
        "agents/limits.py",
        'found = list(over("day", caps.day, spent.day, f"{day:.0f}", day + DAY_SECONDS))',
        "found: list[Reached] = []",
        seed=33,
    ),
    Bug(
        "the lock of sessions forgets who holds them",
        "beads/db/attempts.py",
        'if row["attempt"] != attempt:',
        "if False:",
        options=("--only", "no_two_beads_share_a_session", "--fail", "0.4"),
        seed=7,
    ),
    Bug(
        "an agent without its wrapper counts as dead",
        "daemon/worker/loop.py",
        "steps)) is Remains.NOTHING:",
        "steps)) in (Remains.NOTHING, Remains.STEP):",
        options=("--only", "runs_of_a_session_never_overlap", "--cut", "0.2"),
        seed=6,
    ),
    Bug(
        "every session goes on",
        "agents/limits.py",
        "if TABLE[last.outcome].session is not Session.RESUME:",
        "if False:",
        options=("--only", "a_session_goes_on_where_the_table_allows"),
        seed=1,
    ),
    Bug("nobody is killed", "daemon/deciders.py", "actions.append(daemon_model.Kill(run.id))", "pass"),
    Bug(
        "what a crash cut off is not taken up",
        "daemon/deciders.py",
        "actions.append(daemon_model.Resume(attempt.id))",
        "pass",
    ),
    Bug(
        "the merge is recorded before main moves",
        "review/machine.py",
        'Fact.MAY_LAND: _to(Step.SWAP, "tip approval reading")',
        'Fact.MAY_LAND: _to(Step.VALIDATE_MAIN, "tip approval reading")',
    ),
    Bug(
        "a push that nobody heard of is forgotten",
        "review/worker/verdicts.py",
        'if name.startswith(f"{PINS}/{bead}/") and git.contains(commit, main):',
        "if False:",
        runs=40,
        options=MERGES,
        seed=188,
    ),
    Bug(
        "what passed the checks of before lands",
        "review/queue.py",
        "if entry.journal.build.candidate and entry.journal.build.contract == contract(entry.journal.change.brings)",
        "if entry.journal.build.candidate",
        runs=120,
        options=("--edits", "6", "--crash", "0.005"),
        seed=318,
    ),
    Bug(
        "checkouts that nobody has any more stay",
        "checks/worker/validation.py",
        "for path in self.ports.git.scratches()}",
        "for path in ()}",
    ),
    Bug(
        "a bead is cancelled while it lands",
        "beads/db/moves.py",
        "if is_landing(data):",
        "if False:",
        seed=86,
    ),
    Bug(
        "a candidate has no ref",
        "review/worker/driver.py",
        "self.ports.git.pin(pin_of(context.attempt.bead), made.build.candidate)",
        "pass",
    ),
    Bug(
        "where the work began is forgotten when main is rewritten",
        "review/worker/driver.py",
        "fork = self.ports.git.fork(self.ports.git.main(), head, done.data.get(FORK))",
        "fork = self.ports.git.fork(self.ports.git.main(), head, None)",
        options=REWRITTEN,
    ),
    Bug(
        "main is moved without a compare",
        "tests/world/fake_git.py",
        "        if self.head != old:\n            # it may",
        "        if False:\n            # it may",
        seed=21,
    ),
    Bug(
        "the same is asked twice",
        "decisions/db.py",
        '"fingerprint": _fingerprint(new, bead)}',
        '"fingerprint": repr(now)}',
    ),
    Bug(
        "a failure is counted twice",
        "beads/db/attempts.py",
        '"failures": bead.failures + counts,',
        '"failures": bead.failures + 2 * counts,',
        runs=10,
    ),
    Bug(
        "a validation is judged again after a crash",
        "review/worker/verdicts.py",
        "if not commit:  # dealt with already, and a crash hid it",
        "if False:",
        seed=20,
    ),
    Bug(
        "the red proof is skipped",
        "agents/worker/exit.py",
        'detail = "" if why_not is None else why_not + "\\n" + explain(results)',
        'detail = ""',
        seed=11,
    ),
    Bug("failures are not counted", "agents/worker/end.py", "            counts=counts,", "            counts=False,"),
    Bug("a restart clears no locks", "daemon/worker/recovery.py", "ports.git.clear_locks()", "pass"),
    Bug(
        "a bead with a living process is given away",
        "daemon/worker/loop.py",
        "if not (isinstance(action, model.StartAgent) and action.bead in with_leftovers)",
        "if True",
        seed=5,
    ),
    Bug(
        "a start that failed leaves its process",
        "daemon/worker/perform.py",
        "        self.ports.processes.kill(run)\n",
        "",
        seed=21,
    ),
    Bug(
        "an agent without its wrapper is stopped",
        "daemon/worker/loop.py",
        "if remains is Remains.REST or (remains is Remains.STEP and not is_agent):",
        "if remains is not Remains.WHOLE:",
        options=("--cut", "0.2"),
    ),
    Bug(
        "an end that nobody saw is a success",
        "agents/script.py",
        "return adapter.Verdict(Outcome.LOST, adapter.UNSEEN)",
        "return adapter.Verdict(Outcome.COMPLETED, adapter.UNSEEN)",
        options=("--cut", "0.2"),
    ),
    Bug(
        "what the machine lost is counted",
        "beads/model.py",
        "Outcome.LOST: _VANISHED,",
        "Outcome.LOST: _COUNTS,",
        options=("--cut", "0.2"),
    ),
    Bug(
        "a person is asked about a check that was cut off",
        "review/worker/verdicts.py",
        "if cut_off and journal.runs.cut_off < MAX_CUT_OFF:",
        "if False:",
        options=("--cut", "0.2"),
        seed=2,
    ),
    Bug(
        "people are not told",
        "notices/worker.py",
        "if event.kind in (Kind.ESCALATED, Kind.SUGGESTED):",
        "if event.kind is Kind.SUGGESTED:",
    ),
    Bug(
        "closed beads keep their clones",
        "notices/worker.py",
        "if bead.status not in (Status.DONE, Status.CANCELLED):",
        "if True:",
    ),
    Bug(
        "a cancelled blocker counts as done",
        "beads/db/moves.py",
        'was_done, is_done = (row["status"] == Status.DONE for row in (before, after))',
        'was_done, is_done = (row["status"] in CLOSED for row in (before, after))',
        seed=2,
    ),
    Bug(
        "a new dependency is not counted",
        "beads/db/graph_writes.py",
        "if not moves.is_finished_for(db, dependency.needs, dependency.bead):",
        "if False:",
    ),
    Bug(
        "an epic forgets the children that join it",
        "beads/db/moves.py",
        "(sign, sign * (not closed), sign * done, parent),",
        "(sign, 0, sign * done, parent),",
        seed=1,
    ),
    Bug(
        "a cancelled bead keeps its attempt",
        "beads/db/moves.py",
        '(row := db.maybe("SELECT id FROM attempts WHERE bead = ? AND outcome IS NULL", (bead.id,)))',
        "(row := None)",
        seed=1,
    ),
    Bug(
        "a token outlives its attempt",
        "db/fast.py",
        'WHERE attempts.id = ? AND outcome IS NULL"""',
        'WHERE attempts.id = ?"""',
    ),
    Bug(
        "an attempt can be ended twice",
        "beads/db/attempts.py",
        'if row is None or row["outcome"] is not None or not row["fence"]',
        'if row is None or not row["fence"]',
    ),
    Bug(
        "tests that nobody counted are a pass",
        "checks/contract.py",
        "if uncounted and end.code == 0:",
        "if False:",
        options=("--mute", "0.3", "--fail", "0.5"),
    ),
    Bug(
        "an answer is applied twice",
        "decisions/db.py",
        'if row["resolved_at"] is not None:\n        what',
        "if False:\n        what",
    ),
    Bug(
        "a plan goes live that nobody signed off",
        "features/reviewed_plan.py",
        "        if own and (not signed",
        "        if not own and (not signed",
        options=PLANNED,
        seed=1,
    ),
    Bug(
        "an answer is told to a Shaper twice",
        "sessions/db.py",
        "    _message(db, number, actor, text, now, answers=escalation)",
        "    _message(db, number, actor, text, now)\n    _message(db, number, actor, text, now, answers=escalation)",
        options=PLANNED,
        seed=1,
    ),
    Bug(
        "a feature that is paused begins its Shaper's turn",
        "sessions/db.py",
        "AND (state <> 'active' OR json_extract",
        "AND (state = 'none' OR json_extract",
        options=PLANNED,
        seed=1,
    ),
    Bug(
        "reviews of a plan never end",
        "features/reviewed_plan.py",
        "if is_clean or len(seen.iterations) >= rules.most_rounds:",
        "if is_clean:",
        options=PLANNED,
        seed=2,
    ),
    Bug(
        "what a Shaper asks in words is lost",
        "features/worker/shapers.py",
        "said, refused = self._do(feature.session, action.reading)",
        "said, refused = bool(action.reading.questions), False",
        options=PLANNED,
        seed=1,
    ),
    Bug(
        "a round is begun by halves where the daemon dies",
        "features/worker/forge.py",
        "            with self.ports.store.write():\n                return self.methods[type",
        "            if True:\n                return self.methods[type",
        options=(*PLANNED, "--crash", "0.02"),
        seed=6,
    ),
    Bug(
        "expiry ends the session with its questions",
        "features/worker/shapers.py",
        'store.move_feature(feature.id, Step.EXPIRED, BY, "no message for too long")',
        'store.end_session(feature.session, BY)\n        store.move_feature(feature.id, Step.EXPIRED, BY, "silence")',
        options=PLANNED,
        seed=4,
    ),
    Bug(
        "a clean round counts after the plan changed",
        "features/reviewed_plan.py",
        "is_clean = seen.looked_at == version and seen.clean >= rules.clean_rounds",
        "is_clean = any(one.end is End.CLEAN for one in seen.iterations)",
        options=PLANNED,
    ),
    Bug(
        "round after round begins in which nobody comes through",
        "features/reviewed_plan.py",
        "if last is not None and seen.degraded >= MAX_DEGRADED",
        "if False and last is not None and seen.degraded >= MAX_DEGRADED",
        options=DEGRADED,
        seed=9,
    ),
    Bug(
        "nobody is told of an expiry",
        "features/worker/shapers.py",
        'tell(store, feature, "the Shaper\'s session has expired; the questions, drafts and answers are saved", "warning")',
        "pass",
        options=PLANNED,
        seed=1,
    ),
    Bug(
        "two features are planned at once",
        "features/db.py",
        "    if not one.has_turn:\n        return",
        "    return",
        options=PLANNED,
        seed=1,
    ),
)

CANARY = (
    Bug(
        "the wrong half of the commits is searched",
        "review/main_monitor.py",
        "replace(watch, high=middle) if seen is Verdict.RED else replace(watch, low=middle + 1)",
        "replace(watch, high=middle) if seen is not Verdict.RED else replace(watch, low=middle + 1)",
    ),
    Bug(
        "the commit before the culprit is blamed",
        "review/main_monitor.py",
        "culprit=watch.line[watch.high])",
        "culprit=watch.line[watch.high - 1])",
    ),
    Bug(
        "a red main is not frozen",
        "review/main_monitor.py",
        'return replace(watch, phase=Phase.KNOWN, frozen=True, culprit="", candidate="", line=())',
        "return at_rest(watch, now)",
    ),
    Bug(
        "a main that was mended stays frozen",
        "review/main_monitor.py",
        "healed = replace(watch, green=watch.tip, frozen=False,",
        "healed = replace(watch, green=watch.tip,",
    ),
    Bug(
        "a pause stops no search",
        "review/worker/main_checks.py",
        "self._is_held = board.paused and not self.watch.commit",
        "self._is_held = False",
    ),
)
"""Bugs in what watches over main: the stories of test_simulated_main_monitor.py must find each of them."""

STORE = (
    Bug(
        "a rejection is lost",
        "beads/db/attempts.py",
        'events_db.append(db, now, kind, bead.id, "nobrakes", told, current.id)',
        'kind in (Kind.TESTS_REJECTED, Kind.REVIEW_REJECTED) or events_db.append(db, now, kind, bead.id, "nobrakes", told)',
    ),
)
"""Bugs of the store: its contract suite must find each of them."""

ASKED_TWICE = (
    Bug("nothing is added", "review/worker/culprits.py", "hypothesis, _open(store))", "hypothesis)"),
    Bug(
        "each bead asks by itself",
        "review/worker/main_checks.py",
        'self._save(self.culprits.freeze(frozen, results, "as a review found"))',
        'self.culprits.freeze(frozen, results, "as a review found")',
    ),
)
"""Bugs in what is asked about a red main: the stories of test_red_main_is_asked_once.py must find each of them."""

CANNOT_RUN = (
    Bug(
        "what passed on main before counts where checks cannot be run",
        "review/worker/driver.py",
        "known = not why_not and self.validation.passed(tree, context.attempt.id, change.brings) is not None",
        "known = self.validation.passed(tree, context.attempt.id, change.brings) is not None",
    ),
    Bug(
        "what could not be run is the work's failure once main passes",
        "review/worker/verdicts.py",
        "if cannot_run(own) and not runs.mended:",
        "if cannot_run(own) and not (runs.mended or runs.cut_off):",
    ),
    Bug(
        "each red proof asks about checks that cannot be run",
        "agents/worker/exit.py",
        "if neither and self._is_of_main(attempt):",
        "if False:",
    ),
    Bug(
        "a checkout that cannot be made is the bead's",
        "checks/worker/steps.py",
        'setup_said(self.failed) or self.failed or ""',
        "setup_said(self.failed)",
    ),
    Bug(
        "a set-up that fails is a red main",
        "review/worker/culprits.py",
        "if broken := cannot_run(results):",
        'if broken := "":',
    ),
)
"""Bugs in what is said of checks that cannot be run: the stories of test_checks_cannot_run.py must find each of them."""

STOPPED = (
    Bug(
        "a stop forgets that the merge has landed",
        "review/worker/driver.py",
        "return bool(landed) and git.contains(landed, git.main())",
        "return False",
    ),
)
"""Bugs in what a stop does with a merge: the stories of test_stopped_on_main.py must find each of them."""

MERGED_EARLY = Bug(
    "a merged request brought all that has landed",
    "requests/worker/epics.py",
    "return git.has(landing) and git.contains(landing, commit)",
    "return True",
)
"""The stories of test_merged_before_a_push.py must find it."""

STORIES = [
    *(("test_checks_cannot_run.py", bug) for bug in CANNOT_RUN),
    *(("test_stopped_on_main.py", bug) for bug in STOPPED),
    ("test_merged_before_a_push.py", MERGED_EARLY),
]

CLOCK = Bug("a jump is not seen", "daemon/worker/loop.py", "if jump := self.jumps.settle():", "if jump := 0.0:")
"""The stories of test_clock_that_jumps.py must find it."""

GONE_BACK = Bug(
    "a start compares nothing",
    "daemon/worker/recovery.py",
    "Reconciling(ports, lambda bead: parked(ports, model.bead_owner(bead))).look()",
    "Reconciling(ports, lambda bead: parked(ports, model.bead_owner(bead)))",
)
"""The stories of test_store_goes_back.py must find it."""


def within(file: str) -> str:
    """Where a file lies in the repository: in the package, or in the simulated world."""
    return file if file.startswith("tests/") else f"nobrakes/{file}"


def planted(bug: Bug, place: Path) -> Path:
    """A copy of the program with the bug in it."""
    shutil.copytree(PACKAGE, place / "nobrakes")  # with what is compiled: a copy keeps the times of its files
    for name in ("NAMES.json", "config", "hooks"):
        source = PACKAGE.parent / name
        if source.is_dir():
            shutil.copytree(source, place / name)
        else:
            shutil.copy(source, place / name)
    shutil.copytree(TESTS / "world", place / "tests" / "world")
    file = place / within(bug.file)
    text = file.read_text()
    assert text.count(bug.line) == 1, f"{bug.file} does not have this line once: {bug.line}"
    file.write_text(text.replace(bug.line, bug.instead))
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()
    return place


def python(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What Python says with the copy in this place as its nobrakes."""
    env = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    argv = [sys.executable, *words]
    return subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)


def simulate(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return python(place, "-m", "tests.world", "--quiet", "--seconds", "60", *options)


EVERYDAY = "what a crash cut off is not taken up"
"""That of the everyday gates."""
QUICK = {EVERYDAY, "a failed check is a pass"}
"""Those that CI plants in any case."""
assert {bug.name for bug in BUGS} > QUICK


def in_turn(bug: Bug) -> Any:
    """CI plants one in 24 of the bugs, `python3 tests/gates --night` all of them."""
    mark = pytest.mark.ci if bug.name in QUICK else dosed(bug.name)
    return pytest.param(bug, id=bug.name.replace(" ", "-"), marks=[] if bug.name == EVERYDAY else [mark])


@pytest.mark.parametrize("bug", [in_turn(bug) for bug in BUGS])
def test_the_simulation_finds(bug: Bug, tmp_path: Path) -> None:
    found = simulate(planted(bug, tmp_path), "--seed", str(bug.seed), "--runs", str(bug.runs), *bug.options)
    assert "python -m tests.world --seed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]
    assert found.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name.replace(" ", "-")) for bug in CANARY])
def test_the_stories_of_the_canary_find(bug: Bug, tmp_path: Path) -> None:
    place = planted(bug, tmp_path)
    stories = shutil.copy(Path(__file__).with_name("test_simulated_main_monitor.py"), place / "test_stories.py")
    only = "[0-calm] or [1-calm] or pause or mended"
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", only, str(stories))
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name.replace(" ", "-")) for bug in STORE])
def test_the_contract_of_the_store_finds(bug: Bug, tmp_path: Path) -> None:
    place = planted(bug, tmp_path)
    shutil.copytree(TESTS / "contracts" / "store", place / "tests" / "contracts" / "store")
    suite = "tests/contracts/store/test_store_attempts.py"
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", "memory", suite)
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name.replace(" ", "-")) for bug in ASKED_TWICE])
def test_the_stories_of_a_red_main_find(bug: Bug, tmp_path: Path) -> None:
    place = planted(bug, tmp_path)
    stories = shutil.copy(Path(__file__).with_name("test_red_main_is_asked_once.py"), place / "test_stories.py")
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(stories))
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stories", "bug"), [pytest.param(file, bug, id=bug.name.replace(" ", "-")) for file, bug in STORIES]
)
def test_the_stories_find(stories: str, bug: Bug, tmp_path: Path) -> None:
    place = planted(bug, tmp_path)
    copied = shutil.copy(Path(__file__).with_name(stories), place / "test_stories.py")
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(copied))
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


@pytest.mark.slow
def test_the_stories_of_a_clock_that_jumps_find_that_nobody_looks(tmp_path: Path) -> None:
    place = planted(CLOCK, tmp_path)
    stories = shutil.copy(Path(__file__).with_name("test_clock_that_jumps.py"), place / "test_stories.py")
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(stories))
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


@pytest.mark.slow
def test_the_stories_of_a_store_that_goes_back_find_a_start_that_compares_nothing(tmp_path: Path) -> None:
    place = planted(GONE_BACK, tmp_path)
    stories = shutil.copy(Path(__file__).with_name("test_store_goes_back.py"), place / "test_stories.py")
    found = python(place, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(stories))
    assert found.returncode == 1 and "1 failed" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]


WORLDS = {
    "usual": (),
    "read": READ,
    "planned": PLANNED,
    "talks": TALKS,
    "approved": APPROVED,
    "by hand": BY_HAND,
    "shared": SHARED,
    "by epics": EPICS,
    "lingering": LINGERING,
    "broken CLIs": BROKEN,
    "filters": FILTERED,
    "collected hand-ins": COLLECTED,
    "merges": MERGES,
    "begun again": AGAIN,
    "clashes": CLASHES,
    "nodes": NODES,
}
"""Whose options find bugs: without one they find nothing."""
ALWAYS = ("usual", "planned")


@pytest.mark.parametrize(
    "world", [pytest.param(name, marks=pytest.mark.slow if name in ALWAYS else dosed(name)) for name in WORLDS]
)
def test_without_a_bug_nothing_is_found(world: str, tmp_path: Path) -> None:
    nothing = Bug("nothing", "beads/model.py", "if name not in in_use:", "if name not in in_use:")
    found = simulate(planted(nothing, tmp_path), "--runs", "3", *WORLDS[world])
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]


def test_each_bug_has_its_line() -> None:
    told = (*(bug for _, bug in STORIES), CLOCK, GONE_BACK)
    for bug in (*BUGS, *CANARY, *STORE, *ASKED_TWICE, *told):
        assert (TESTS.parent / within(bug.file)).read_text().count(bug.line) == 1, bug.name
