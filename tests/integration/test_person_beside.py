"""A person uses git beside the real daemon, at each of its git commands: nothing is lost, twice, blamed or taken back.

NOBRAKES_PERSON: at how many moments each act happens (1, or `all`: right before and right after each git command of a run
of three beads; `merges`: of the commands round each swap of main). Who comes to main or leaves it does so there. Whoever meets a lock of git's tries again a moment later, as a person would.
"""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.killed_run import BEADS, KilledRun, usual
from tests.support.scripted import until

MOMENTS = os.environ.get("NOBRAKES_PERSON", "1")
SEED = int(os.environ.get("NOBRAKES_PERSON_SEED", "1"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(24 * 3600)]


@dataclass(frozen=True)
class Act:
    """What a person types, in which checkout, what they type before and when all is over; whether it takes commits off
    main or makes others of them."""

    types: str
    first: str = "true"
    checkout: str = "clean"
    afterwards: str = "true"
    takes: bool = False
    rewrites: bool = False


AWAY = "git checkout -q -b theirs"
CLEAN = 'test -z "$(git status --porcelain -- :!.nobrakes)"'
LINKED = {"afterwards": f"(cd ../linked && {CLEAN}) && git worktree remove --force ../linked && git checkout -q main"}
ROUND = 4
"""So many git commands before and after a swap belong to its merge."""

ACTS = {
    "commit": Act("echo theirs >theirs; git add theirs && git commit -q -m 'By a person'"),
    "amend": Act("git commit -q --amend --no-edit --reset-author --date=@1", rewrites=True),
    "rebase": Act("git rebase -q HEAD~1 --exec 'git commit -q --amend --no-edit --date=@1'", rewrites=True),
    "reset": Act("git reset -q --hard HEAD~1", takes=True),
    "gc": Act("git reflog expire --expire=now --all && git gc -q --prune=now"),
    "checkout": Act("git checkout -q -b elsewhere", afterwards="git checkout -q main"),
    "detached": Act("git checkout -q --detach", afterwards="git checkout -q main"),
    "stash": Act("git stash -q", checkout="dirty", afterwards="git stash pop -q"),
    "comes": Act("git checkout -q main", AWAY),
    "switches": Act("git switch -q main", AWAY),
    "comes_linked": Act(
        "git -C ../linked switch -q main", f"{AWAY}; git worktree add -q ../linked -b linked", **LINKED
    ),
    "adds_worktree": Act("git worktree add -q ../linked main", AWAY, **LINKED),
    "leaves": Act("git switch -q --detach", afterwards=f"{CLEAN} && git checkout -q main"),
    "branches": Act("git checkout -q -b elsewhere", afterwards=f"{CLEAN} && git checkout -q main"),
    "stage": Act("git add mine", checkout="dirty", afterwards="git reset -q mine"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledRun]:
    yield KilledRun(tmp_path_factory.mktemp("beside"))


@pytest.fixture(scope="module")
def commands(world: KilledRun) -> list[str]:
    return usual(world)[1]


@pytest.mark.parametrize("name", ACTS)
def test_a_person_acts_at_any_moment(world: KilledRun, commands: list[str], name: str) -> None:
    act = ACTS[name]
    swaps = [number for number, line in enumerate(commands, 1) if "nobrakes: merge" in line]
    assert len(swaps) == len(BEADS)
    near = {number + off for number in swaps for off in range(-ROUND, ROUND + 1)}
    numbers = [n for n in range(1, len(commands) + 1) if n in near or (MOMENTS != "merges" and act.first == "true")]
    moments = [f"{side} {number}" for number in numbers for side in ("before", "after")]
    is_whole = MOMENTS in ("all", "merges")
    chosen = moments if is_whole else random.Random(f"{SEED} {name}").sample(moments, int(MOMENTS))
    for moment in chosen:
        world.put_back(act.checkout)
        world.person(act.first)
        world.person("echo more >more; git add more && git commit -q -m 'One more' more")
        assert world.run(at=moment, act=world.script(act.types)) == 0
        if not world.acted():
            continue  # this run had fewer commands
        until(lambda: world.acted() == "done")
        world.person(act.afterwards)
        try:
            assert_sound(world, act)
        except AssertionError as error:
            raise AssertionError(f"{name} {moment}: {error}") from error
    print(f"{name} at {len(chosen)} of {len(moments)} moments", flush=True)


def assert_sound(world: KilledRun, act: Act) -> None:
    """What must hold whatever a person did: each bead was worked on once, and stands where they left it."""
    assert not world.undone()
    assert len(world.agents()) == len(BEADS), "nobody is blamed"
    landed = sorted(world.project.landed().values())
    if act.takes and len(landed) < len(BEADS):
        (gone,) = set(BEADS) - set(landed)
        assert gone in world.project.nobrakes("verify", expect=None).stdout, "what a person takes off main is told"
    elif act.rewrites:
        assert landed == sorted(BEADS)
    else:
        world.assert_sound(act.checkout)
        return
    world.assert_checkout(act.checkout)
