"""One suite for the port MachineWide: on the person's database with a daemon of each repository, and on the fake."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.core.limits.machine import MachineRoom
from nobrakes.operations.machine_wide import views
from nobrakes.operations.machine_wide.shared import SharedMachine
from nobrakes.ports.machine import Alone, MachineWide
from nobrakes.simulate.fake_machine import FakeMachine

NOW = 1_800_000_000.0


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
    views.set_limits({"agents": "2"})
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
    views.set_limits({"agents": "2", "usd_per_day": "5"})
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
    views.set_limits({"agents": "2"})
    assert not two.take("x") or room(two).others == 2
    assert room(two).others == 2 and not two.take("x")


def test_settings_that_become_wrong_stay_as_they_were(tmp_path: Path) -> None:
    told: list[str] = []
    views.set_limits({"agents": "1"})
    one = real(tmp_path, "one", told.append)
    assert room(one).limits.agents == 1
    config = Path(os.environ["NOBRAKES_USER_HOME"], "config", "config.toml")
    config.write_text("[machine]\nagents = 'many'\n")
    assert room(one).limits.agents == 1 and room(one).limits.agents == 1
    assert len(told) == 1 and "of before stay in force" in told[0]
    config.write_text("[machine]\nagents = 7\n")
    assert room(one).limits.agents == 7 and len(told) == 2


def test_a_place_that_cannot_be_used_is_told_once_and_limits_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    views.set_limits({"agents": "1"})
    state = Path(os.environ["NOBRAKES_USER_HOME"], "state")
    state.mkdir()
    state.chmod(0o777)
    one = real(tmp_path, "one", told.append)
    assert one.look(("1", "2")) is None and one.take("3") and one.look(()) is None
    assert len(told) == 1 and told[0].startswith("machine-wide limits are off: other accounts may write")


def test_a_folder_that_was_removed_is_made_again_with_all_agents(tmp_path: Path) -> None:
    views.set_limits({"agents": "2"})
    one, two = real(tmp_path, "one"), real(tmp_path, "two")
    room(one, "1", "2"), room(two)
    one.spent(NOW - NOW % 86400, 1.0, 1)
    state = Path(os.environ["NOBRAKES_USER_HOME"], "state")
    state.rename(tmp_path / "gone")
    assert room(one, "1", "2").taken == 2
    assert room(two).taken == 2 and not two.take("x")
