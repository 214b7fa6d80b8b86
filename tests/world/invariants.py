"""The promises that hold after every step, each a function named after the promise: what is wrong, or nothing.

1. They look at the world from outside: at git's dicts, the process table, the event log and the store's answers.
2. What happens in order (who was started while what was open) is judged on the replayed event log (replay.Observed).
"""

from collections import Counter
from collections.abc import Callable

from nobrakes.agents.adapter import PREFIX
from nobrakes.agents.limits import WORKSPACES
from nobrakes.agents.worker.exit import UNSEEN_IN_PEACE
from nobrakes.beads.model import CLOSED, TABLE, WAITING_FOR_AGENT, WORKING, Outcome, Role
from nobrakes.checks.worker.validation import MAX_CUT_OFF
from nobrakes.daemon.service.control import TROUBLE
from nobrakes.decisions.model import STARTS, EscalationType
from nobrakes.errors import Stale
from nobrakes.review.journal import Journal
from nobrakes.review.waits import MAX_SECONDS

from . import (
    approving,
    at_the_host,
    by_epics,
    by_hand,
    collecting,
    feature_promises,
    filtering,
    landed,
    questions,
    reading,
)
from .fake_nodes import take_breaches
from .fake_remote import REFUSES, SharedFakeGit
from .main_monitor import nothing_is_reviewed_while_main_is_red, one_red_main_is_one_question, watch_of
from .project import run_tests
from .proven import a_merged_bead_has_its_evidence_once, evidence_only_grows
from .rewriting import an_open_candidate_has_a_ref, nothing_is_asked_twice
from .scene import Scene

SLACK = 300.0
"""So much later than it may be a look is seen: a step of the world takes its time."""

OF_OUR_STOP = frozenset(
    {Outcome.STALLED, Outcome.TIMED_OUT, Outcome.KILLED, Outcome.CRASHED, Outcome.INTERRUPTED, Outcome.CAPPED}
)
"""How an attempt ends that is judged by what stopped it."""


def proven_tests_are_red(scene: Scene) -> list[str]:
    """Tests are handed to a Doer only when they can be loaded and one of them fails."""
    heads, scene.observed.fresh_proofs = scene.observed.fresh_proofs, []
    results = {head: run_tests(scene.git.objects.tree_of(head)) for head in heads}
    return [f"{head[:12]}: {text.splitlines()[-1]}" for head, (code, text) in results.items() if code != 1]


def nothing_is_lost(scene: Scene) -> list[str]:
    """Every commit that an agent made and did not itself throw away is reachable from main, a workspace or a ref."""
    git = scene.git
    heads = [git.head, *git.refs.values(), *(clone.head for clone in git.clones.of_bead.values())]
    lost = git.clones.made_by_agents - git.objects.reachable(heads)
    thrown = git.objects.reachable(git.clones.thrown_away) if lost else set()
    missing = (lost - thrown) | (lost & scene.observed.taken_in)
    scene.observed.taken_in |= {head for ref, head in git.refs.items() if "/incoming/" in ref}
    return [f"{one[:12]} ({git.objects.find(one).subject})" for one in sorted(missing)]


def no_more_agents_than_allowed(scene: Scene) -> list[str]:
    """At most `limits.doers` agents hold beads."""
    agents = [a for a in scene.board.attempts if a.role is not Role.REVIEWER]
    return (
        [f"{len(agents)} agents, {scene.board.limits.doers} allowed"] if len(agents) > scene.board.limits.doers else []
    )


def a_name_is_held_once(scene: Scene) -> list[str]:
    """No two open attempts have the same name."""
    names = Counter(a.name for a in scene.board.attempts)
    return [f"{name} is held {count} times" for name, count in names.items() if count > 1]


def one_process_works_on_a_bead(scene: Scene) -> list[str]:
    """Two living agents never work on the same bead."""
    beads = Counter(child.command.env["NOBRAKES_BEAD"] for child in scene.processes.living() if child.is_agent)
    return [f"{count} agents live on {bead}" for bead, count in beads.items() if count > 1]


def no_process_without_a_trace(scene: Scene) -> list[str]:
    """Every living process is known to the store."""
    known = {run.id for run in scene.store.runs()} | {watch_of(scene.store).run}
    return [f"{child.run} is an orphan" for child in scene.processes.living() if child.run not in known]


def who_works_on_alone_may_finish(scene: Scene) -> list[str]:
    """An agent whose wrapper was killed is stopped for the reasons of any other, not for that."""
    return [
        f"{child.run} was stopped at its work" for child in scene.processes.children.values() if child.stopped_at_work
    ]


def what_vanished_is_nobodys_fault(scene: Scene) -> list[str]:
    """An agent or a check whose wrapper was killed is no failed attempt, and a success only by its own words.

    Again and again on one bead it counts.
    """
    ends, scene.observed.fresh_ends = scene.observed.fresh_ends, []
    wrong = []
    children = scene.processes.children
    for attempt, outcome in ends:
        agent = children.get(f"{attempt}-agent")
        if agent is not None and agent.vanished and (TABLE[outcome].counts or outcome is Outcome.COMPLETED):
            words = agent.outputs.get(f"{agent.command.folder}/agent.out", "")
            bead, earlier = scene.store.attempt(attempt).bead, 0
            if outcome is Outcome.KILLED:
                earlier = sum(one.outcome is Outcome.LOST for one in scene.store.attempts(bead))
            if PREFIX not in words and earlier < UNSEEN_IN_PEACE:
                wrong.append(f"attempt {attempt} vanished without a word, and is {outcome}")
        checks = [c for c in children.values() if c.run.startswith((f"{attempt}-check", f"{attempt}-proof"))]
        often = sum(not check.over for check in checks) > MAX_CUT_OFF
        if outcome is Outcome.BROKEN_CHECKS and checks and checks[-1].vanished and not often:
            wrong.append(f"attempt {attempt} asks a person about checks that vanished")
    return wrong


def a_lost_node_counts_for_nothing(scene: Scene) -> list[str]:
    """Whoever was lost with its node failed at nothing, however often that happens."""
    wrong = []
    for child in scene.processes.children.values():
        if child.node_lost and child.is_agent and child.stopped_for is None and child.run[0].isdigit():
            outcome = scene.store.attempt(int(child.run.partition("-")[0])).outcome
            if outcome is not None and TABLE[outcome].counts:
                wrong.append(f"{child.run} was lost with its node, and is {outcome}")
    return wrong


def nodes_have_what_they_can_take(scene: Scene) -> list[str]:
    """No agent starts beyond the nodes' places, or without a node; nobody hears who was lost."""
    return list(take_breaches(scene.nodes))


def who_had_finished_is_judged_by_its_words(scene: Scene) -> list[str]:
    """What ended a Doer that had said its last word and lived on says nothing about it."""
    wrong = []
    for child in scene.processes.children.values():
        is_doer = child.has_finished and child.command.env["NOBRAKES_ROLE"] == Role.DOER.value
        if is_doer and not child.alive and child.run[0].isdigit():
            outcome = scene.store.attempt(int(child.run.partition("-")[0])).outcome
            if outcome in OF_OUR_STOP:
                wrong.append(f"{child.run} had finished, and is {outcome}")
    return wrong


def locks_are_held_by_the_living(scene: Scene) -> list[str]:
    """A bead is worked on, has an assignee, and has one open attempt: all of it or none."""
    wrong = []
    held = Counter(a.bead for a in scene.board.attempts)
    for bead in scene.beads:
        working = bead.status in WORKING
        if (bead.assignee is not None) != working or held[bead.id] != int(working):
            wrong.append(f"{bead.id} is {bead.status}, held by {bead.assignee}, {held[bead.id]} attempts open")
    return wrong


def who_fails_too_often_is_with_a_person(scene: Scene) -> list[str]:
    """No bead waits for another agent once its counted failures reached the limit."""
    limit = scene.config.limits.max_failures
    wrong = []
    for bead in scene.beads:
        counted = scene.observed.failures[bead.id]
        if bead.status in WAITING_FOR_AGENT and counted >= limit:
            wrong.append(f"{bead.id} failed {counted} times and waits for an agent")
        if bead.failures != counted and bead.status not in CLOSED:
            wrong.append(f"{bead.id} has {bead.failures} failures in the store, {counted} in its attempts")
    return wrong


def a_jump_of_the_clock_blames_nobody(scene: Scene) -> list[str]:
    """Who is stopped for its time or its silence had that time, and was silent so long, by a clock that nobody sets."""
    limits, wrong = scene.config.limits, []
    for child in scene.processes.children.values():
        if not child.is_agent or child.stopped_for not in (Outcome.TIMED_OUT, Outcome.STALLED):
            continue
        is_late = child.stopped_for is Outcome.TIMED_OUT
        since = child.started_at if is_late else max(child.started_at, child.active_at)
        minutes = limits.agent_minutes if scene.features is None else scene.features.minutes(child.command.env)
        if reading.is_reader(scene, child.command.env):
            minutes = scene.config.review.code_review_minutes
        least = 60 * (minutes if is_late else limits.idle_minutes) - 1
        if child.stopped_at - since < least:
            wrong.append(f"{child.run} is {child.stopped_for} after {child.stopped_at - since:.0f} s")
    return wrong


def nothing_starts_while_paused(scene: Scene) -> list[str]:
    """Nothing new is started from the moment a person paused."""
    return scene.observed.take("paused")


def work_starts_when_its_blockers_are_done(scene: Scene) -> list[str]:
    """Whenever an agent started on a bead, every blocker of it was done, and nobody held it."""
    return scene.observed.take("dependencies")


def every_move_is_in_the_table(scene: Scene) -> list[str]:
    """The event log, replayed by beads.lifecycle, gives the statuses in the store."""
    wrong = scene.observed.take("lifecycle")
    for bead in scene.beads:
        replayed = scene.observed.status(bead.id)
        if replayed is not bead.status:
            wrong.append(f"{bead.id} is {bead.status} in the store and {replayed} by its events")
    return wrong


def nothing_starts_at_a_closed_gate(scene: Scene) -> list[str]:
    """While a provider's gate is closed, no agent of it is started."""
    return scene.observed.take("gates")


def a_refusal_burns_no_attempt(scene: Scene) -> list[str]:
    """What the provider refused is not the bead's failure."""
    return scene.observed.take("burnt")


def a_broken_cli_is_one_question(scene: Scene) -> list[str]:
    """However many beads meet it: one in the name of none, one before that is known; both again if people say so."""
    asked = [one for one in scene.store.escalations(open_only=False) if one.type is EscalationType.BROKEN_ENVIRONMENT]
    asked = [one for one in asked if one.evidence.get(STARTS) != WORKSPACES]  # no workspace could be made
    asked = [one for one in asked if TROUBLE not in one.evidence]  # the loop waits for the machine
    of_starts = [one for one in asked if one.bead is None or "SyntaxError" in one.detail]
    broke = sum(scene.providers.periods.values()) if scene.providers is not None else 0
    sent_on = sum(one.resolved_at is not None and not one.resolution.startswith("it ") for one in of_starts)
    found = f"{len(of_starts)} questions about CLIs that broke {broke} times; people decided {sent_on}"
    return [found] if len(of_starts) > 2 * (broke + sent_on) else []


def no_start_exceeds_a_cap(scene: Scene) -> list[str]:
    """Nothing is started under a cap that is reached."""
    return scene.observed.take("caps")


def no_two_beads_share_a_session(scene: Scene) -> list[str]:
    """What an agent remembers is of its own bead."""
    return scene.sessions.take("shared")


def runs_of_a_session_never_overlap(scene: Scene) -> list[str]:
    """Nobody goes on with a session while a process of its last run lives."""
    return scene.sessions.take("overlap")


def a_session_goes_on_where_the_table_allows(scene: Scene) -> list[str]:
    """Only after endings whose row says so, with the same agent in the same role."""
    return scene.sessions.take("resumed")


def nothing_is_said_twice(scene: Scene) -> list[str]:
    """What a person says in a session, and what they answer, comes once to each session of its CLI."""
    return scene.talking.told_twice()


def no_more_sessions_than_allowed(scene: Scene) -> list[str]:
    """At most `limits.sessions` turns are at work, and each is of another session."""
    open_, most = [talk.session.id for talk in scene.board.talks], scene.board.limits.sessions
    wrong = [f"session {one} has two turns" for one in set(open_) if open_.count(one) > 1]
    return wrong + ([f"{len(open_)} turns, {most} allowed"] if len(open_) > most else [])


def no_agent_starts_without_a_place(scene: Scene) -> list[str]:
    """On a machine that other daemons share, an agent starts only when it has taken one of the places that are left."""
    return scene.machine.take_breaches() if scene.machine is not None else []


def every_place_is_an_agents(scene: Scene) -> list[str]:
    """No place is held for an agent that is not there: others wait for it."""
    known = {run.id for run in scene.store.runs()}
    held = scene.machine.own if scene.machine is not None else set()
    return [f"a place is held for {name}" for name in sorted(held - known)]


def a_lost_race_is_followed(scene: Scene) -> list[str]:
    """Who comes too late looks where main is before it asks again: else it would ask for ever."""
    return scene.git.asked_again if isinstance(scene.git, SharedFakeGit) else []


def a_refusal_of_the_remote_is_asked_about(scene: Scene) -> list[str]:
    """No time heals it: a person is asked as soon as a merge waits for it."""
    reviews = ((one.bead, Journal.of(one.data)) for one in scene.board.attempts if one.role is Role.REVIEWER)
    return [
        f"nobody is asked about {bead}"
        for bead, one in reviews
        if one.merging.waiting == REFUSES and not one.merging.behind
    ]


def a_mended_remote_is_tried_again(scene: Scene) -> list[str]:
    """By itself, and soon: a person who lets nobrakes push tells the remote alone."""
    git = scene.git
    if not isinstance(git, SharedFakeGit) or not git.protects:
        return []
    now = scene.clock.now()
    late = [attempt for attempt, due in git.due.items() if now > due]
    reviews = (one.id for one in scene.board.attempts if Journal.of(one.data).merging.waiting == REFUSES)
    soon = now + MAX_SECONDS + SLACK
    git.due = {} if git.is_protected else {attempt: git.due.get(attempt, soon) for attempt in reviews}
    return [f"attempt {attempt} waits for a remote that a person has mended" for attempt in late]


def epics_close_by_rule(scene: Scene) -> list[str]:
    """An epic is completed when its last child is closed, not before."""
    return scene.observed.take("epics")


def what_is_over_stays_over(scene: Scene) -> list[str]:
    """The token of an attempt that ended opens no door."""
    wrong = []
    for attempt in scene.observed.some_ended(scene.store, scene.tally.steps):
        try:
            scene.store.attempt_of_token(attempt.token)
        except Stale:
            continue
        wrong.append(f"the token of attempt {attempt.id} still speaks for {attempt.bead}")
    return wrong


def the_index_of_the_ready_is_right(scene: Scene) -> list[str]:
    """What the store calls ready is what a recomputation from the facts calls ready."""
    stored = {bead.id for bead in scene.board.ready}
    computed = scene.observed.ready(scene.beads, scene.clock.now())
    return [f"ready by the index {sorted(stored)}, by the facts {sorted(computed)}"] if stored != computed else []


def a_plain_commit_takes_no_merge_back(scene: Scene) -> list[str]:
    """The index of a person's checkout is main's but for what they staged, unless an edit of theirs is in the way."""
    checkout = scene.git.checkout
    if checkout.overtaken:
        return [f"{path} was staged when a landing changed it" for path in sorted(checkout.overtaken)]
    lost = checkout.behind(scene.git.head)
    if not lost or checkout.in_the_way(scene.git.head, scene.git.edited):
        return []
    return [f"the next plain commit takes {path} back" for path in lost]


def notices_are_sent_when_they_may_be(scene: Scene) -> list[str]:
    """One at a time through a channel, none in quiet hours that hold it, none twice while the daemon lives."""
    return [] if scene.noticing is None else scene.noticing.wrongly_sent()


PROMISES: tuple[Callable[[Scene], list[str]], ...] = (
    *landed.PROMISES,
    *questions.PROMISES,
    filtering.a_secret_stays_sealed,
    collecting.what_a_workspace_has_is_not_done_again,
    *approving.PROMISES,
    *reading.PROMISES,
    *by_hand.PROMISES,
    *feature_promises.EACH_STEP,
    *at_the_host.EACH_STEP,
    *by_epics.EACH_STEP,
    proven_tests_are_red,
    nothing_is_lost,
    no_more_agents_than_allowed,
    a_name_is_held_once,
    one_process_works_on_a_bead,
    who_works_on_alone_may_finish,
    what_vanished_is_nobodys_fault,
    a_lost_node_counts_for_nothing,
    nodes_have_what_they_can_take,
    who_had_finished_is_judged_by_its_words,
    no_process_without_a_trace,
    locks_are_held_by_the_living,
    every_move_is_in_the_table,
    who_fails_too_often_is_with_a_person,
    a_jump_of_the_clock_blames_nobody,
    nothing_starts_while_paused,
    nothing_is_reviewed_while_main_is_red,
    one_red_main_is_one_question,
    work_starts_when_its_blockers_are_done,
    nothing_starts_at_a_closed_gate,
    a_refusal_burns_no_attempt,
    a_broken_cli_is_one_question,
    no_start_exceeds_a_cap,
    no_two_beads_share_a_session,
    runs_of_a_session_never_overlap,
    a_session_goes_on_where_the_table_allows,
    nothing_is_said_twice,
    no_more_sessions_than_allowed,
    no_agent_starts_without_a_place,
    every_place_is_an_agents,
    epics_close_by_rule,
    what_is_over_stays_over,
    the_index_of_the_ready_is_right,
    a_merged_bead_has_its_evidence_once,
    evidence_only_grows,
    nothing_is_asked_twice,
    an_open_candidate_has_a_ref,
    a_lost_race_is_followed,
    a_refusal_of_the_remote_is_asked_about,
    a_mended_remote_is_tried_again,
    a_plain_commit_takes_no_merge_back,
    notices_are_sent_when_they_may_be,
)
