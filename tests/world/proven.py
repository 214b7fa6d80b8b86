"""The promises about evidence: each merge has its record, once, and it says what main holds."""

from collections import Counter

from nobrakes.beads.model import Status
from nobrakes.decisions.model import EscalationType
from nobrakes.review.verify import Report, Repository, verify

from . import by_epics
from .scene import Scene


def a_merged_bead_has_its_evidence_once(scene: Scene) -> list[str]:
    """Whatever was killed: when a bead is done by a merge, exactly one record is about the commit."""
    found = Counter((entry.bead, entry.about) for entry in scene.git.evidence())
    wrong = [f"{bead} has {count} records of {about}" for (bead, about), count in found.items() if count > 1]
    known = {bead for bead, _ in found}
    for bead in scene.beads:
        if bead.status is not Status.DONE or not bead.merged_commit:
            continue
        if by_epics.merged_with(scene, bead) and bead.id in known:
            continue  # its record is of its landing on the epic's branch, and the merge's is the epic's
        if (bead.id, f"Merged: {bead.merged_commit}") not in found:
            wrong.append(f"{bead.id} is merged as {bead.merged_commit[:12]} without evidence")
    return wrong


def evidence_only_grows(scene: Scene) -> list[str]:
    """What the chain ended with stays in it."""
    before, scene.observed.evidence = scene.observed.evidence, scene.git.evidence_tip()
    if before is None or before in {entry.commit for entry in scene.git.evidence()}:
        return []
    return [f"{before[:12]} is not in the chain any more"]


def report(scene: Scene) -> Report:
    """What `nobrakes verify` would say."""
    line = scene.git.line("main")
    return verify(scene.git.evidence(), line, line, Repository(scene.git.made, scene.git.content))


def main_and_its_evidence_agree(scene: Scene) -> list[str]:
    """At rest nothing is wrong, but for what a person was told of: main failed afterwards, or could not be checked."""
    torn = scene.git.torn()
    asked = scene.store.escalations(open_only=False)
    told = {one.evidence.get("commit") for one in asked}
    theirs = _not_ours(scene)
    # one open escalation speaks for all merges after which nobody could tell
    unsure = any(one.type is EscalationType.BROKEN_CHECKS and one.bead is None for one in asked)
    return [
        f"{one.bead} {one.commit[:12]}: {one.text}"
        for one in report(scene).wrong
        if one.commit not in told
        and one.bead not in scene.git.taken
        and one.commit not in torn
        and not _is_merged_late(scene, one.bead)
        and one.commit not in theirs
        and not (unsure and one.text.startswith("the validation of main after the merge"))
    ]


def _not_ours(scene: Scene) -> set[str]:
    """The merges of requests to whose branch somebody else had pushed: that they are not what was proven, or what a
    person approved here, is true of them.
    """
    if scene.requested is None:
        return set()
    merged = (one for one in scene.requested.host.requests if one.merged_as)
    return {one.merged_as for one in merged if not by_epics.is_ours(scene, one.head)}


def _is_merged_late(scene: Scene, bead: str | None) -> bool:
    """Whether people merged a request whose bead was over for another reason: its evidence is theirs."""
    if scene.requested is None or bead is None:
        return False
    return all(one.merged_commit is None or one.status is not Status.DONE for one in scene.beads if one.id == bead)
