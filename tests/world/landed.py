"""The promises about main and the way to it: what lands, what it passed, and how many reviews there are."""

from collections import Counter
from collections.abc import Sequence

from nobrakes.beads.model import Attempt, Role, RunKind, Status
from nobrakes.checks.policy import ownership
from nobrakes.checks.policy.ownership import OWN_FOLDER
from nobrakes.review.journal import DEEP, MAX_BATCH, Journal, Step
from nobrakes.review.service.landed import delivery_of

from .filtering import SECRET
from .objects import Commit, differing
from .project import code_path, green, test_path
from .scene import Scene


def _bead_of(commit: Commit) -> str | None:
    return next((value for key, value in commit.trailers if key == "Bead"), None)


def main_is_green(scene: Scene) -> list[str]:
    """Every commit that nobrakes put on main passes every check; what takes a red one back is not asked.

    Where `every_commit_green` is off: every commit that main has pointed to.
    """
    objects = scene.git.objects
    moves = scene.observed.fresh_on_main(scene.git.landings)
    every = scene.config.review.every_commit_green
    return [
        f"{one[:12]} ({objects.find(one).subject}) is red"
        for move in moves
        for one in (move if every else move[-1:])
        if _bead_of(objects.find(one)) is not None and not green(objects.tree_of(one))
    ]


def apart(scene: Scene, move: Sequence[str]) -> list[str]:
    """The merges that change a test that was there, each with the one that it stands on; not what takes a merge back."""
    objects = scene.git.objects
    found = []
    for one in move:
        if _bead_of(objects.find(one)) is None:
            continue
        before = objects.find(one).parents[0]
        old, new = objects.tree_of(before), objects.tree_of(one)
        if any(path in old and path.startswith("tests/") for path in differing(old, new)):
            found += [before, one]
    return found


def what_lands_passed_the_checks_of_that_moment(scene: Scene) -> list[str]:
    """A merge passed what main's config asks for when it lands, and not only what was asked before."""
    lands, scene.observed.lands = scene.observed.lands, []
    return [
        f"{one[:12]} landed without having passed the checks of that moment"
        for one, contracts in lands
        if _bead_of(scene.git.objects.find(one)) is not None
        and not any(scene.store.validation(scene.git.tree(one), contract) for contract in contracts)
    ]


def the_disk_knows_before_main_moves(scene: Scene) -> list[str]:
    """Whoever moves main syncs the store first: a review, the canary, and who takes a merge back."""
    moved, scene.observed.unsynced = scene.observed.unsynced, []
    return [f"{one[:12]} ({scene.git.objects.find(one).subject}) landed before the store was synced" for one in moved]


def main_only_grows(scene: Scene) -> list[str]:
    """What was on main stays on main, whoever put it there, unless a person rewrites it."""
    before, scene.observed.main = scene.observed.main or scene.git.head, scene.git.head
    if scene.git.contains(before, scene.git.head) or scene.git.was_left(before):
        return []
    return [f"{before[:12]} is not on main any more"]


def only_the_beads_own_files_reach_main(scene: Scene) -> list[str]:
    """A merge changes what its roles may change; tests are those that a Test Writer or a person wrote."""
    objects, wrong = scene.git.objects, []
    for one in scene.observed.fresh_for_boundaries(scene.git.landed):
        commit = objects.find(one)
        bead = _bead_of(commit)
        if bead is None or not commit.parents:
            continue
        scaffolding = scene.store.bead(bead).scaffolding
        before, after = objects.tree_of(commit.parents[0]), objects.tree_of(one)
        proven = objects.reachable(scene.observed.proven[bead])  # with its own earlier commits, where those are kept
        written = {objects.tree_of(c).get(test_path(bead)) for c in proven}
        written |= {objects.tree_of(c).get(test_path(bead)) for c, whose in scene.handed_in.items() if whose == bead}
        for path in differing(before, after):
            if path.startswith(OWN_FOLDER):
                wrong.append(f"{bead} changed {path}")
            elif scaffolding or path in (code_path(bead), "src/shared.py", SECRET):
                continue
            elif path.startswith("tests/") and after.get(path, "").endswith(f" is not {bead}"):
                continue  # its Test Writer made another's tests say less
            elif path != test_path(bead):
                wrong.append(f"{bead} changed {path}")
            elif after.get(path) not in written:
                wrong.append(f"{bead} merged tests that nobody proved red")
    return wrong


def what_asks_for_a_plan_lands_with_one(scene: Scene) -> list[str]:
    """A bead with the label is done by a plan that a person approved, or by a person."""
    done = [bead for bead in scene.beads if bead.status is Status.DONE and bead.merged_commit]
    asked = [bead for bead in done if ownership.needed(bead, Role.DOER)]
    return [
        f"{bead.id} is merged, and nobody approved its plan"
        for bead in asked
        if bead.id not in scene.observed.persons
        and ownership.approved(scene.store.escalations(open_only=False, bead=bead.id)) is None
    ]


def no_more_reviews_than_allowed(scene: Scene) -> list[str]:
    """The merge queue is as long as its rules say; where each review needs runs of its own it is serial.

    Who waits for people holds no place, nor does what they merged until it is written down, nor who comes back from
    there as it fell off its base: all others do, whatever request their bead has or had. What is being read comes back
    to the end of the queue of its branch, while there may be as many in those of other branches.
    """
    open_ones = [a for a in scene.board.attempts if a.role is Role.REVIEWER]
    if scene.requested is not None:
        open_ones = [a for a in open_ones if not _was_with_people(scene, a)]
    outside = (Step.READING, Step.REBASE) if scene.readers is not None else ()
    reviews = [a.bead for a in open_ones if Journal.of(a.data).step not in outside]
    queues = Counter(_branch(scene, bead) for bead in reviews)
    rules = scene.board.limits.queue
    together = MAX_BATCH * DEEP if not rules.every_commit_green else rules.validators
    return (
        [f"reviews of {', '.join(reviews)}"]
        if max(queues.values(), default=0) > (1 if rules.is_serial else together)
        else []
    )


def _branch(scene: Scene, bead: str) -> str:
    """On whose branch the bead lands, as far as that makes a queue of its own."""
    if scene.readers is None:
        return ""
    return delivery_of(scene.store, scene.config, scene.store.bead(bead)).epic


def _was_with_people(scene: Scene, review: Attempt) -> bool:
    """Whether the review waits for people, or ever did: it began in the queue, and came back by itself."""
    journal, pull = Journal.of(review.data), scene.store.pull(review.bead)
    if journal.step is Step.PULL_REQUEST or journal.merging.merged_as:
        scene.observed.with_people.add(review.id)
    fell_off = pull is not None and pull.waits and not pull.base
    return fell_off or review.id in scene.observed.with_people


def no_more_validations_than_allowed(scene: Scene) -> list[str]:
    """At most `review.validators` validations are under way."""
    runs = [run.id for run in scene.board.runs.values() if run.kind is RunKind.VALIDATION]
    return [f"validations {', '.join(runs)}"] if len(runs) > scene.board.limits.queue.validators else []


def no_bead_is_merged_twice(scene: Scene) -> list[str]:
    """One merge for each bead, unless it was taken back or reopened."""
    return scene.observed.take("merged")


def no_bead_lands_twice(scene: Scene) -> list[str]:
    """Main moves once for each bead, unless a person took it back or decided about what had landed."""
    times: Counter[str] = Counter()
    for move in scene.git.landings:
        # with merge = rebase one landing brings several commits of a bead
        for key, bead in {trailer for commit in move for trailer in scene.git.objects.find(commit).trailers}:
            times[bead] += {"Bead": 1, "Reverts-Bead": -1}.get(key, 0)
    twice = {bead for bead, count in times.items() if count > 1}
    if twice:
        twice -= scene.with_a_person() | scene.git.taken
    return [f"{bead} landed {times[bead]} times" for bead in sorted(twice)]


PROMISES = (
    main_is_green,
    what_lands_passed_the_checks_of_that_moment,
    the_disk_knows_before_main_moves,
    main_only_grows,
    only_the_beads_own_files_reach_main,
    what_asks_for_a_plan_lands_with_one,
    no_more_reviews_than_allowed,
    no_more_validations_than_allowed,
    no_bead_is_merged_twice,
    no_bead_lands_twice,
)
