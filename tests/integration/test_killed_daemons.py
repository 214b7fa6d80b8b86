"""The real daemon is killed with a person's checkout beside it: at random, at its git commands, at its system calls.

NOBRAKES_DAEMON_KILLS: how many are killed at random (6); NOBRAKES_GIT_KILLS: at how many moments beside a git command
(6, or `all`: right before and right after each one of a run of three beads); NOBRAKES_CALL_KILLS: at how many system
calls that write (3, or `all`, where strace is there).
"""

import os
import random
from collections.abc import Iterator

import pytest

from tests.support import shim
from tests.support.killed_run import CHECKOUTS, KilledRun, tracer, usual

RANDOM = int(os.environ.get("NOBRAKES_DAEMON_KILLS", "6"))
AT_GIT = os.environ.get("NOBRAKES_GIT_KILLS", "6")
AT_CALLS = os.environ.get("NOBRAKES_CALL_KILLS", "3")
PER_RUN = 5
SEED = int(os.environ.get("NOBRAKES_KILLS_SEED", "1"))
WRITES = "write,pwrite64,fsync,fdatasync,rename,link,unlink,ftruncate"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(24 * 3600)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledRun]:
    yield KilledRun(tmp_path_factory.mktemp("killed"))


@pytest.fixture(scope="module")
def plain(world: KilledRun) -> tuple[float, list[str]]:
    return usual(world)


def test_daemons_are_killed_at_random(world: KilledRun, plain: tuple[float, list[str]]) -> None:
    rng = random.Random(SEED)
    world.kills, runs, seconds = 0, 0, plain[0]
    while world.kills < RANDOM:
        checkout = list(CHECKOUTS)[runs % len(CHECKOUTS)]
        runs += 1
        world.put_back(checkout)
        seconds = world.kill_at_random(rng, min(PER_RUN, RANDOM - world.kills), seconds)
        world.to_the_end()
        world.assert_sound(checkout)
        print(f"{world.kills} daemons were killed in {runs} runs of three beads", flush=True)


def test_daemons_are_killed_beside_their_git_commands(world: KilledRun, plain: tuple[float, list[str]]) -> None:
    commands = plain[1]
    moments = [f"{side} {number}" for number in range(1, len(commands) + 1) for side in ("before", "after")]
    swap = "after =nobrakes: merge"
    chosen = [swap, *(moments if AT_GIT == "all" else random.Random(SEED).sample(moments, int(AT_GIT) - 1))]
    world.kills = 0
    for number, moment in enumerate(chosen):
        checkout = list(CHECKOUTS)[-1 - number % len(CHECKOUTS)]
        world.put_back(checkout)
        world.run(at=moment)
        world.to_the_end()
        try:
            world.assert_sound(checkout)
        except AssertionError as error:
            raise AssertionError(f"killed {moment}, {checkout}: {shim.commands(world.kill)}") from error
        assert world.kills or moment != swap
        print(f"{world.kills} kills at {number + 1} of {len(moments)} moments beside git commands", flush=True)


@pytest.mark.skipif(tracer() is None, reason="strace is not installed, or may not be used")
def test_daemons_are_killed_at_their_system_calls(world: KilledRun, plain: tuple[float, list[str]]) -> None:
    strace, rng = tracer(), random.Random(SEED)
    assert strace is not None
    log = world.kill / "strace"
    world.put_back("staged")
    trace = (strace, "-q", "-o", str(log), "-e", f"trace={WRITES}")
    world.run(argv=trace)
    world.to_the_end()
    calls = [line.partition("(")[0] for line in log.read_text(errors="replace").splitlines() if "(" in line]
    world.kills = 0
    every = range(len(calls))
    for number, at in enumerate(every if AT_CALLS == "all" else rng.sample(every, int(AT_CALLS))):
        checkout = list(CHECKOUTS)[-1 - number % len(CHECKOUTS)]
        world.put_back(checkout)
        nth = calls[: at + 1].count(calls[at])  # strace counts each kind of call by itself
        world.run(argv=(*trace, "-e", f"inject={calls[at]}:signal=KILL:when={nth}"))
        world.to_the_end()
        world.assert_sound(checkout)
        print(f"{world.kills} kills at {number + 1} of {len(calls)} system calls", flush=True)
