"""One suite for the port MachineWide: on the person's database with a daemon of each repository, and on the fake."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from nobrakes.agents.limits import MachineRoom, day_start, free, machine_reached, needs_person
from nobrakes.errors import ConfigError, DiskFull, PlaceUnusable
from nobrakes.machine import registry
from nobrakes.machine.db import UserStore
from nobrakes.machine.web_state import SharedMachine
from nobrakes.ports import Alone, MachineWide
from tests.support.without_root import without_roots_rights
from tests.world.fake_machine import FakeMachine

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def as_anybody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For root nothing is read-only, and nothing closed. Who finds the database locked does not wait long."""
    monkeypatch.setattr(registry, "LOCK_SECONDS", 0.05)
    with without_roots_rights():
        yield


def real(tmp_path: Path, name: str, told: Callable[[str], None] = lambda text: None) -> SharedMachine:
    root = tmp_path / name
    if not root.exists():
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    return SharedMachine(str(root), lambda: NOW, told)


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> MachineWide:
    """A machine for two agents, with nobody else at work."""
    if request.param == "fake":
        fake = FakeMachine(0)
        fake.most, fake.others, fake.is_calm = 2, 0, True
        return fake
    registry.set_limits({"agents": "2"})
    return real(tmp_path, "one")


def room(machine: MachineWide, *at_work: str) -> MachineRoom:
    found = machine.look(at_work)
    assert found is not None
    return found


def test_a_place_is_taken_until_it_is_given_back(machine: MachineWide) -> None:
    assert room(machine).taken == 0
    assert machine.take("a") and machine.take("b") and not machine.take("c")
    assert machine.take("a"), "what is held is held"
    machine.give_back("b")
    machine.give_back("b")
    assert machine.take("c")


def test_a_look_says_whose_places_these_are(machine: MachineWide) -> None:
    room(machine)
    assert machine.take("bead:x")
    found = room(machine, "1-agent")
    assert (found.taken, found.own, found.others) == (1, 1, 0), "the run has the place under which it started"
    assert room(machine).taken == 0


def test_what_lives_has_its_place_beyond_the_limit(machine: MachineWide) -> None:
    assert room(machine, "1", "2", "3").taken == 3
    machine.hold("4")
    assert not machine.take("5")
    assert room(machine, "1").taken == 1


def test_who_is_alone_has_room_for_all() -> None:
    alone: MachineWide = Alone()
    assert alone.take("a") and alone.take("b") and alone.look(("a", "b")) is None


# --- what only the real one has: other daemons, a folder, settings ----------------------------------


def test_two_repositories_share_the_places_and_what_a_day_costs(tmp_path: Path) -> None:
    registry.set_limits({"agents": "2", "usd_per_day": "5"})
    one, two = real(tmp_path, "one"), real(tmp_path, "two")
    room(one), room(two)
    assert one.take("a") and two.take("a") and not two.take("b")
    day = NOW - NOW % 86400
    one.spent(day, 2.0, 10)
    two.spent(day, 3.5, 1)
    one.spent(day, 2.5, 20)
    one.spent(day - 86400, 99.0, 0)
    found = room(two, "a")
    assert (found.taken, found.own, found.usd, found.tokens) == (2, 1, 6.0, 21)
    one.close()
    assert two.take("b"), "a daemon that ended has no place"
    assert room(two).usd == 6.0, "and what it spent still counts"


def test_without_limits_agents_are_counted_all_the_same(tmp_path: Path) -> None:
    one, two = real(tmp_path, "one"), real(tmp_path, "two")
    assert one.look(("1", "2")) is None and two.look(()) is None
    registry.set_limits({"agents": "2"})
    assert not two.take("x") or room(two).others == 2
    assert room(two).others == 2 and not two.take("x")


Breaks = Callable[[Path], Callable[[], None] | None]
"""Breaks something below the person's own folder; what is returned mends it."""


def _replaced(path: str, text: str) -> Breaks:
    def breaks(own: Path) -> Callable[[], None]:
        was = (own / path).read_bytes()
        (own / path).write_bytes(text.encode())
        return lambda: (own / path).write_bytes(was) and None

    return breaks


def _other_kind(path: str, make: Callable[[Path], object]) -> Breaks:
    def breaks(own: Path) -> Callable[[], None]:
        (own / path).rename(own / "aside")
        make(own / path)

        def mend() -> None:
            (own / path).rename(own / "odd")
            (own / "aside").rename(own / path)

        return mend

    return breaks


def _mode(path: str, mode: int) -> Breaks:
    def breaks(own: Path) -> Callable[[], None]:
        was = (own / path).stat().st_mode
        (own / path).chmod(mode)
        return lambda: (own / path).chmod(was)

    return breaks


def _read_only(own: Path) -> Callable[[], None]:
    mends = [_mode("state/user.db", 0o444)(own), _mode("state", 0o555)(own)]
    return lambda: [mend() for mend in reversed(mends) if mend] and None


def _newer(own: Path) -> Callable[[], None]:
    def run(statement: str) -> None:
        with closing(sqlite3.connect(own / "state" / "user.db")) as connection, connection:
            connection.execute(statement)

    run("INSERT INTO migrations VALUES (99, 1.0)")
    return lambda: run("DELETE FROM migrations WHERE version = 99")


def _locked(own: Path) -> Callable[[], None]:
    connection = sqlite3.connect(own / "state" / "user.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection.close


TROUBLES: dict[str, Breaks] = {
    "newer": _newer,
    "locked": _locked,
    "others may write the database": _mode("state/user.db", 0o666),
    "others may write the state": _mode("state", 0o777),
    "others may write the settings": _mode("config/config.toml", 0o666),
    "others may write the folder of settings": _mode("config", 0o777),
    "nobody may write the database": _mode("state/user.db", 0o444),
    "nobody may write the database and its folder": _read_only,
    "nobody may read the database": _mode("state/user.db", 0),
    "nobody may enter the state": _mode("state", 0),
    "nobody may read settings": _mode("config/config.toml", 0),
    "nobody may enter the folder of settings": _mode("config", 0),
    "no settings": _replaced("config/config.toml", "[machine]\nagents = 'many'\n"),
    "no text": _replaced("config/config.toml", "\udcff".encode("utf-8", "surrogatepass").decode("latin-1") + "= ="),
    "settings that are a folder": _other_kind("config/config.toml", os.mkdir),
    "settings that are a pipe": _other_kind("config/config.toml", os.mkfifo),
    "settings that lead nowhere": _other_kind("config/config.toml", lambda path: path.symlink_to("/gone")),
    "a folder of settings that leads nowhere": _other_kind("config", lambda path: path.symlink_to("/gone")),
    "a database that is a folder": _other_kind("state/user.db", os.mkdir),
    "a database that leads nowhere": _other_kind("state/user.db", lambda path: path.symlink_to("/gone")),
    "a state that is a file": _other_kind("state", Path.touch),
    "a state that leads nowhere": _other_kind("state", lambda path: path.symlink_to("/gone")),
}


@pytest.mark.parametrize("at_start", [True, False], ids=["at the start", "while it works"])
@pytest.mark.parametrize("name", TROUBLES)
def test_a_limit_that_cannot_be_read_counts_as_reached(name: str, at_start: bool, tmp_path: Path) -> None:
    now, told = [NOW], list[str]()
    registry.set_limits({"agents": "3", "usd_per_day": "9"})
    own = Path(os.environ["NOBRAKES_USER_HOME"])
    root = tmp_path / "one"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    first = SharedMachine(str(root), lambda: now[0], told.append)
    assert room(first).unknown == "" and first.take("a")
    one = first
    if at_start:
        first.close()
        one = SharedMachine(str(root), lambda: now[0], told.append)
    mend = TROUBLES[name](own)
    now[0] += 60
    found = room(one)
    assert found.unknown and free(found) == 0 and not machine_reached(found, now[0]), "who is at work goes on"
    assert not one.take("b") and not one.take("c")
    one.spent(day_start(NOW), 2.0, 7)
    shown = registry.view()
    assert shown.trouble and shown.mend and shown.is_limited
    text, stops = registry.trouble()
    assert stops and "no agent starts" in text
    assert needs_person(found) == (not found.passes) == (name != "locked")
    assert mend is not None
    mend()
    now[0] += 60
    again = room(one, "a")
    assert (again.unknown, again.taken, again.usd) == ("", 1, 2.0), "what was spent meanwhile is written later"
    assert one.take("b") and registry.view().trouble == "" and told == []


@pytest.mark.parametrize("name", TROUBLES)
def test_limits_are_set_or_it_is_said_why_not(name: str, tmp_path: Path) -> None:
    registry.set_limits({"agents": "3"})
    assert room(real(tmp_path, "one")).limits.agents == 3
    mend = TROUBLES[name](Path(os.environ["NOBRAKES_USER_HOME"]))
    try:
        assert registry.set_limits({"agents": "4"}).agents == 4
    except (ConfigError, PlaceUnusable) as error:
        assert "settings" in name or name == "no text", error
    assert mend is not None
    mend()


def test_a_database_that_is_broken_is_moved_away_by_a_person(tmp_path: Path) -> None:
    now = [NOW]
    registry.set_limits({"agents": "3"})
    subprocess.run(["git", "init", "-q", str(tmp_path / "one")], check=True)
    one = SharedMachine(str(tmp_path / "one"), lambda: now[0], lambda text: None)
    assert room(one, "a").taken == 1
    state = Path(os.environ["NOBRAKES_USER_HOME"], "state")
    for path in state.glob("user.db*"):
        path.write_bytes(b"rubbish! " * 2000)
    assert needs_person(room(one, "a", "b")) and not one.take("c") and "Move this file" in registry.view().mend
    for path in state.glob("user.db*"):
        path.rename(tmp_path / path.name)
    now[0] += 6
    assert room(one, "a", "b").taken == 2 and one.take("c") and registry.view().trouble == ""


def test_what_should_pass_and_lasts_needs_a_person(tmp_path: Path) -> None:
    now = [NOW]
    registry.set_limits({"agents": "3"})
    subprocess.run(["git", "init", "-q", str(tmp_path / "one")], check=True)
    one = SharedMachine(str(tmp_path / "one"), lambda: now[0], lambda text: None)
    room(one)
    mend = _locked(Path(os.environ["NOBRAKES_USER_HOME"]))
    assert room(one, "a").passes
    now[0] += 61
    assert not room(one, "b").passes
    mend()
    now[0] += 6
    assert not room(one, "b").unknown


def test_a_full_disk_counts_as_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DiskFull("no space is left")

    registry.set_limits({"agents": "3"})
    one = real(tmp_path, "one")
    room(one)
    monkeypatch.setattr(UserStore, "set_places", full)
    monkeypatch.setattr("os.statvfs", lambda path: SimpleNamespace(f_bavail=0))
    assert room(one, "a").unknown and not one.take("b") and "no space is left" in registry.view().trouble


@pytest.mark.parametrize("name", TROUBLES)
def test_where_no_limit_is_set_nothing_is_missed(name: str, tmp_path: Path) -> None:
    told = list[str]()
    registry.set_limits({"agents": "3"})
    registry.set_limits({"agents": "default"})
    one = real(tmp_path, "one", told.append)
    assert one.look(()) is None
    mend = TROUBLES[name](Path(os.environ["NOBRAKES_USER_HOME"]))
    found = real(tmp_path, "one", told.append)
    if "settings" in name or name == "no text":
        assert room(found).unknown and not found.take("a"), "they may set a limit"
    else:
        assert found.look(("1",)) is None and found.take("2") and found.look(()) is None
        assert len(told) == 1 and "cannot use the data" in told[0] and registry.shown() is None
        assert registry.trouble()[0] and not registry.trouble()[1]
    assert mend is not None
    mend()


def test_a_place_that_was_never_made_sets_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Path(os.environ["NOBRAKES_USER_HOME"], "state").exists()
    assert registry.view().trouble == "" and registry.trouble() == ("", False)
    assert real(tmp_path, "one").look(()) is None
    told = list[str]()
    for name in ("NOBRAKES_USER_HOME", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    alone = real(tmp_path, "two", told.append)
    assert alone.look(()) is None and alone.take("a") and alone.look(()) is None
    assert len(told) == 1 and "HOME is not set" in told[0] and not registry.trouble()[1]


def test_a_folder_that_was_removed_is_made_again_with_all_agents(tmp_path: Path) -> None:
    registry.set_limits({"agents": "2"})
    one, two = real(tmp_path, "one"), real(tmp_path, "two")
    room(one, "1", "2"), room(two)
    one.spent(NOW - NOW % 86400, 1.0, 1)
    state = Path(os.environ["NOBRAKES_USER_HOME"], "state")
    state.rename(tmp_path / "gone")
    assert room(one, "1", "2").taken == 2
    assert room(two).taken == 2 and not two.take("x")
