"""The promises of code review: nothing lands unread or with an unanswered finding, and rounds are bounded.

They look at what came to main and at what was before the readers: never at the digest that the program compares.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from nobrakes.beads.branches import is_approval
from nobrakes.config.settings import Config
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.events.kinds import MERGES
from nobrakes.review import reading
from nobrakes.review.reading import DONE, DROPPED, FAILED, SEND_BACK, TRIES, Reading
from nobrakes.sessions.model import SessionKind

from .approving import difference
from .readers import Readers as Readers
from .scene import Scene
from .talking import SESSION


def settings(seed: int, config: Config) -> Config:
    """The settings with readers."""
    dice = random.Random(f"{seed} readings")
    way = dice.random() < 0.3
    review = replace(
        config.review,
        code_review="ask" if way else "send_back",
        code_review_rounds=dice.randint(1, 3),
        code_review_lowest=dice.randint(1, 3),
        code_review_minutes=4.0,
    )
    return replace(config, review=review)


def _known(scene: Scene) -> list[Reading]:
    """All readings; what they read is remembered, since git may lose it."""
    assert scene.readers is not None
    sessions = [one for one in reversed(scene.store.sessions(going=False)) if one.kind is SessionKind.CODE_REVIEW]
    for one in sessions:
        if ("session", one.id) not in scene.readers.shown:
            base, candidate = str(one.data[reading.BASE]), str(one.data[reading.CANDIDATE])
            scene.readers.shown["session", one.id] = difference(scene, base, candidate)
    return [Reading.of(one) for one in sessions]


def _asked(scene: Scene) -> list[Escalation]:
    assert scene.readers is not None
    found = [one for one in scene.store.escalations(open_only=False) if one.type is EscalationType.CODE_REVIEW]
    for one in found:
        if ("question", one.id) not in scene.readers.shown:
            differs = difference(scene, str(one.evidence["main"]), str(one.evidence["commit"]))
            scene.readers.shown["question", one.id] = differs
    return found


def is_reader(scene: Scene, env: Mapping[str, str]) -> bool:
    """Whether the agent with this environment reads work."""
    return scene.readers is not None and SESSION in env and scene.readers.serves(env)


def nothing_lands_unread(scene: Scene) -> list[str]:
    """What comes to main was read since its bead's last merge, and nothing has to be decided; or a person said yes.

    Where the setting lets it go on, nobody may have come through, and nothing been found that nobody saw mended.
    """
    if scene.readers is None:
        return []
    known, asked = _known(scene), _asked(scene)
    landings, scene.readers.landings = scene.git.landings[scene.readers.landings :], len(scene.git.landings)
    wrong = []
    for move in landings:
        of_bead: dict[str, list[str]] = {}
        for commit in move:
            of_bead.setdefault(dict(scene.git.objects.find(commit).trailers).get("Bead", ""), []).append(commit)
        for bead in of_bead.keys() & {one.id for one in scene.beads}:
            if not _may_land(scene, bead, of_bead[bead], known, asked):
                wrong.append(f"{bead} came to main as {of_bead[bead][-1][:12]}, unread or with a finding")
    return wrong


def _may_land(
    scene: Scene, bead: str, commits: Sequence[str], known: Sequence[Reading], asked: Sequence[Escalation]
) -> bool:
    assert scene.readers is not None
    shown, rules = scene.readers.shown, scene.config.review.reading_rules()
    landed = difference(scene, scene.git.objects.find(commits[0]).parents[0], commits[-1])
    events = [e for e in scene.store.events(0, 1_000_000, bead) if e.kind in MERGES]
    merged = max((e.seq for e in events if e.data.get("merged_commit") not in commits), default=0)
    yes = [one for one in asked if one.bead == bead and one.resolved_at is not None and is_approval(one.resolution)]
    if any(one.evidence["merged"] == merged and shown["question", one.id] == landed for one in yes):
        return True
    own = [one for one in known if (one.session.data[reading.BEAD], one.session.data[reading.MERGED]) == (bead, merged)]
    of_it = [one for one in own if shown["session", one.session.id] == landed and one.outcome == DONE]
    if of_it and not rules.stopping(of_it[-1].findings):
        return True
    done = [one for one in own if one.outcome == DONE]
    failed = any(one.outcome == FAILED and one.session.data[reading.TRY] >= TRIES for one in own)
    is_over = failed or len({one.round for one in own}) >= rules.rounds or reading.cost(own) >= rules.usd
    return rules.way == SEND_BACK and is_over and not (done and rules.stopping(done[-1].findings))


def rounds_are_bounded(scene: Scene) -> list[str]:
    """No more rounds than the setting allows, nor reviewers in one of them; rubbish is no review."""
    if scene.readers is None:
        return []
    most, wrong = scene.config.review.code_review_rounds, list(scene.readers.wrong)
    counts: Counter[tuple[str, str, int]] = Counter()
    for one in _known(scene):
        if one.outcome != DROPPED:
            counts[str(one.session.data[reading.BEAD]), str(one.session.data[reading.SINCE]), one.round] += 1
    wrong += [f"{bead} is read in round {number} of {most}" for bead, _, number in counts if number > most]
    return wrong + [
        f"{count} reviewers in round {key[2]} of {key[0]}" for key, count in counts.items() if count > TRIES
    ]


def no_reading_is_left(scene: Scene) -> list[str]:
    """At rest nobody reads."""
    if scene.readers is None:
        return []
    return [
        f"session {one.id} still reads {one.data[reading.BEAD]}"
        for one in scene.store.sessions()
        if one.kind is SessionKind.CODE_REVIEW
    ]


PROMISES: Sequence[Callable[[Scene], list[str]]] = (nothing_lands_unread, rounds_are_bounded)
