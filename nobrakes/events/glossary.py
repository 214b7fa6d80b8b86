"""What each kind of event, ending and escalation means, in words: the text of their reference pages.

1. A kind without a meaning here stops the pages from being printed, so none is forgotten.
2. The keys of an event's data are what the store is seen to record: tests/architecture/test_docs_events.py
   compares them with simulated runs.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..beads.model import Outcome
from ..decisions.model import EscalationType
from .kinds import Kind

KEYS: Mapping[str, str] = {
    "after": "the limits that a person has changed, by name, from now on",
    "agent": "the agent that works: `claude`, `codex`, `gemini`, `acp`, `script`; `nobrakes` for a review",
    "alive": "runs whose process still lives",
    "answer": "what the person wrote",
    "hosts": "what was asked for, as `name:port`",
    "run": "the run's folder in `.nobrakes/runs`",
    "cap": "the cap that is reached, like `day.usd`",
    "base": "main before the merge",
    "epic": "the epic on whose branch the work lands; absent where that is main",
    "beads": "the beads that the step was about, or how many were brought back, or are in the plan",
    "asked": "the escalations that are open again and stop the bead",
    "before": "what it was before: the bead's status, the reason it was held for, the moment it was deferred to; the "
    "limits that were changed; the feature's stage",
    "check": "the check's name; of a remark empty",
    "commit": "the commit that was looked at, or that was reverted",
    "data": "more of it as JSON; for `progressed` the `step` that the agent claims, and `of` how many",
    "detail": "how it ended in words, at most 500 characters",
    "ended": "runs whose process has ended",
    "escalation": "the escalation's number",
    "attempts": "how many ended attempts were brought back",
    "escalations": "how many escalations were brought back",
    "fields": "for each field that differs `before` and `after`",
    "head": "the commit that was handed in, of a pull request the one that was pushed; null when there is none",
    "limit": "the cap, in dollars, tokens, minutes or starts",
    "merged_commit": "the commit on main; null but for `merged`, `found_merged` and `pull_merged`",
    "model": "the model that was asked for; empty: the agent's own choice",
    "name": "who works: the worker's name",
    "needs": "the other bead; for `proposed` a list of pairs `[bead, type]`",
    "number": "the attempt's number, counted for each bead from 1",
    "outcome": "how it ended: see [outcomes](outcomes.md)",
    "pid": "the process",
    "provider": "the provider, or empty for an agent without one",
    "with": "the epic whose merged request brought the bead",
    "whole": "the commit by which people merged that request",
    "reason": "the person's words; of a cooldown, the [outcome](outcomes.md) that began it",
    "why": "what keeps the sandbox and the wall from working; `merge` where one was taken back, else why none was; why "
    "nobody came through with a review",
    "red": "the tip of the branch that the bead lands on, which does not pass: the bead goes on when it is elsewhere; "
    "absent where it is held for another reason",
    "refs": "the archived refs that were removed, and their commits",
    "green": "the last tip that was seen green, or null",
    "unsteady": "whether the run before was red: a check that cannot make up its mind",
    "resolution": "how it was decided, with the person's note",
    "results": "one object for each check: `name`, `outcome`, `reason`, `code`, `seconds`, `counts`, `tail`; "
    "`failing`, the tests that failed where the report names them all; `repeated`, the runs before this one; "
    "`quarantined`, what was let through",
    "return_to": "the status that the bead remembers to go back to; null when it remembers none",
    "revert": "the commit that takes it back",
    "role": "`test_writer`, `doer`, `reviewer` or `person`",
    "criteria": "how many acceptance criteria it has",
    "files": "the files that the person names",
    "changed": "how many files differ from where the attempt began",
    "call": "the call's id, as the agent's CLI says it",
    "passed": "whether the call said so; null: nobody saw how it ended",
    "stage": "the feature's stage: `discovery`, `planning`, `review`, `implementation`, `request` or `done`",
    "version": "the version of the feature's plan, counted from 1",
    "accepted": "how many of its findings a person took as a risk",
    "degraded": "the domains whose reviewers failed in some round",
    "done": "how many rounds somebody looked in",
    "end": "how the round ended: clean, findings or degraded",
    "failed": "the domains whose reviewers failed",
    "most": "how many rounds there are at most",
    "open": "how many findings were not decided",
    "reviews": "how many rounds somebody looked in, by then",
    "risk": "whether a person took the risk of fewer reviews",
    "round": "the iteration of the plan's reviews, or of the readings by fresh eyes, counted from 1",
    "of": "how many rounds of readings there may be",
    "cost_usd": "what the reading has cost, in dollars",
    "p1": "how many findings must be mended",
    "p2": "how many should be",
    "p3": "how many may be",
    "domain": "what the reviewer looks at: `frontend`, `backend`, `database`, `devops` or `test`",
    "findings": "how many it made; for `code_review_ended` the priority, category, place and text of each",
    "finding": "the finding's number",
    "category": "`code_quality`, `architecture`, `security` or `performance`",
    "priority": "1 must be mended, 2 should be, 3 may be",
    "issue": "what is wrong, in the reviewer's words; untrusted",
    "at_bead": "the bead that it is about; null where it is about all",
    "item": "the number of what was collected",
    "pr_number": "the number of the pull request; 0 where the code host numbers none",
    "pr_url": "its address at the code host",
    "branch": "its branch at the code host",
    "suggestion": "what the remark wants the lines to become, where it says so; untrusted",
    "by": "who wrote it, by their name at the code host",
    "file": "the file, in the repository; empty where it is about none",
    "line": "the line in the file, counted from 1; 0 where it is about none",
    "session": "the session's number",
    "sprint": "the sprint's number; not there: what is told is the whole run's",
    "sessionId": "the name of a chat agent's session",
    "projectName": "the name of a project's folder",
    "projectPath": "its whole path",
    "isNew": "whether the project was made for it",
    "form": "what can be answered, where a question has a form",
    "state": "where the session is after it: `ready`, `asking`, `idle`, `stuck` or `ended`; the feature's, the "
    "review's, the finding's or the item's state after it",
    "turn": "the turn's number, counted for each session from 1",
    "kind": "what the session is for: `planning` or `chat`; what was collected: `todo`, `fixme`, `suggestion`, "
    "`dependency` or `scope`",
    "settings": "the switches that changed: `paused`, `stopping`; or what was brought back",
    "spent": "what was spent",
    "status": "the status that the bead came with, or is back in",
    "seconds": "how long such checks took the last time; null where nobody knows",
    "step": "the step of the review, or what moved the feature; of "
    "`checks_began` also `red_proof`, `test_strength` and `main`",
    "folder": "the person's worktree; empty: the work is on a branch alone",
    "failures": "the counted failures that were forgotten",
    "test": "the test's name as its report tells it; empty: the whole check",
    "tests": "the tests that failed, where the report names them all",
    "text": "the agent's words; untrusted, at most 8000 characters",
    "times": "how often in a row the provider refused",
    "title": "the escalation in one line",
    "severity": "how much it matters: info, warning or urgent; of a pull request `error` (a red check) or `warning`",
    "to": "the status that the bead goes to; absent while another escalation still stops it",
    "tree": "the tree that was checked",
    "type": "the type of the dependency, or of the [escalation](outcomes.md#escalations)",
    "parts": "each part of a proposal (a field, `needs:ID`, `cancel`): what `was` proposed and what `is`; the "
    "feature's fields that differ",
    "first": "the number of the first event of the same yes",
    "drafts": "the drafts that went live",
    "changes": "the proposed changes that came into force, as BEAD:PART",
    "undone": "the numbers of the events that were taken back",
    "was": "the feature's state before",
    "until": "seconds since 1970; null for no longer, or for a cap that does not end by itself",
}


__all__ = ["CAUSES", "ESCALATIONS", "EVENTS", "KEYS", "OUTCOMES", "Happening"]


class Happening(NamedTuple):
    """One kind of event: what happened, and the keys of its data."""

    meaning: str
    keys: tuple[str, ...] = ()


_MOVED = ("before", "return_to")
_STARTED = ("role", "name", "agent", "model", "number")
_ENDED = ("outcome", "detail", "role", "name", "number", "head", "merged_commit")
_EDGE = ("needs", "type")
_ASKED = ("escalation", "type", "title")
_CLOSED = ("reason", "escalation", *_MOVED)
_SAID = ("text", "data")
_AT_HOST = ("pr_number", "pr_url")
_PULL = (*_AT_HOST, "title", "branch", "head", "merged_commit")

EVENTS: Mapping[Kind, Happening] = {
    Kind.PROPOSED: Happening("The bead was added.", ("status", "needs")),
    Kind.CHANGED: Happening("A person edited the bead.", ("fields",)),
    Kind.APPROVED: Happening("A draft went live."),
    Kind.CHANGE_PROPOSED: Happening("A change of the bead was proposed; a person has not approved it yet.", ("parts",)),
    Kind.CHANGE_DROPPED: Happening("A proposed change was dropped.", ("parts", "why")),
    Kind.CHANGE_APPROVED: Happening("A person approved what was proposed for the bead.", ("parts",)),
    Kind.STRATEGY_APPROVED: Happening(
        "A person approved proposed changes, with the drafts that waited.", ("first", "drafts", "changes")
    ),
    Kind.HELD: Happening("A person holds the bead.", ("reason", "before", "red")),
    Kind.RELEASED: Happening("A held bead may go on.", ("before",)),
    Kind.DEFERRED: Happening("No agent starts on the bead before a moment.", ("until", "before")),
    Kind.DEPENDENCY_ADDED: Happening("The bead depends on another one.", _EDGE),
    Kind.DEPENDENCY_REMOVED: Happening("The bead depends on it no more.", _EDGE),
    Kind.TEST_WRITER_STARTED: Happening("A Test Writer holds the bead.", _STARTED),
    Kind.TESTS_PROVEN_RED: Happening("The tests fail as they should; a Doer is next.", _ENDED),
    Kind.TESTS_REJECTED: Happening("The new tests are not red, or for no good reason.", _ENDED),
    Kind.TEST_WRITER_STOPPED: Happening("The Test Writer ended without proven tests.", _ENDED),
    Kind.DOER_STARTED: Happening("A Doer holds the bead.", _STARTED),
    Kind.WORK_SUBMITTED: Happening("The Doer handed in; the Reviewer is next.", _ENDED),
    Kind.DOER_STOPPED: Happening("The Doer ended without handing in.", _ENDED),
    Kind.STOP_ASKED: Happening(
        "`nobrakes stop` for one agent; it ends as `interrupted`. Of a turn of a session: `session` alone.",
        ("name", "number", "session"),
    ),
    Kind.REVIEW_STARTED: Happening("The Reviewer holds the bead.", _STARTED),
    Kind.CHECKS_BEGAN: Happening("Checks are run from now on.", ("step", "commit", "run", "seconds", "epic")),
    Kind.REVIEW_STEP: Happening("A validation of the review ended.", ("step", "commit", "run", "results", "epic")),
    Kind.REVIEW_REJECTED: Happening("The work goes back to a Doer.", _ENDED),
    Kind.REVIEW_INTERRUPTED: Happening("The review ended without a judgement of the work.", _ENDED),
    Kind.LANDED: Happening(
        "The bead is on the branch of its epic; of an epic: what it had so far is merged, and it goes on.", _ENDED
    ),
    Kind.MERGED: Happening("The bead is on main.", _ENDED),
    Kind.FOUND_MERGED: Happening(
        "Main carries the bead's merge: the pull request of its epic was merged, or the database was older than main. "
        "The bead is done.",
        ("merged_commit", "base", "reason", "with", "whole", *_MOVED),
    ),
    Kind.REVERTED: Happening(
        "The merge was taken back by a commit on main, by a person or by main's monitor; the bead is open again.",
        ("commit", "revert", "undone", "results", *_MOVED),
    ),
    Kind.FLAKED: Happening(
        "A check failed and passed on the same tree, under the same contract.", ("check", "tests", "tree", "run")
    ),
    Kind.CODE_REVIEW_BEGAN: Happening(
        "Fresh eyes read what passed its checks.", ("session", "round", "of", "agent", "model", "head")
    ),
    Kind.CODE_REVIEW_ENDED: Happening(
        "A reviewer of work is through, or failed.",
        ("session", "round", "of", "agent", "model", "state", "why", "p1", "p2", "p3", "findings", "cost_usd"),
    ),
    Kind.PUSH_ALLOWED: Happening(
        "A person let the work be pushed that has passed, and its request be opened (`nobrakes pr open`).",
        ("head", "branch"),
    ),
    Kind.PULL_OPENED: Happening("The bead's pull request is there.", _PULL),
    Kind.PULL_REVIEW_BEGAN: Happening("People or checks of the code host began to look at it.", _PULL),
    Kind.PULL_ISSUE_FOUND: Happening(
        "Somebody who may write left a remark on it, or a check of the code host is red; each is told once.",
        (*_AT_HOST, "issue", "severity", "suggestion", "by", "check", "file", "line"),
    ),
    Kind.PULL_APPROVED: Happening("Somebody who may write approved it.", (*_AT_HOST, "by")),
    Kind.PULL_MERGED: Happening("People merged it; the end of its review follows.", _PULL),
    Kind.ESCALATED: Happening("A person is asked, and the bead waits.", (*_ASKED, "session", "form")),
    Kind.SUGGESTED: Happening("A person gets a notice, and nothing waits.", (*_ASKED, "severity")),
    Kind.ANSWERED: Happening("A person answered.", ("escalation", "answer")),
    Kind.ANSWER_READ: Happening(
        "An agent acts by the answer from now on: it began with it, or read it. It cannot be taken back any more.",
        ("escalation",),
    ),
    Kind.ANSWER_TAKEN_BACK: Happening("A person took an answer back that nobody had read.", ("escalation", "answer")),
    Kind.RESOLVED: Happening("A person decided.", ("escalation", "resolution", "to")),
    Kind.TAKEN: Happening("A person works on the bead, and it is held for them.", ("reason", "folder", *_MOVED)),
    Kind.HANDED_IN: Happening(
        "A person handed in work; the Reviewer is next, and what stopped the bead is settled.",
        ("head", "number", "folder", *_MOVED),
    ),
    Kind.CANCELLED: Happening("A person gave the bead up.", _CLOSED),
    Kind.DONE_BY_HAND: Happening("A person did the bead.", _CLOSED),
    Kind.REOPENED: Happening("A closed bead is live again.", ("reason", *_MOVED)),
    Kind.EPIC_COMPLETED: Happening("The last child of the epic was closed.", _MOVED),
    Kind.EPIC_LANDED: Happening("The beads of the epic are on its branch; its pull request is next.", _MOVED),
    Kind.LOGGED: Happening("`nobrakes agent log`.", _SAID),
    Kind.PROGRESSED: Happening("`nobrakes agent progress`.", _SAID),
    Kind.NOTIFIED: Happening("`nobrakes agent notify`; the person gets a notice.", _SAID),
    Kind.TESTED: Happening("`nobrakes agent test`: how each check ended.", _SAID),
    Kind.FILES_CHANGED: Happening("An agent changed files in its workspace; told once in a while.", ("changed",)),
    Kind.TESTS_RUN: Happening("An agent ran the tests by a tool of its own.", ("call", "passed")),
    Kind.DANGER_SEEN: Happening("A tool call looked dangerous; the person gets a notice.", ("call", "text", "why")),
    Kind.SESSION_BEGAN: Happening("A conversation with an agent began.", ("session", "kind", "agent", "title")),
    Kind.SESSION_SAID: Happening("Something was said to a session.", ("session", "text")),
    Kind.TURN_STARTED: Happening("A session's agent was started.", ("session", "turn", "agent", "model")),
    Kind.TURN_ENDED: Happening("A session's agent ended.", ("session", "turn", "outcome", "detail", "state")),
    Kind.SESSION_ENDED: Happening("A session was ended.", ("session",)),
    Kind.PROJECT_SET: Happening(
        "A chat agent's session works on this project from now on.",
        ("sessionId", "projectName", "projectPath", "isNew"),
    ),
    Kind.SPRINT_MOVED: Happening("A sprint went on, or its run.", ("sprint", "state", "reason")),
    Kind.HANDED_OFF: Happening(
        "`nobrakes agent done`: the agent left a note for the next one; its process has not ended yet.", ("outcome",)
    ),
    Kind.FEATURE_BEGAN: Happening(
        "A person began a feature; the bead is its epic.", ("title", "base", "criteria", "files")
    ),
    Kind.FEATURE_MOVED: Happening(
        "A feature came to another stage or state.", ("step", "stage", "state", "before", "was", "reason")
    ),
    Kind.FEATURE_CHANGED: Happening("A person changed what is said of a feature.", ("parts",)),
    Kind.FEATURE_TOLD: Happening(
        "nobrakes tells people of a feature: its session expires soon, its agent changes, its context is nearly full.",
        ("text", "severity", "session"),
    ),
    Kind.PLAN_KEPT: Happening("A version of a feature's plan is kept as it was.", ("version", "beads", "reason")),
    Kind.PLAN_REVIEW_BEGAN: Happening(
        "A reviewer looks at a feature's plan.", ("round", "domain", "version", "session")
    ),
    Kind.PLAN_REVIEW_ENDED: Happening(
        "A reviewer of a plan is through, or failed.", ("round", "domain", "state", "findings", "detail")
    ),
    Kind.PLAN_ROUND_ENDED: Happening(
        "A round of reviews of a plan is over.",
        ("round", "version", "end", "findings", "failed", "done", "most", "accepted"),
    ),
    Kind.SIGN_OFF_ASKED: Happening(
        "A plan was reviewed enough: a person may sign it off.", ("reviews", "most", "version")
    ),
    Kind.SIGNED_OFF: Happening(
        "A person signed a version of a plan off.", ("version", "reviews", "most", "risk", "reason", "open", "degraded")
    ),
    Kind.FINDING_MADE: Happening(
        "A reviewer of a plan found something.",
        ("finding", "round", "domain", "category", "priority", "issue", "at_bead"),
    ),
    Kind.FINDING_SETTLED: Happening("A person decided a finding.", ("finding", "state", "answer")),
    Kind.ITEM_COLLECTED: Happening(
        "Something was collected for a feature's next checkpoint.",
        ("item", "kind", "text", "file", "line", "at_bead"),
    ),
    Kind.ITEM_SETTLED: Happening("What was collected was looked at, or is not there any more.", ("item", "state")),
    Kind.DAEMON_STARTED: Happening("A daemon works, in the foreground or the background.", ("pid",)),
    Kind.DAEMON_STOPPED: Happening("It ended in order. Without this event it was killed.", ("pid",)),
    Kind.PAUSED: Happening("`nobrakes pause` or `nobrakes stop`.", ("settings",)),
    Kind.RESUMED: Happening("`nobrakes resume`.", ("settings",)),
    Kind.LIMITS_CHANGED: Happening("`nobrakes set`.", ("before", "after")),
    Kind.QUARANTINED: Happening("A person lets a test or a check fail for a time.", ("check", "test", "reason")),
    Kind.QUARANTINE_LIFTED: Happening("It has to pass again.", ("check", "test", "reason")),
    Kind.GATE_CLOSED: Happening(
        "A provider refused: nothing is started there for now.", ("provider", "reason", "until", "times", "detail")
    ),
    Kind.GATE_OPENED: Happening(
        "Agents start at the provider again: its cooldown is over, or a person ended it.", ("provider",)
    ),
    Kind.RETRIED: Happening("A person sends the bead back to agents with a clean count.", ("failures", "reason")),
    Kind.BREAKER_RESET: Happening("A person lets an agent try the bead again.", ("provider",)),
    Kind.CAP_REACHED: Happening("Nothing new is started under the cap.", ("cap", "spent", "limit", "until")),
    Kind.MAIN_GREEN: Happening("Nobody worked, and main's tip passed a run of its own.", ("commit", "unsteady")),
    Kind.MAIN_FROZEN: Happening(
        "main is red (twice, or before a review blamed a branch), or its set-up fails: no merge until it is green.",
        ("commit", "results"),
    ),
    Kind.MAIN_UNFROZEN: Happening("Merges go on: main is green again.", ("commit",)),
    Kind.MAIN_REWRITTEN: Happening(
        "A person took done beads off main; a notice says which, and what can be done.", ("commit", "text")
    ),
    Kind.CULPRIT_FOUND: Happening("The search for what made main red is over.", ("commit", "why", "green")),
    Kind.ARCHIVE_EXPIRED: Happening("A person let go of archived branches that were merged.", ("refs",)),
    Kind.RECOVERED: Happening("A daemon took up what an earlier one left.", ("alive", "ended")),
    Kind.BROUGHT_BACK: Happening(
        "The database was older than what is kept beside it, and is as that says: of a bead its `status` and what it "
        "was `before`; of all of it, how much.",
        ("before", "status", "beads", "attempts", "escalations", "settings"),
    ),
    Kind.UNCONFINED: Happening("A daemon starts, and its agents and checks run without sandbox and wall.", ("why",)),
    Kind.DEGRADED: Happening(
        "Less is asked of an agent than it should be able to do: when a daemon starts, and when it changes.", ("why",)
    ),
    Kind.HOSTS_REFUSED: Happening(
        'A run asked for hosts that `network = "provider"` does not let it reach.', ("run", "hosts")
    ),
    Kind.UNDONE: Happening(
        "`nobrakes undo` took a step back; on a bead that moved by it, the status is taken back. What was settled when "
        "the bead was closed is open again, and stops it.",
        ("undone", "beads", *_MOVED, "asked"),
    ),
}

OUTCOMES: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "It did what it was to do.",
    Outcome.GAVE_UP_CONTEXT: "The agent says that its context ran out, or it was stopped because it was nearly full "
    "(`context_share`).",
    Outcome.GAVE_UP_TESTS: "The agent says that it cannot make the tests pass, or they failed alike again and again.",
    Outcome.FAILED: "The agent says that it failed, or a script exited with an error.",
    Outcome.FAILED_REVIEW: "A check failed on the work, and not on main.",
    Outcome.BOUNDARY: "The branch changes a file that the role may not change, or was rewritten.",
    Outcome.WEAK_TESTS: "The new tests are red, but also pass with a program that does nothing right: empty bodies, a "
    "constant. The next attempt reads which. Or a test file that was there asserts less than before.",
    Outcome.NOT_RED: "The new tests do not fail, or not for a reason that a Doer can remove.",
    Outcome.NO_WORK: "The agent says that it is done, and the branch has nothing new.",
    Outcome.CONTRADICTED_ITSELF: "Its last words hold two different markers.",
    Outcome.EMPTY_OUTPUT: "The agent CLI ended well, and nothing that its model said or did can be read.",
    Outcome.CRASHED: "The agent CLI broke down in the middle.",
    Outcome.KILLED: "The process was killed from outside.",
    Outcome.STALLED: "No output, changed file, commit or CPU for `idle_minutes`.",
    Outcome.TIMED_OUT: "It ran for `agent_minutes`.",
    Outcome.CONTEXT_OVERFLOW: "The provider refused: the prompt is too long.",
    Outcome.INVALID_REQUEST: "The provider refused what the session had come to.",
    Outcome.TURN_LIMIT: "It used up `max_turns`, `max_budget_usd` or `caps.attempt`.",
    Outcome.BLOCKED: "The agent waits for an answer.",
    Outcome.CONFLICT: "The branch conflicts with main.",
    Outcome.CHECKS_CHANGED: "The branch changes what decides whether work is good; a person is shown the difference.",
    Outcome.UNUSUAL_CONTENT: "The branch has names that hide something, a secret key, or text of a filtered file.",
    Outcome.MERGE_REVIEW: "Everything passed, and the merge waits for a person's yes.",
    Outcome.CODE_REVIEW: "Everything passed; a person decides on what fresh eyes found, or that nobody read it.",
    Outcome.FINDINGS: "Everything passed, and fresh eyes found what is to be mended; the next attempt is told.",
    Outcome.REMARKS: "People want changes of the pull request; the next attempt is told what they wrote.",
    Outcome.ASKED_AGAIN: "People asked for changes of the same point of the pull request again, after it was answered.",
    Outcome.PULL_CLOSED: "People closed the pull request without merging it.",
    Outcome.BROKEN_CHECKS: "A check could not say yes or no, or none is configured, or main itself is red.",
    Outcome.LOST: "It ended unseen: its own process was killed, or the machine. The third time counts as `killed`.",
    Outcome.WORKSPACE_FAILED: "The clone, its checkout or the set-up command failed.",
    Outcome.SESSION_LOST: "The session that was to go on is gone or taken.",
    Outcome.MISSING_EXECUTABLE: "The agent's command was not found.",
    Outcome.BAD_CONFIGURATION: "The agent CLI did not start: its settings or installation are broken, or it is mute.",
    Outcome.GUARD_FAILED: "The guard did not answer, or let through what it must refuse: the run was stopped.",
    Outcome.NOBRAKES_FAILED: "nobrakes met what it did not expect while it worked for this bead.",
    Outcome.VERSION_UNSUPPORTED: "The agent CLI is too old or too new for its options, or not served any more.",
    Outcome.AUTH: "The provider does not accept the credentials.",
    Outcome.BILLING: "The provider wants money.",
    Outcome.RATE_LIMITED: "A usage limit.",
    Outcome.PROVIDER_DOWN: "The provider has an outage.",
    Outcome.NETWORK: "The provider cannot be reached.",
    Outcome.MODEL_UNAVAILABLE: "The provider has no such model.",
    Outcome.INTERRUPTED: "It was stopped by `nobrakes stop`, alone or with all, or with the daemon.",
    Outcome.CAPPED: "It was stopped because a cap of its bead, the day or the run was reached.",
    Outcome.CANCELLED: "A person took the bead away.",
}

ESCALATIONS: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "The branch and main change the same lines. Nobody resolves it for you.",
    EscalationType.CHECKS_CHANGED: "The branch changes a protected file, a protected section of a manifest or a file "
    "that a check's command names. You see the difference: `--approve` lets the review of this very commit go on, "
    "`--retry` sends the work back. "
    "Of a scaffolding bead's contract (`.nobrakes/config.toml`) you approve the very bytes.",
    EscalationType.UNUSUAL_CONTENT: "The branch has names with control, direction or invisible characters, what looks "
    "like a secret key, or clear text of what git keeps through a filter: `--approve` lets the review of this very "
    "commit go on, `--retry` sends the work back.",
    EscalationType.MERGE_REVIEW: "Everything passed, and the merge waits for your yes: the bead or an epic above "
    "it has the label `merge-review`, or `review.approve` is `always`. You see tests and code: `--approve` merges "
    "them, `--retry` sends them back with your note. The yes counts for this content alone, also on another base.",
    EscalationType.CODE_REVIEW: "Everything passed, and an agent that did not do the work found something in it, or no "
    "agent could read it (`review.code_review`). `--approve` goes on with it as it is, `--retry` sends it back.",
    EscalationType.ASKED_AGAIN: "People asked twice for a change of one point. `--retry`: a Doer tries once more.",
    EscalationType.PULL_CLOSED: "People closed the bead's pull request unmerged. `--retry`: a Doer, and a new request.",
    EscalationType.WEAK_TESTS: "As repeated_failure; the tests were too weak: the bead may say too little of them.",
    EscalationType.REPEATED_FAILURE: "So many counted attempts as `max_failures` says; all of them are in it, and a "
    "likely cause where something that was seen speaks for it.",
    EscalationType.DOER_SUGGESTION: "An agent saw work outside of its bead (`nobrakes agent escalate`).",
    EscalationType.QUESTION: "An agent asks (`nobrakes agent ask`), or stopped as blocked and says by what.",
    EscalationType.PLAN_REVIEW: "A session that plans, or a bead with the label `plan-review`, waits until you approve "
    "its plan (`nobrakes agent request-review`).",
    EscalationType.BROKEN_CHECKS: "A check is missing, collected no test, timed out or was killed.",
    EscalationType.BROKEN_ENVIRONMENT: "The agent does not start (one question for all beads), or its login, model or "
    "settings are wrong; or five faults of the machine in a row.",
    EscalationType.MAIN_RED: "main fails its own checks: before a branch is blamed for it, or after a merge. One red "
    "main is one question, to which all that is found out is added.",
    EscalationType.BREAKER_OPEN: "Every agent of the role has failed on the bead in the same way, or without a commit, "
    "as often as `[breaker]` says. Deciding it lets each of them try once more.",
    EscalationType.CAP_REACHED: "The bead has cost what `[caps.bead]` allows.",
    EscalationType.CHECKOUT_BEHIND: "A merge has waited for a quarter of an hour for a checkout of main. Its text says "
    "where, and what to type there. The merge goes on, and this is resolved, once that is done.",
    EscalationType.MERGE_HELD_UP: "A merge passed every check, and main cannot be moved: the remote refuses the "
    "push, does not let this account in or did not answer for five minutes, a filter fails, a lock was left, a disk is "
    "full. It goes on, and this is resolved, once that is mended.",
    EscalationType.NOBRAKES_FAILED: "nobrakes met what it did not expect while it worked for this bead, and everything "
    "else went on. The traceback is in it. The second time the bead is held as well (`nobrakes release`).",
}

CAUSES: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "conflicts with main",
    EscalationType.REPEATED_FAILURE: "failed too often",
    EscalationType.WEAK_TESTS: "its tests prove too little",
    EscalationType.DOER_SUGGESTION: "an agent suggests more work",
    EscalationType.QUESTION: "an agent's question",
    EscalationType.PLAN_REVIEW: "its plan waits for your yes",
    EscalationType.BROKEN_CHECKS: "a check can say neither yes nor no",
    EscalationType.BROKEN_ENVIRONMENT: "the agent or the machine is broken",
    EscalationType.CHECKS_CHANGED: "changes what decides about work",
    EscalationType.UNUSUAL_CONTENT: "has unusual names or content",
    EscalationType.MERGE_REVIEW: "passed, and its merge waits for your yes",
    EscalationType.CODE_REVIEW: "passed, and you decide on what a reviewer found",
    EscalationType.ASKED_AGAIN: "people asked twice for the same change of its pull request",
    EscalationType.PULL_CLOSED: "its pull request was closed unmerged",
    EscalationType.MAIN_RED: "main fails its checks",
    EscalationType.CHECKOUT_BEHIND: "your edits hold its merge up",
    EscalationType.MERGE_HELD_UP: "it passed, and main cannot be moved",
    EscalationType.BREAKER_OPEN: "every agent fails on it",
    EscalationType.CAP_REACHED: "it has cost what it may",
    EscalationType.NOBRAKES_FAILED: "nobrakes itself failed on it",
}
"""Why a person is asked, in a few words."""
