"""The database goes back, or away, at any moment of a run of three beads, and git does not: nothing is lost or merged twice.

NOBRAKES_PUT_BACK: how often (4). The daemon is killed at a random moment, the database of an earlier random moment is put
in the place of its own (with the log beside it, or without; or what was not yet checkpointed is lost; or it is removed),
and the daemon is started again until all is done.
"""

import contextlib
import os
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.killed_run import CHECKOUTS, KilledRun, usual

TIMES = int(os.environ.get("NOBRAKES_PUT_BACK", "4"))
SEED = int(os.environ.get("NOBRAKES_PUT_BACK_SEED", "1"))
DATABASE = "nobrakes.db"
BESIDE = ("nobrakes.db-wal", "nobrakes.db-shm")
LOG = "beads.since.jsonl"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(24 * 3600)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledRun]:
    yield KilledRun(tmp_path_factory.mktemp("put-back"))


def back_up(home: Path, to: Path) -> None:
    """The database and its log as they are now."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(home / LOG, to / LOG)
    with (
        contextlib.closing(sqlite3.connect(home / DATABASE)) as now,
        contextlib.closing(sqlite3.connect(to / DATABASE)) as then,
    ):
        now.backup(then)


def remove(home: Path, *names: str) -> None:
    for name in names:
        (home / name).unlink(missing_ok=True)


def of_before(home: Path, backup: Path) -> None:
    remove(home, DATABASE, *BESIDE)
    shutil.copy2(backup / DATABASE, home / DATABASE)


def of_before_with_its_log(home: Path, backup: Path) -> None:
    of_before(home, backup)
    remove(home, LOG)
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(backup / LOG, home / LOG)


def without_what_was_not_checkpointed(home: Path, backup: Path) -> None:
    remove(home, *BESIDE)


def removed(home: Path, backup: Path) -> None:
    remove(home, DATABASE, *BESIDE)


FATES: tuple[Callable[[Path, Path], None], ...] = (
    of_before,
    of_before_with_its_log,
    without_what_was_not_checkpointed,
    removed,
)


def test_databases_are_put_back_at_random(world: KilledRun) -> None:
    rng = random.Random(SEED)
    seconds = usual(world)[0]
    home, backup = world.folder / ".nobrakes", world.folder.parent / "backup"
    for number in range(TIMES):
        checkout = list(CHECKOUTS)[number % len(CHECKOUTS)]
        fate = FATES[number % len(FATES)]
        first, second = sorted((rng.uniform(0, seconds), rng.uniform(0.1, seconds)))
        world.put_back(checkout)
        copying = threading.Thread(target=lambda at=first: (time.sleep(at), back_up(home, backup)))
        copying.start()
        world.run(seconds=second)
        copying.join()
        fate(home, backup)
        try:
            world.to_the_end()
            world.assert_sound(checkout)
        except AssertionError as error:
            raise AssertionError(f"{number}: {fate.__name__}, {first:.2f} s, {second:.2f} s: {error}") from error
        print(f"{number + 1} databases were put back or lost", flush=True)
