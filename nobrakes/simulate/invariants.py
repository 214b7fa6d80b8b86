"""The promises that hold after every step, each a function named after the promise: what is wrong, or nothing.

1. They look at the world from outside: at git's dicts, the process table, the event log and the store's answers.
2. What happens in order (who was started while what was open) is judged on the replayed event log (replay.Observed).
"""

from collections import Counter
from collections.abc import Callable

from ..core.bead import CLOSED, WAITING_FOR_AGENT, WORKING, Role
from ..core.boundaries import OWN_FOLDER
from ..core.errors import Stale
from .objects import Commit, differing
from .project import code_path, green, run_tests, test_path
from .scene import Scene


def _bead_of(commit: Commit) -> str | None:
    return next((value for key, value in commit.trailers if key == "Bead"), None)


def main_is_green(scene: Scene) -> list[str]:
    """Every commit that nobrakes put on main passes every check; what takes a red one back is not asked."""
    objects = scene.git.objects
    fresh = scene.observed.fresh_on_main(scene.git.landed)
    return [
        f"{one[:12]} ({objects.find(one).subject}) is red"
        for one in fresh
        if _bead_of(objects.find(one)) is not None and not green(objects.tree_of(one))
    ]


def main_only_grows(scene: Scene) -> list[str]:
    """What was on main stays on main, whoever put it there."""
    before, scene.observed.main = scene.observed.main or scene.git.head, scene.git.head
    return [] if scene.git.contains(before, scene.git.head) else [f"{before[:12]} is not on main any more"]


def proven_tests_are_red(scene: Scene) -> list[str]:
    """Tests are handed to a Doer only when they can be loaded and one of them fails."""
    heads, scene.observed.fresh_proofs = scene.observed.fresh_proofs, []
    results = {head: run_tests(scene.git.objects.tree_of(head)) for head in heads}
    return [f"{head[:12]}: {text.splitlines()[-1]}" for head, (code, text) in results.items() if code != 1]


def only_the_beads_own_files_reach_main(scene: Scene) -> list[str]:
    """A merge changes what its roles may change; tests are those that a Test Writer wrote."""
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
        for path in differing(before, after):
            if path.startswith(OWN_FOLDER):
                wrong.append(f"{bead} changed {path}")
            elif scaffolding or path in (code_path(bead), "src/shared.py"):
                continue
            elif path != test_path(bead):
                wrong.append(f"{bead} changed {path}")
            elif after.get(path) not in written:
                wrong.append(f"{bead} merged tests that nobody proved red")
    return wrong


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


def one_review_at_a_time(scene: Scene) -> list[str]:
    """The merge queue is serial."""
    reviews = [a.bead for a in scene.board.attempts if a.role is Role.REVIEWER]
    return [f"reviews of {', '.join(reviews)}"] if len(reviews) > 1 else []


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
    known = {run.id for run in scene.store.runs()}
    return [f"{child.run} is an orphan" for child in scene.processes.living() if child.run not in known]


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


def nothing_starts_while_paused(scene: Scene) -> list[str]:
    """Nothing new is started from the moment a person paused."""
    return scene.observed.take("paused")


def work_starts_when_its_blockers_are_done(scene: Scene) -> list[str]:
    """Whenever an agent started on a bead, every blocker of it was done, and nobody held it."""
    return scene.observed.take("dependencies")


def every_move_is_in_the_table(scene: Scene) -> list[str]:
    """The event log, replayed by core.lifecycle, gives the statuses in the store."""
    wrong = scene.observed.take("lifecycle")
    for bead in scene.beads:
        replayed = scene.observed.statuses.get(bead.id)
        if replayed is not bead.status:
            wrong.append(f"{bead.id} is {bead.status} in the store and {replayed} by its events")
    return wrong


def no_bead_is_merged_twice(scene: Scene) -> list[str]:
    """One merge for each bead, unless it was taken back or reopened."""
    return scene.observed.take("merged")


def no_bead_lands_twice(scene: Scene) -> list[str]:
    """Main moves once for each bead, unless the merge was taken back, or a person decided about what had landed."""
    times: Counter[str] = Counter()
    for tip in scene.git.landings:
        for key, bead in scene.git.objects.find(tip).trailers:
            times[bead] += {"Bead": 1, "Reverts-Bead": -1}.get(key, 0)
    twice = {bead for bead, count in times.items() if count > 1}
    if twice:
        twice -= scene.with_a_person()
    return [f"{bead} landed {times[bead]} times" for bead in sorted(twice)]


def epics_close_by_rule(scene: Scene) -> list[str]:
    """An epic is completed when its last child is closed, not before."""
    return scene.observed.take("epics")


def what_is_over_stays_over(scene: Scene) -> list[str]:
    """The token of an attempt that ended opens no door."""
    wrong = []
    for attempt in scene.observed.some_ended(scene.store, scene.tally.steps):
        try:
            scene.store.door(attempt.token)
        except Stale:
            continue
        wrong.append(f"the token of attempt {attempt.id} still speaks for {attempt.bead}")
    return wrong


def the_index_of_the_ready_is_right(scene: Scene) -> list[str]:
    """What the store calls ready is what a recomputation from the facts calls ready."""
    stored = {bead.id for bead in scene.board.ready}
    computed = scene.observed.ready(scene.beads, scene.clock.now())
    return [f"ready by the index {sorted(stored)}, by the facts {sorted(computed)}"] if stored != computed else []


PROMISES: tuple[Callable[[Scene], list[str]], ...] = (
    main_is_green,
    main_only_grows,
    proven_tests_are_red,
    only_the_beads_own_files_reach_main,
    nothing_is_lost,
    no_more_agents_than_allowed,
    one_review_at_a_time,
    a_name_is_held_once,
    one_process_works_on_a_bead,
    no_process_without_a_trace,
    locks_are_held_by_the_living,
    every_move_is_in_the_table,
    who_fails_too_often_is_with_a_person,
    nothing_starts_while_paused,
    work_starts_when_its_blockers_are_done,
    no_bead_is_merged_twice,
    no_bead_lands_twice,
    epics_close_by_rule,
    what_is_over_stays_over,
    the_index_of_the_ready_is_right,
)
