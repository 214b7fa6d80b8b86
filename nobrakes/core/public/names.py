"""The names of public events. A name never changes its meaning; a new meaning is a new name."""

from enum import StrEnum


class Name(StrEnum):
    """Every public event, with what it says."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Name":
        """A name with its meaning, for the reference."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made

    # agents
    TEST_WRITER_SPAWNED = "test_writer_spawned", "A Test Writer begins on the bead."
    TEST_WRITER_COMPLETED = "test_writer_completed", "Its tests fail as they should; a Doer is next."
    TEST_WRITER_FAILED = "test_writer_failed", "It ended without proven tests, or the bead was taken away from it."
    DOER_SPAWNED = "doer_spawned", "A Doer begins on the bead."
    DOER_COMPLETED = "doer_completed", "It handed in; the Reviewer is next."
    DOER_FAILED = "doer_failed", "It ended without handing in, or the bead was taken away from it."
    CRASH_TIMEOUT = (
        "crash_timeout",
        "An agent ended without a word: crashed, killed, silent, out of time. Its end follows.",
    )
    STOP_REQUESTED = "execution.stop_requested", "A person stops one agent."
    # reviews
    REVIEW_STARTED = "review_started", "The Reviewer begins on what was handed in."
    REVIEW_PASSED = "review_passed", "It is on main."
    REVIEW_FAILED = "review_failed", "The work goes back."
    REVIEW_INTERRUPTED = "review_interrupted", "The review ended without a judgement; another one follows if it can."
    REBASE_CONFLICT = "rebase_conflict", "The work conflicts with main. The review's end follows."
    CODE_REVIEW_STARTED = "code_review.started", "Fresh eyes read what passed its checks."
    CODE_REVIEW_ENDED = "code_review.ended", "They are through, or failed; what they found."
    # pull requests
    PR_ALLOWED = "pr.allowed", "A person let the work be pushed that has passed, and its pull request be opened."
    PR_CREATED = "pr.created", "The bead's pull request is there."
    PR_REVIEW_STARTED = "pr.review_started", "People or checks of the code host began to look at it."
    PR_ISSUE_FOUND = "pr.issue_found", "Somebody who may write left a remark, or a check of the code host is red."
    PR_APPROVED = "pr.approved", "Somebody who may write approved it."
    PR_MERGED = "pr.merged", "People merged it. The review's end follows."
    # people
    ESCALATION = "escalation", "A person is asked, or is shown something."
    QUESTION_ASKED = "question.asked", "An agent asks a person; the bead waits."
    QUESTION_ANSWERED = "question.answered", "A person answered."
    QUESTION_READ = "question.answer_read", "An agent acts by the answer from now on: nobody takes it back any more."
    QUESTION_REOPENED = "question.answer_taken_back", "A person took back an answer that nobody had read."
    # the plan
    STEP_ADDED = "plan.step_added", "A bead came into the plan."
    STEP_UPDATED = "plan.step_updated", "A bead was edited."
    STEP_REORDERED = "plan.step_reordered", "A dependency came or went."
    PLAN_APPROVED = "plan.approved", "A draft went live."
    # the work
    STEP_STARTED = "execution.step_started", "The first attempt on the bead begins."
    STEP_COMPLETED = "execution.step_completed", "The bead is done."
    STEP_CANCELLED = "execution.step_cancelled", "A person gave the bead up."
    STEP_REOPENED = "execution.step_reopened", "A closed bead is live again."
    STEP_UNDONE = "execution.step_undone", "A person's step was taken back."
    PAUSED_BLOCKER = "execution.paused_blocker", "The bead waits: for a person, or until a moment."
    PAUSED = "execution.paused", "Nothing new is started."
    RESUMED = "execution.resumed", "The bead goes on, or all of the work does."
    STATUS = (
        "execution.status",
        "How a bead stands: work on it begins or ends, files change, tests run, it waits.",
    )
    AGENT_LOGGED = "agent.logged", "An agent wrote a line into the bead's log."
    AGENT_NOTIFIED = "agent.notified", "An agent tells the person something, without waiting."
    AGENT_TESTED = "agent.tested", "An agent ran the checks in its workspace; how each ended."
    AGENT_HANDED_OFF = "agent.handed_off", "An agent said how it ends; its process has not ended yet."
    # sessions
    SESSION_BEGAN = "session.began", "A person began a session with an agent."
    SESSION_SAID = "session.said", "Something was said to a session."
    SESSION_TURN_STARTED = "session.turn_started", "The agent of a session was started."
    SESSION_TURN_ENDED = "session.turn_ended", "The agent of a session ended; its answer is in the session."
    SESSION_ENDED = "session.ended", "A person ended a session."
    PROJECT_SET = "project.set", "A chat agent's session works on this project from now on."
    # features
    STAGE_DISCOVERY = "stage.discovery", "A feature is begun: its Shaper looks at the code and asks."
    STAGE_PLANNING = "stage.planning", "A feature's plan is made, or changed."
    STAGE_REVIEW = "stage.review", "A feature's plan is whole: it is looked at."
    STAGE_IMPLEMENTATION = "stage.implementation", "A feature's plan was approved: its beads are built."
    STAGE_PR_CREATION = "stage.pr_creation", "A feature is built, and its pull request is open."
    STAGE_DONE = "stage.done", "A feature is on main."
    FEATURE_STATE = "feature.state", "A feature was paused, resumed, expired, failed, completed or rolled back."
    FEATURE_CHANGED = "feature.changed", "A person changed what is said of a feature."
    SPRINT_MOVED = "sprint.moved", "A sprint of a project came to another stage, or its run began or ended."
    PLAN_CREATED = "plan.created", "A version of a feature's plan is whole, and kept."
    PLAN_REVIEW_STARTED = "review.started", "A reviewer looks at a feature's plan."
    PLAN_REVIEW_ENDED = "review.ended", "It is through, or failed."
    REVIEW_FINDINGS = "review.findings", "A reviewer of a plan found something."
    FINDING_SETTLED = "review.finding_settled", "A person decided what a reviewer of a plan had found."
    TODO_COLLECTED = "todo.collected", "Something was collected for a feature's next checkpoint."
    TODO_SETTLED = "todo.settled", "What was collected was looked at, or is not there any more."
    REPLANNING = "todo.replanning_triggered", "A feature that is built goes back to its plan."
    # checks and main
    CHECK_FLAKED = "check.flaked", "A check failed and passed on the same tree."
    CHECK_QUARANTINED = "check.quarantined", "A person lets a test or a check fail for a time."
    CHECK_QUARANTINE_LIFTED = "check.quarantine_lifted", "It has to pass again."
    MAIN_GREEN = "main.green", "Main's tip passed a run of its own."
    MAIN_FROZEN = "main.frozen", "Main is red, or its set-up fails: nothing is merged."
    MAIN_UNFROZEN = "main.unfrozen", "Main is green again."
    MAIN_REWRITTEN = "main.rewritten", "A person took done beads off main."
    MAIN_CULPRIT_FOUND = "main.culprit_found", "The search for what made main red is over; without a commit: in vain."
    # the machine
    DAEMON_STARTED = "daemon.started", "A daemon works."
    DAEMON_STOPPED = "daemon.stopped", "It ended in order."
    LIMITS_CHANGED = "limits.changed", "A person changed limits while it runs."
    PROVIDER_REFUSED = "provider.refused", "A provider of models refuses: nothing is started there for now."
    PROVIDER_AVAILABLE = "provider.available", "The provider may be asked again."
    CAP_REACHED = "cap.reached", "A cap on cost, tokens or time is reached: nothing new is started under it."
    SAFETY_REDUCED = "safety.reduced", "Agents run with less protection than they should."
    SAFETY_DANGER_SEEN = "safety.danger_seen", "An agent called a tool in a way that looks dangerous."
    SAFETY_HOSTS_REFUSED = "safety.hosts_refused", "A confined run asked for hosts that it may not reach."
    # the log itself
    LOG_BEGUN = "log.begun", "A file of events begins here, or begins anew; `seq` is 0."
