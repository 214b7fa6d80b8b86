"""The promises of simulated worlds in which people merge epics as a whole, by one request each; with `--epics`.

A bead lands on the branch of its epic, a ref of ours that only the daemon moves; it is done when people have merged the
epic's request. In some worlds each epic is a feature with settings of its own: its beads are requests one by one, or
nothing of it is pushed before a person says so.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from nobrakes.beads.lifecycle import live
from nobrakes.beads.model import CLOSED, Bead, BeadType, Role, Status
from nobrakes.config.sections import FeatureSettings
from nobrakes.config.settings import Config
from nobrakes.events.kinds import Kind
from nobrakes.git.port import EPICS
from nobrakes.requests.model import PullState, Said, default_epic_branch, request_branch

from .fake_code_host import Request
from .fake_git import OWN
from .project import code_path
from .scene import Scene

BRANCHES = f"refs/nobrakes/{EPICS}/"
OFTEN = 0.75
SOME = 0.6
"""The chance that features have settings of their own."""
NAMES = ("e1", "e2")


def settings(config: Config, seed: int) -> Config:
    """The settings, with requests for whole epics."""
    rebased = random.Random(f"{seed} epics").random() < 0.5
    review = replace(config.review, unit="epic", diverged="rebase" if rebased else "merge")
    dice = random.Random(f"{seed} what differs for features")
    if dice.random() < SOME:
        unit: Literal["epic", "bead"] = "epic" if dice.random() < 0.5 else "bead"
        features = {epic: _feature(dice) for epic in NAMES}
        review = replace(
            review, unit=unit, features={epic: one for epic, one in features.items() if one.said() != Said()}
        )
    return replace(config, review=review)


def _feature(dice: random.Random) -> FeatureSettings:
    """What one feature says; perhaps nothing."""
    return FeatureSettings(unit=dice.choice(("epic", "bead", None)), push=dice.choice((False, None)))


def gathered(beads: Sequence[Bead], seed: int) -> list[Bead]:
    """The plan, most of it in one of two epics. What waits for each other over epics stands still, and says so."""
    rng = random.Random(f"{seed} epics")
    epics = [live(Bead(name, f"Epic {name}", BeadType.EPIC)) for name in NAMES]
    found: list[Bead] = []
    for bead in beads:
        is_free = bead.epic is None and bead.type is not BeadType.EPIC
        into = rng.choice(epics).id if is_free and rng.random() < OFTEN else bead.epic
        found.append(replace(bead, epic=into))
    return [*epics, *found]


def is_by_epics(scene: Scene) -> bool:
    """Whether people merge epics here, some of them at least."""
    review = scene.config.review
    units = {review.unit, *(one.unit for one in review.features.values())}
    return scene.requested is not None and "epic" in units


# --- on the branches of epics ----------------------------------------------------------------------


def a_landed_bead_is_on_its_epics_branch_once(scene: Scene) -> list[str]:
    """What has landed is on the branch of its epic, exactly once, and on that of no other epic."""
    if not is_by_epics(scene):
        return []
    wrong, beads = [], {bead.id: bead for bead in scene.beads}
    on_branch = {epic: Counter(_landings(scene, tip)) for epic, tip in _branches(scene)}
    is_one = scene.config.review.merge == "squash"  # else one landing brings several commits of a bead
    for epic, counts in on_branch.items():
        for name, times in counts.items():
            known = scene.observed.landed[name]
            may_be_ending = beads[name].status is not Status.LANDED  # its end is not written down yet
            if beads[name].epic != epic and beads[name].status not in CLOSED:  # what is over may leave it
                wrong.append(f"{name} of {beads[name].epic} is on the branch of {epic}")
            elif is_one and times > known + may_be_ending:
                wrong.append(f"{name} is {times} times on the branch of {epic}, and landed {known} times")
    for bead in scene.beads:
        if bead.status is not Status.LANDED or _is_merged(scene, str(bead.epic)):
            continue
        if not on_branch.get(str(bead.epic), Counter())[bead.id]:
            wrong.append(f"{bead.id} has landed, and is not on the branch of {bead.epic}")
    return wrong


def who_starts_has_what_its_siblings_landed(scene: Scene) -> list[str]:
    """Whoever starts on a bead for the first time has what of its epic it waited for."""
    if not is_by_epics(scene):
        return []
    wrong, starts = [], scene.observed.first_starts
    for name, attempt in list(starts.items()):
        start = scene.store.attempt(attempt).data.get("start")
        if start is None:
            continue  # it is being made ready
        del starts[name]
        tree = scene.git.objects.tree_of(str(start))
        needs = scene.observed.waited_for[name]
        wrong += [f"{name} started without {one}" for one in needs if code_path(one) not in tree]
    return wrong


# --- at the host -----------------------------------------------------------------------------------


def an_epics_request_is_of_its_beads(scene: Scene) -> list[str]:
    """The request of an epic brings beads of that epic alone."""
    if not is_by_epics(scene) or scene.requested is None:
        return []
    wrong, beads = [], {bead.id: bead for bead in scene.beads}
    for epic, one in _requests(scene):
        head = scene.requested.host.branches.get(one.branch, "") or one.head
        if one.state is not PullState.OPEN or not is_ours(scene, head):
            continue  # it is over, and its beads may leave their epic; or somebody pushed to it
        found = set(_landings(scene, head))
        brought = {bead for bead in found if beads[bead].epic != epic and beads[bead].status not in CLOSED}
        wrong += [f"#{one.number} of {epic} brings {bead}" for bead in sorted(brought)]
    return wrong


def a_request_that_waits_has_all_that_landed(scene: Scene) -> list[str]:
    """At rest: an open request of an epic at a commit of ours brings each of its beads that has landed."""
    if not is_by_epics(scene) or scene.requested is None:
        return []
    wrong = []
    status = {bead.id: bead.status for bead in scene.beads}
    for epic, one in _requests(scene):
        head = scene.requested.host.branches.get(one.branch, "")
        if one.state is not PullState.OPEN or status[epic] is not Status.REVIEWING or not is_ours(scene, head):
            continue
        brought = set(_landings(scene, head))
        landed = {bead.id for bead in scene.beads if bead.epic == epic and bead.status is Status.LANDED}
        wrong += [f"#{one.number} of {epic} has not {bead}, which has landed" for bead in sorted(landed - brought)]
    return wrong


def merged_with(scene: Scene, bead: Bead) -> str:
    """The commit by which people merged the request of an epic that brought the bead; empty: there is none.

    What they merged after somebody else had pushed to its branch is theirs: the host says that it is merged.
    """
    if scene.requested is None or not bead.merged_commit:
        return ""
    objects = scene.git.objects
    for _, one in _requests(scene):
        if not one.merged_as:
            continue
        is_it = bead.merged_commit == one.merged_as or objects.contains(bead.merged_commit, one.head)
        if is_it and (not is_ours(scene, one.head) or bead.id in set(_landings(scene, one.head))):
            return one.merged_as
    return bead.merged_commit if _was_there(scene, bead) else ""


def _was_there(scene: Scene, bead: Bead) -> bool:
    """Whether main had what the bead had landed before anybody was asked: people had brought it in another way."""
    reviews = [one for one in scene.store.attempts(bead.id) if one.role is Role.REVIEWER and one.data.get("candidate")]
    trees, path = scene.git.objects, code_path(bead.id)
    landed = trees.tree_of(str(reviews[-1].data["candidate"])).get(path) if reviews else None
    return landed is not None and trees.tree_of(str(bead.merged_commit)).get(path) == landed


def _requests(scene: Scene) -> Iterator[tuple[str, Request]]:
    """Each request of an epic, with that."""
    assert scene.requested is not None, "there is a host"
    epics = {default_epic_branch(bead.id): bead.id for bead in scene.beads if bead.type is BeadType.EPIC}
    return ((epics[one.branch], one) for one in scene.requested.host.requests if one.branch in epics)


def _is_merged(scene: Scene, epic: str) -> bool:
    """Whether its request is merged, and its beads are about to be done: then the branch may be gone already."""
    pull = scene.store.pull(epic)
    return pull is not None and pull.state is PullState.MERGED


def _branches(scene: Scene) -> list[tuple[str, str]]:
    """Each epic that has a branch here, and where it is."""
    return [(ref.removeprefix(BRANCHES), tip) for ref, tip in scene.git.refs.items() if ref.startswith(BRANCHES)]


def _landings(scene: Scene, head: str) -> Iterator[str]:
    """The beads whose commits the line has beside main, one for each commit, newest first."""
    for commit in scene.git.objects.line(head):
        if scene.git.contains(commit.id, scene.git.head):
            return
        yield from (value for key, value in commit.trailers if key == "Bead")


def is_ours(scene: Scene, head: str) -> bool:
    """Whether a branch with this head is as we pushed it; where somebody else did it is theirs, and left alone.

    Refs that hold where main was, or where work began, hold what people pushed as well.
    """
    of_main = (f"{OWN}start/", f"{OWN}landed/")
    return any(commit == head and not name.startswith(of_main) for name, commit in scene.git.refs.items())


def nothing_is_pushed_without_a_word(scene: Scene) -> list[str]:
    """At rest: what a feature keeps back has a request only if a person said so."""
    if scene.requested is None:
        return []
    kept_back = {epic for epic, one in scene.config.review.features.items() if one.push is False}
    beads = {request_branch(bead): bead for bead in scene.beads if kept_back & {bead.id, bead.epic}}
    asked = [beads[one.branch].id for one in scene.requested.host.requests if one.branch in beads]
    said = {event.bead for event in scene.store.events(0, 1_000_000) if event.kind is Kind.PUSH_ALLOWED}
    return [f"{bead} has a request, and nobody said that it may" for bead in sorted(set(asked) - said)]


EACH_STEP: Sequence[Callable[[Scene], list[str]]] = (
    a_landed_bead_is_on_its_epics_branch_once,
    who_starts_has_what_its_siblings_landed,
    an_epics_request_is_of_its_beads,
)
AT_REST: Sequence[Callable[[Scene], list[str]]] = (
    a_request_that_waits_has_all_that_landed,
    nothing_is_pushed_without_a_word,
)
