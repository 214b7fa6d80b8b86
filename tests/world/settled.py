"""The promises that hold when everything has come to rest: all is done, or waits for a reason that can be said."""

from collections.abc import Callable

from nobrakes.beads.model import CLOSED, Bead, BeadType, Outcome, Status
from nobrakes.decisions.blockers import board_blockers
from nobrakes.decisions.model import STOPS_BEAD
from nobrakes.decisions.service.all_blockers import bead_blockers, person_blockers
from nobrakes.errors import NobrakesError, NotAllowed, Stale
from nobrakes.events.kinds import Kind

from . import at_the_host, by_epics, feature_promises
from .proven import main_and_its_evidence_agree
from .reading import no_reading_is_left
from .rewriting import nobody_is_blamed_for_a_rewritten_main
from .scene import Scene


def nothing_runs(scene: Scene) -> list[str]:
    """No process lives, no run is known, no attempt is open."""
    wrong = [f"{child.run} lives" for child in scene.processes.living()]
    wrong += [f"run {run.id} is known" for run in scene.store.runs()]
    wrong += [f"turn {talk.turn.id} of session {talk.session.id} is open" for talk in scene.board.talks]
    return wrong + [f"attempt {a.id} of {a.bead} is open" for a in scene.board.attempts]


def only_people_go_on(scene: Scene) -> bool:
    """Whether requests that wait for a person are looked at, for ever, and nothing else goes on: every other bead is
    closed or waits for a person as well.
    """
    return not scene.board.attempts and _requests_outlive_reviews(scene)


def _requests_outlive_reviews(scene: Scene) -> bool:
    stopped = [bead for bead in scene.beads if bead.status is Status.ESCALATED]
    asked = {bead.id for bead in stopped} | {
        bead.epic for bead in stopped
    }  # the request of an epic waits for its beads
    is_over = not every_bead_is_done_or_waits_for_a_reason(scene)
    return is_over and any(pull.number and pull.bead in asked for pull in scene.store.pulls())


def what_was_said_came_to_its_session(scene: Scene) -> list[str]:
    """Every session waits for a person, and nothing that was said to it got lost."""
    return scene.talking.never_told(scene.features.resting() if scene.features is not None else frozenset())


def every_bead_is_done_or_waits_for_a_reason(scene: Scene) -> list[str]:
    """Done, cancelled, with a person, or behind something that is not done."""
    wrong = []
    scene.observed.now = scene.clock.now()
    asked = {e.bead for e in scene.store.escalations() if e.type in STOPS_BEAD}
    for bead in scene.beads:
        if bead.status in CLOSED or bead.status is Status.DRAFT:
            continue
        if bead.status is Status.ESCALATED and bead.id in asked:
            continue
        if bead.status is Status.LANDED and not _is_complete(scene, bead):
            continue
        if bead.type is BeadType.EPIC:
            if scene.features is not None and bead.id in scene.features.log.features:
                continue  # feature_promises.a_feature_is_done_with_its_beads
            children = [b.status for b in scene.beads if b.epic == bead.id]
            if Status.DONE not in children or any(status not in CLOSED for status in children):
                continue
        if scene.observed.obstacles(bead.id):
            continue
        wrong.append(f"{bead.id} is {bead.status}, and nobody can say why")
    return wrong


def _is_complete(scene: Scene, bead: Bead) -> bool:
    """Whether all of the bead's epic has landed, and no person was asked about that: then its request is merged."""
    epic = next(one for one in scene.beads if one.id == bead.epic)
    is_stopped = epic.status is Status.ESCALATED or bool(scene.observed.obstacles(epic.id))
    children = (one.status for one in scene.beads if one.epic == epic.id)
    return not is_stopped and all(status in (Status.LANDED, *CLOSED) for status in children)


def done_is_merged(scene: Scene) -> list[str]:
    """Done on the board is merged on main, or done by hand; what is merged is done, whoever cancels it meanwhile."""
    if scene.requested is not None:
        return []  # at_the_host.done_is_merged_by_people: squashed by people a merge has no trailer
    merged, wrong = scene.git.merged(), []
    for commit in scene.git.objects.line(scene.git.head):
        for key, value in commit.trailers:
            if key == "Reverts-Bead" and scene.git.contains(merged.get(value, ""), commit.id):
                del merged[value]
    exempt = scene.with_a_person() | scene.git.taken
    for bead in scene.beads:
        if bead.type is BeadType.EPIC:
            continue
        by_hand = bead.id in scene.observed.by_hand
        if bead.status is Status.DONE and not by_hand and bead.merged_commit is None:
            wrong.append(f"{bead.id} is done, and nothing says where it was merged")
        if bead.status is Status.DONE and not by_hand and bead.id not in merged and bead.id not in scene.git.taken:
            wrong.append(f"{bead.id} is done, but not on main")
        if bead.id in merged and bead.status is not Status.DONE and bead.id not in exempt:
            wrong.append(f"{bead.id} is on main, but {bead.status}")
    return wrong


def nothing_is_left_lying_about(scene: Scene) -> list[str]:
    """No checkout of a check; no clone, candidate or incoming ref of a closed bead."""
    going = {f"/session~{session.id}" for session in scene.store.sessions()}
    wrong = [f"scratch {path}" for path in scene.git.clones.scratch if not any(path.endswith(one) for one in going)]
    stumbles = scene.stumbling.bead if scene.stumbling is not None else ""  # git may never answer for it
    for bead in [b for b in scene.beads if b.status in CLOSED and b.id != stumbles]:
        if bead.id in scene.git.clones.of_bead:
            wrong.append(f"the workspace of {bead.id}, which is {bead.status}")
        incoming = f"refs/nobrakes/incoming/{bead.id}/"
        wrong += [ref for ref in scene.git.refs if ref.startswith(incoming)]
    return wrong


def people_were_told(scene: Scene) -> list[str]:
    """Every escalation was told at least once."""
    said = "\n".join(notice.text for notice in scene.notes.told)
    numbers = {
        int(e.data["escalation"])
        for e in scene.store.events(0, 100_000)
        if e.kind is Kind.ESCALATED and e.data.get("escalation")
    }
    return [f"escalation {number} was never told" for number in sorted(numbers) if f"escalation {number}:" not in said]


def late_words_are_refused(scene: Scene) -> list[str]:
    """An attempt that ended cannot be ended again: somebody else may hold the bead."""
    wrong = []
    for bead in scene.beads:
        for attempt in scene.store.attempts(bead.id)[-1:]:
            if attempt.ended_at is None:
                continue  # that it may be open is said by nothing_runs
            try:
                scene.store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)
            except Stale:
                continue
            except NobrakesError as error:
                wrong.append(f"attempt {attempt.id} was nearly ended twice: {error}")
                continue
            wrong.append(f"attempt {attempt.id} of {bead.id} ended twice")
    return wrong


def a_question_is_answered_once(scene: Scene) -> list[str]:
    """Who answers what was answered already is refused."""
    wrong = []
    for one in scene.store.escalations(open_only=False):
        if one.resolved_at is not None:
            try:
                scene.store.answer(one.id, "43", "human")
            except NotAllowed:
                continue
            wrong.append(f"escalation {one.id} was answered twice")
    return wrong


def what_people_should_know_was_sent(scene: Scene) -> list[str]:
    """Each notice of what happened was sent through its channels, or the channel failed as often as it is tried."""
    return [] if scene.noticing is None else scene.noticing.never_sent()


def nobody_is_parked_for_nothing(scene: Scene) -> list[str]:
    """What nobody expects is met where it was planted alone, and its bead is held the second time."""
    return scene.stumbling.wrong() if scene.stumbling is not None else []


def somebody_is_asked(scene: Scene) -> list[str]:
    """Where nothing moves without a person and something is not done, the lists that people see name what waits."""
    store = scene.store
    waits = [bead.id for bead in scene.beads if bead.status not in CLOSED]
    if not waits or store.escalations() or board_blockers(scene.board):
        return []
    named = person_blockers(store, scene.config, store.features(), daemon=True)
    if named or list(bead_blockers(store, store.standstill(), daemon=True)):
        return []
    return [f"{', '.join(waits[:5])}: not done, nothing moves without a person, and no list says what waits"]


PROMISES: tuple[Callable[[Scene], list[str]], ...] = (
    nothing_runs,
    what_was_said_came_to_its_session,
    every_bead_is_done_or_waits_for_a_reason,
    done_is_merged,
    nothing_is_left_lying_about,
    people_were_told,
    late_words_are_refused,
    a_question_is_answered_once,
    main_and_its_evidence_agree,
    nobody_is_blamed_for_a_rewritten_main,
    what_people_should_know_was_sent,
    no_reading_is_left,
    nobody_is_parked_for_nothing,
    *feature_promises.AT_REST,
    *at_the_host.AT_REST,
    *by_epics.AT_REST,
)
