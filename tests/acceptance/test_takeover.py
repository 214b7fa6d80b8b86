"""Two machines and one remote: the second one continues the work of the first, and the first one merges nothing more."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from nobrakes.errors import ConfigError, Hindered, TakenOver
from tests.support.scripted import Scripted, until

pytestmark = [pytest.mark.slow]

PREFIX = "refs/nobrakes-state"
TAKEOVER = f'[fleet]\ntakeover_remote = "origin"\ntakeover_prefix = "{PREFIX}"\n'
HOLDS = 'echo "$(pwd)" >>"$BOOK/lives"; until [ -e "$BOOK/go" ]; do sleep 0.05; done; work'


class Machine(Scripted):
    """The first machine; its settings are on main, and main is at the remote."""

    def __init__(self, folder: Path, land: str) -> None:
        super().__init__(folder / "first", more=f'[review]\nland = "{land}"\nremote_seconds = 20\n{TAKEOVER}')
        self.remote = folder / "remote.git"
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Set up nobrakes")
        subprocess.run(["git", "clone", "-q", "--bare", str(self.folder), str(self.remote)], check=True)
        self.git("remote", "add", "origin", str(self.remote))
        self.main_there = "refs/heads/main" if land == "remote" else f"{PREFIX}/main"

    def there(self, *arguments: str) -> str:
        return self.git("-C", str(self.remote), *arguments).strip()

    def pushed(self) -> dict[str, object]:
        """The state at the remote, as the message says; empty: none yet."""
        if not self.there("for-each-ref", f"{PREFIX}/state"):
            return {}
        found: dict[str, object] = json.loads(self.there("log", "-1", "--format=%B", f"{PREFIX}/state"))
        return found

    def has_pushed(self, text: str) -> bool:
        """Whether the changes in the state name this text."""
        return bool(self.pushed()) and text in self.there("show", f"{PREFIX}/state:changes")


class Second(Machine):
    """Another machine: a clone of the same remote, with the same agents."""

    def __init__(self, first: Machine, name: str = "second") -> None:
        self.folder = first.folder.parent.parent / name
        self.remote, self.book, self.main_there = first.remote, first.book, first.main_there
        self.config = self.folder / ".nobrakes" / "config.toml"
        subprocess.run(["git", "clone", "-q", str(self.remote), str(self.folder)], check=True)
        self.git("config", "user.name", "You")
        self.git("config", "user.email", "you@example.invalid")


@pytest.fixture(params=["local", "remote"])
def first(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(tmp_path, request.param)


def test_another_machine_continues_after_the_first_one_died(first: Machine) -> None:
    first.does("two", HOLDS)
    first.add("one", "two")
    first.add("three", needs=["two"])
    first.add("held")
    first.nobrakes("hold", "held", "--reason", "wait for Monday")
    with first.running() as run:
        until(lambda: first.status("one") == "done" and first.flag("lives").exists())
        until(lambda: first.has_pushed("wait for Monday"))
        run.kill()
    second = Second(first)
    shown = second.nobrakes("takeover").stdout
    assert "nothing has been changed yet; to take over: nobrakes takeover --yes" in shown
    assert "changes after that are lost" in shown
    before = first.pushed()
    said = second.nobrakes("takeover", "--yes").stdout
    assert said.startswith("this machine continues the work of ") and before != first.pushed()
    first.flag("go").touch()
    second.nobrakes("run", expect=40)  # the held bead is blocked
    assert sorted(second.landed().values()) == ["one", "three", "two"]
    assert second.git("rev-parse", "main").strip() == second.there("rev-parse", second.main_there)
    assert "wait for Monday" in json.dumps(second.show("held"))
    second.nobrakes("verify")
    assert first.nobrakes("run", expect=None).returncode == TakenOver.code
    error = first.error("run", code=Hindered.code)
    assert "has this work now" in error["message"] and error["hint"] == "Type `nobrakes takeover`."


def test_the_first_machine_lands_nothing_when_it_was_only_cut_off(first: Machine) -> None:
    first.does("one", HOLDS)
    first.add("one", "two")
    with first.running() as run:
        until(lambda: first.status("two") == "done" and first.flag("lives").exists())
        until(lambda: first.has_pushed("two"))
        os.kill(run.pid, signal.SIGSTOP)
        second = Second(first)
        second.nobrakes("takeover", "--yes")
        first.does("one", "work")
        second.nobrakes("run")
        tip = second.there("rev-parse", second.main_there)
        assert sorted(second.landed().values()) == ["one", "two"]
        first.flag("go").touch()
        before = first.git("rev-parse", "main")
        os.kill(run.pid, signal.SIGCONT)
        said, _ = run.communicate(timeout=120)
    assert run.returncode == TakenOver.code and "has this work now" in said, said
    assert second.there("rev-parse", second.main_there) == tip
    if first.main_there != "refs/heads/main":
        assert first.git("rev-parse", "main") == before
    first.nobrakes("takeover", "--yes")
    assert first.git("rev-parse", "main").strip() == tip
    first.add("four")
    first.nobrakes("run")
    assert sorted(first.landed().values()) == ["four", "one", "two"]
    ended = second.nobrakes("run", expect=TakenOver.code)
    assert "`nobrakes takeover` takes the work back to this machine." in ended.stderr
    assert "no agent starts, and nothing lands from here" in second.nobrakes("status").stdout


def test_what_landed_after_the_last_state_is_not_done_again(first: Machine) -> None:
    """The push that lands a bead names it: the state that says more comes later, and here it never comes."""
    first.does("one", HOLDS)
    first.add("one")
    with first.running() as run:
        until(lambda: first.flag("lives").exists() and first.has_pushed("one"))
        hook = first.remote / "hooks" / "pre-receive"
        hook.write_text(f"#!/bin/sh\n! grep -q {PREFIX}/refs/\n")
        hook.chmod(0o755)
        names = first.there("for-each-ref", "--format=%(refname)", PREFIX)
        assert "/start/" in names and "/incoming/" not in names and "/archive/" not in names
        first.flag("go").touch()
        until(lambda: "Bead: one" in first.there("log", "-1", "--format=%B", first.main_there))
        run.kill()
    hook.unlink()
    second = Second(first)
    second.nobrakes("takeover", "--yes")
    assert second.status("one") == "done" and len(first.turns("one")) == 1
    second.add("two")
    second.nobrakes("run")
    assert list(second.landed().values()) == ["one", "two"] and len(first.turns("one")) == 1


def test_a_machine_that_cannot_reach_the_remote_merges_nothing(first: Machine) -> None:
    first.add("one")
    before = first.git("rev-parse", "main")
    away = first.remote.rename(first.remote.with_name("away.git"))
    with first.running() as run:
        until(lambda: first.waits(), what=lambda: first.show("one"))
        assert first.git("rev-parse", "main") == before
        away.rename(first.remote)
        first.nobrakes("retry", "one", expect=None)
        run.communicate(timeout=120)
    assert list(first.landed().values()) == ["one"]


def test_two_machines_that_take_over_at_once_have_one_winner(first: Machine) -> None:
    first.add("one")
    first.nobrakes("run")
    second, third = Second(first), Second(first, "third")
    both = [machine.start("takeover", "--yes") for machine in (second, third)]
    said = [one.communicate(timeout=60)[0] for one in both]
    assert sorted(one.returncode == 0 for one in both) in ([False, True], [True, True]), said
    first.nobrakes("run", expect=TakenOver.code)
    owners = [machine.nobrakes("run", expect=None).returncode for machine in (second, third)]
    assert owners.count(0) == 1, (owners, said)


def test_without_a_place_for_states_nothing_is_pushed(tmp_path: Path) -> None:
    first = Machine(tmp_path, "remote")
    first.configure(TAKEOVER, "")
    first.add("one")
    first.nobrakes("run")
    assert list(first.landed().values()) == ["one"] and first.pushed() == {}
    assert (
        first.error("takeover", code=ConfigError.code)["message"]
        == "no place for states is named, so no machine can take over"
    )
    assert (
        "no other machine could continue this work: no remote is named for that (fleet.takeover_remote)"
        in first.nobrakes("doctor", expect=None).stdout
    )


@pytest.mark.parametrize(
    "lines",
    [
        'takeover_remote = "origin"',
        'takeover_remote = "origin"\ntakeover_prefix = "refs/heads/state"',
        'takeover_remote = "origin"\ntakeover_prefix = "refs/heads"',
        'takeover_remote = "origin"\ntakeover_prefix = "refs/nobrakes/x"',
        'takeover_remote = "origin"\ntakeover_prefix = "refs/a/../heads/main"',
        'takeover_remote = "--upload-pack=x"\ntakeover_prefix = "refs/a"',
        'takeover_remote = "other"\ntakeover_prefix = "refs/a"',
    ],
)
def test_a_place_that_could_harm_is_refused(tmp_path: Path, lines: str) -> None:
    first = Machine(tmp_path, "remote")
    first.configure(TAKEOVER, f"[fleet]\n{lines}\n")
    assert "fleet.takeover_" in first.nobrakes("config", "--check", expect=ConfigError.code).stderr


def test_a_takeover_that_is_killed_continues_when_it_is_typed_again(first: Machine) -> None:
    """After the claim, before the database: nobody else can land then, and nothing is lost."""
    first.add("one", "two")
    first.nobrakes("run")
    second = Second(first)
    broken = second.folder / ".nobrakes" / "beads.since.jsonl"
    broken.mkdir()
    (broken / "in the way").touch()
    (second.folder / ".nobrakes" / f"{broken.name}.before-{int(float(str(first.pushed()['at'])))}").mkdir()
    failed = second.nobrakes("takeover", "--yes", expect=None)
    assert failed.returncode != 0 and "Traceback" not in failed.stderr
    first.nobrakes("run", expect=TakenOver.code)
    (broken / "in the way").unlink()
    broken.rmdir()
    assert "this machine continues the work of" in second.nobrakes("takeover", "--yes").stdout
    assert [second.status(bead) for bead in ("one", "two")] == ["done", "done"]
