"""Logins of confined agents: a renewal, however a CLI writes it, reaches the human and all other runs. Else it is told."""

import json
import os

import pytest

from nobrakes.host.channel import FolderChannelServer
from nobrakes.host.port import Login
from nobrakes.trash import Trash

OLD, NEW = ({"token": {"refresh": word}, "mode": "chat"} for word in ("old", "new"))


class Scene:
    def __init__(self, folder):
        self.folder = folder
        self.human = folder / "home" / "auth.json"
        self.human.parent.mkdir()
        self.human.write_text(json.dumps(OLD))
        self.human.chmod(0o600)
        self.told = []
        self.keeper = self.another_daemon()

    def another_daemon(self):
        return FolderChannelServer(
            str(self.folder / "doors"), Trash(str(self.folder / "trash")), lambda attempt, asked: b"", self.told.append
        )

    def run(self, run):
        """Begin a run; where its copy is."""
        top = self.folder / "runs" / run / "own"
        self.keeper.begin(run, [Login(str(self.human), str(top), "codex/auth.json")])
        return top / "codex" / "auth.json"

    def look(self, *runs):
        for run in runs:
            self.keeper._answer(run)


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def by_rename(path, content):
    new = path.with_suffix(".tmp")
    new.write_text(json.dumps(content))
    new.replace(path)


def in_place(path, content):
    path.write_text(json.dumps(content))


def read(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("renew", [by_rename, in_place])
def test_what_one_run_renews_the_human_and_the_other_runs_get(scene, renew):
    one, two = scene.run("1-agent"), scene.run("2-agent")
    assert read(one) == read(two) == OLD and one.stat().st_mode & 0o777 == 0o600
    renew(two, NEW)
    scene.look("1-agent", "2-agent", "1-agent")
    assert read(scene.human) == read(one) == NEW and scene.human.stat().st_mode & 0o777 == 0o600
    renew(scene.human, OLD)
    scene.look("1-agent", "2-agent")
    assert read(one) == read(two) == OLD and not scene.told


def test_what_is_renewed_last_is_taken_also_by_another_daemon(scene):
    copy = scene.run("1-agent")
    by_rename(copy, NEW)
    scene.another_daemon().end("1-agent")
    assert read(scene.human) == NEW and not copy.exists() and not scene.told


def test_a_human_who_logs_in_again_meanwhile_is_not_overruled(scene):
    copy = scene.run("1-agent")
    in_place(copy, {**OLD, "token": {"refresh": "the agent's"}})
    in_place(scene.human, NEW)
    scene.look("1-agent")
    assert read(scene.human) == read(copy) == NEW


def link(path):
    path.unlink()
    path.symlink_to(path.parents[4] / "elsewhere" / "auth.json")


def link_of_the_folder(path):
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(path.parents[4] / "elsewhere")


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_text("no json"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text('{"mode": "chat"}'),
        lambda path: path.write_text('{"mode": "chat", "token": "x"}'),
        lambda path: path.write_bytes(b"x" * 2_000_000),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), os.mkfifo(path)),
        link,
        link_of_the_folder,
    ],
)
def test_what_is_no_renewal_is_not_taken_and_leads_nowhere(scene, harm):
    other = scene.folder / "elsewhere" / "auth.json"
    other.parent.mkdir()
    other.write_text(json.dumps(NEW))
    copy = scene.run("1-agent")
    is_written = harm(copy) is not None and copy.is_file() and copy.stat().st_size < 1_000_000
    scene.look("1-agent")
    assert read(scene.human) == OLD and not scene.told  # it may be half written
    scene.keeper.end("1-agent")
    assert read(scene.human) == OLD and read(other) == NEW
    assert len(scene.told) == is_written and all("did not copy" in text for text in scene.told)


def test_who_is_not_logged_in_gets_no_login_from_an_agent(scene):
    scene.human.unlink()
    copy = scene.run("1-agent")
    copy.parent.mkdir(parents=True)
    in_place(copy, NEW)
    scene.keeper.end("1-agent")
    assert not scene.human.exists()
