"""The promises about features: after every step, and when everything has come to rest.

1. They look at the event log, the store's answers and what agents were told, never at what the Forge decides by.
2. What happens in order is judged on the replayed log (feature_log).
"""

from collections import Counter
from collections.abc import Callable, Sequence

from nobrakes.beads import lifecycle
from nobrakes.beads.model import CLOSED, Status
from nobrakes.beads.readiness import deadlocks
from nobrakes.events.kinds import Kind
from nobrakes.features import model as keys
from nobrakes.features.model import PLANNED, FindingState, ItemState, ReviewState, Stage, State
from nobrakes.features.reviewed_plan import under
from nobrakes.sessions.model import CLEAN

from .feature_agents import Told
from .feature_log import FeatureLog
from .features import Features
from .scene import Scene


def _seen(scene: Scene) -> tuple[Features, FeatureLog] | None:
    """People, agents and log of features, followed up to now; None: this world has none."""
    found = scene.features
    if found is None:
        return None
    found.log.follow(scene.store)
    return found, found.log


def no_plan_goes_live_without_a_yes(scene: Scene) -> list[str]:
    """What is live of a plan is so by a person, and a plan that was under review as it was signed off."""
    if (seen := _seen(scene)) is None:
        return []
    wrong, seen[0].wrong = seen[0].wrong, []
    return wrong + seen[1].take("yes")


def what_must_be_refused_is_refused(scene: Scene) -> list[str]:
    """No Shaper's circle, empty plan or plan into another feature is taken; no reviewer plans."""
    if scene.features is None:
        return []
    agents = scene.features.agents
    wrong, agents.wrong = agents.wrong, []
    return wrong


def a_plan_has_an_order(scene: Scene) -> list[str]:
    """With all its drafts live, no bead waits for itself."""
    if scene.features is None or not scene.features.begun:
        return []
    live = {bead.id: lifecycle.live(bead).status for bead in scene.beads if bead.status is Status.DRAFT}
    nodes = [node._replace(status=live.get(node.id, node.status)) for node in scene.store.nodes()]
    return [f"{' and '.join(one.members)} wait for each other" for one in deadlocks(nodes, scene.store.dependencies())]


def an_answer_comes_once(scene: Scene) -> list[str]:
    """To one session of nobrakes, to each of its CLI's sessions once, and to no turn after one that was told well."""
    if scene.features is None:
        return []
    wrong = []
    for asked, told in scene.features.agents.told.items():
        sessions = {one.session for one in told}
        if len(sessions) > 1:
            wrong.append(f"the answer to {asked} was told to sessions {sorted(sessions)}")
        for provider_session, times in Counter(one.provider_session for one in told).items():
            if times > 1:
                wrong.append(f"the answer to {asked} was told {times} times to {provider_session}")
        if len(told) > 1 and any(_was_told_well(scene, one) for one in told[:-1]):
            wrong.append(f"the answer to {asked} was told to turn {told[-1].turn} again")
    return wrong


def _was_told_well(scene: Scene, one: Told) -> bool:
    return scene.store.turn(one.turn).outcome in CLEAN


def no_question_is_lost(scene: Scene) -> list[str]:
    """What was asked is on the Desk, or is over by an answer, a decision or a person's end of its session."""
    if (seen := _seen(scene)) is None:
        return []
    features, log = seen
    wrong, filed = [], scene.store.escalations_as_filed()
    for one in filed:
        if one.resolved_at is None or one.id in log.decided:
            continue
        of_shaper = one.session in log.shapers
        if "feature" in one.evidence or of_shaper:
            ended = log.ended.get(one.session or 0, "")
            if not ended or (of_shaper and ended == "nobrakes"):
                wrong.append(f"question {one.id} ('{one.title[:40]}') is over, and nothing says how: {one.resolution}")
    titles, by_words = {one.title for one in filed}, features.agents.by_words
    for turn in [one for one in by_words if _is_dealt_with(scene, one)]:
        asked = by_words.pop(turn)
        wrong += [f"'{one}' was asked in turn {turn}, and is nowhere" for one in asked if one not in titles]
    return wrong


def _is_dealt_with(scene: Scene, turn: int) -> bool:
    """Whether what it asked has to be there by now. Where another session plans since, nobody will look again."""
    ended = scene.store.turn(turn)
    found = scene.store.feature_of_session(ended.session)
    is_over = found is None or found[0].session != ended.session or int(found[0].data.get(keys.LAST_TURN) or 0) >= turn
    return ended.outcome in CLEAN and is_over


def reviews_come_to_an_end(scene: Scene) -> list[str]:
    """No more rounds than the cap since the plan was opened last, no more than enough, and none for nobody."""
    if (seen := _seen(scene)) is None:
        return []
    log = seen[1]
    rules = scene.config.forge
    wrong = log.take("clean") + log.take("degraded")
    for id_, one in log.features.items():
        if len(one.begun) > rules.most_rounds:
            wrong.append(f"{id_} is in round {len(one.begun)} of {rules.most_rounds}")
        for version, times in Counter(version for version, end in one.rounds if end == "clean").items():
            if times > rules.clean_rounds:
                wrong.append(f"version {version} of {id_} was clean {times} times, and {rules.clean_rounds} are enough")
    return wrong


def one_feature_is_planned_at_a_time(scene: Scene) -> list[str]:
    """At most one has the repository's turn."""
    if scene.features is None:
        return []
    planned = [one.id for one in scene.store.features(going=False) if one.has_turn]
    return [f"{' and '.join(planned)} are planned at once"] if len(planned) > 1 else []


def nothing_of_a_paused_feature_begins(scene: Scene) -> list[str]:
    """Neither a turn of its Shaper or a reviewer, nor a round."""
    seen = _seen(scene)
    return [] if seen is None else seen[1].take("paused")


def a_feature_is_where_the_tables_say(scene: Scene) -> list[str]:
    """Its events, replayed by features.model, give the stage and the state in the store."""
    if (seen := _seen(scene)) is None:
        return []
    wrong = seen[1].take("tables")
    for one in scene.store.features(going=False):
        known = seen[1].features.get(one.id)
        if known is None or (known.at.stage, known.at.state) != (one.stage, one.state):
            wrong.append(f"{one.id} is {one.state.value} in {one.stage.value} in the store, by its events {known}")
    return wrong


def what_becomes_of_a_feature_is_in_the_log(scene: Scene) -> list[str]:
    """Versions, reviews and findings of the store; expiry and failure are told."""
    if (seen := _seen(scene)) is None:
        return []
    log, store = seen[1], scene.store
    wrong = log.take("log") + log.take("told") + log.take("waits")
    for one in store.features(going=False):
        known = log.features.get(one.id)
        if known is None:
            continue
        if known.version != one.plan or len(store.plan_versions(one.id)) != one.plan:
            wrong.append(f"{one.id} has version {one.plan} of its plan, by its events {known.version}")
        rounds = {review.round for review in store.plan_reviews(one.id)}
        if max(rounds, default=0) != one.round:
            wrong.append(f"{one.id} is in round {one.round}, and its reviews are of {sorted(rounds)}")
    return wrong


EACH_STEP: Sequence[Callable[[Scene], list[str]]] = (
    no_plan_goes_live_without_a_yes,
    what_must_be_refused_is_refused,
    a_plan_has_an_order,
    an_answer_comes_once,
    no_question_is_lost,
    reviews_come_to_an_end,
    one_feature_is_planned_at_a_time,
    nothing_of_a_paused_feature_begins,
    a_feature_is_where_the_tables_say,
    what_becomes_of_a_feature_is_in_the_log,
)


# --- at rest ---------------------------------------------------------------------------------------


def a_feature_is_done_with_its_beads(scene: Scene) -> list[str]:
    """At rest: what is built and has nothing left to do is completed, unless something collected waits for a person."""
    wrong = []
    for one in scene.store.features(going=False) if scene.features is not None else ():
        epic = scene.store.bead(one.id).status
        if (epic is Status.DONE) != (one.state is State.COMPLETED):
            wrong.append(f"{one.id} is {one.state.value} in {one.stage.value}, and its epic is {epic.value}")
        ids = under(scene.store, one.id)
        beads = [bead.status for bead in scene.beads if bead.id in ids]
        is_built = one.stage is Stage.IMPLEMENTATION and one.state is State.ACTIVE
        waits = any(item.state is ItemState.WAITING for item in scene.store.items(one.id))
        if is_built and Status.DONE in beads and all(status in CLOSED for status in beads):
            closed_off = scene.observed.obstacles(one.id) or epic is Status.DRAFT
            if not (closed_off or (waits and _somebody_is_planned(scene))):
                wrong.append(f"all beads of {one.id} are closed, and it is {one.stage.value}")
    return wrong


def _somebody_is_planned(scene: Scene) -> bool:
    return any(one.has_turn for one in scene.store.features())


def a_feature_waits_for_a_person_or_is_over(scene: Scene) -> list[str]:
    """At rest: no session of it has anything to do, each open finding is asked, and what is planned waits for somebody.

    Where people decide all that waits for them, nothing is left of it.
    """
    wrong = []
    features = scene.features
    for one in scene.store.features() if features is not None else ():
        assert features is not None
        if one.state is not State.ACTIVE or one.stage not in PLANNED:
            continue
        asked = {e.id: e for e in scene.store.escalations()}
        own = {e.id for e in asked.values() if one.session is not None and e.session == one.session}
        mine = [e for e in asked.values() if e.id in own or e.evidence.get("feature") == one.id]
        for finding in scene.store.findings(one.id):
            if finding.state is FindingState.OPEN and finding.escalation not in asked:
                wrong.append(f"finding {finding.id} of {one.id} waits, and nobody is asked")
        running = [r.domain for r in scene.store.plan_reviews(one.id) if r.state is ReviewState.RUNNING]
        if running:
            wrong.append(f"{', '.join(running)} of {one.id} run at rest")
        known = features.log.features[one.id]
        to_sign = known.asked_to_sign == known.version > 0 or known.signed
        if not mine and not to_sign:
            wrong.append(f"{one.id} is in {one.stage.value}, and waits for nobody")
        if features.helps and (mine or to_sign):
            what = mine[0].title[:60] if mine else f"version {known.version}, signed off is {known.signed or 'none'}"
            wrong.append(f"{one.id} is in {one.stage.value} although everything is decided: {what}")
    if features is not None and features.goes_round():
        wrong.append(f"{features.helped.total()} decisions were not enough: {dict(features.helped)}")
    return wrong


def nothing_that_was_told_is_over_unsaid(scene: Scene) -> list[str]:
    """At rest: findings and reviews have their events, each once."""
    if scene.features is None:
        return []
    kinds = Counter(event.kind for event in scene.store.events(0, 1_000_000))
    every = [one.id for one in scene.store.features(going=False)]
    found = sum(len(scene.store.findings(id_)) for id_ in every)
    looked = sum(len(scene.store.plan_reviews(id_)) for id_ in every)
    wrong = [] if kinds[Kind.FINDING_MADE] == found else [f"{found} findings, {kinds[Kind.FINDING_MADE]} in the log"]
    if kinds[Kind.PLAN_REVIEW_BEGAN] != looked:
        wrong.append(f"{looked} reviews, {kinds[Kind.PLAN_REVIEW_BEGAN]} began in the log")
    return wrong


AT_REST: Sequence[Callable[[Scene], list[str]]] = (
    a_feature_is_done_with_its_beads,
    a_feature_waits_for_a_person_or_is_over,
    nothing_that_was_told_is_over_unsaid,
)
