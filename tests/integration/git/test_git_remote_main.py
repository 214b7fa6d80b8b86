"""Main that is decided at a remote: the push comes first, and nothing that goes wrong with it loses or doubles anything."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from git_worlds import ME, SharedWorld, message, sh, write

from nobrakes.errors import GitFailed, RepositoryReplaced
from nobrakes.git import command_line, objects
from nobrakes.git.landing import remote
from nobrakes.git.landing.remote import Reply, Shared, redacted
from nobrakes.git.repository import Repository
from nobrakes.review.waits import Land, Landing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SharedWorld]:
    made = SharedWorld(tmp_path, checked_out=True)
    yield made
    made.close()


@pytest.fixture
def work(world, begin) -> tuple[str, str]:
    """(new, old), ready to land."""
    head = world.commit_in_workspace(begin(), {"src/app.py": "one = 2\n", "src/new.py": "new\n"})
    world.git.fetch_work(begin(), 1)
    old = world.git.main()
    return world.git.squash(old, head, message()).commit, old


def waits(world: SharedWorld, land: Land, main: str) -> str:
    assert land.landing is Landing.BLOCKED and land.wait > 0
    assert world.git.main() == main
    return land.reason


def hook(world: SharedWorld, name: str, text: str) -> None:
    path = world.remote / "hooks" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def on_their_way(world: SharedWorld, seconds: float) -> None:
    world.git = Repository(world.paths, "main", Shared("origin", "main", seconds))


def test_it_lands_there_before_it_lands_here(world, work, monkeypatch):
    new, old = work
    seen = []
    swap = objects.swap

    def looked(*arguments):
        seen.append(world.there())
        return swap(*arguments)

    monkeypatch.setattr(objects, "swap", looked)
    assert world.git.land(new, old).landing is Landing.MOVED
    assert seen == [new]
    assert (world.root / "src" / "new.py").exists() and world.sh("git", "status", "--porcelain") == ""


@pytest.mark.parametrize("heard", [True, False])
def test_another_who_pushes_in_the_last_moment_wins(world, work, monkeypatch, heard):
    new, old = work
    push = remote.Remote.push
    theirs = []

    def raced(self, *arguments):
        theirs.append(world.commit_at_remote({"other": "o\n"}))
        return push(self, *arguments)

    monkeypatch.setattr(remote.Remote, "push", raced)
    if not heard:
        monkeypatch.setattr(remote.Remote, "fetch", lambda self: Reply(False, "no route"))
        assert not world.git.land(new, old).may_have_landed, "the remote has said no"
    else:
        assert world.git.land(new, old).landing is Landing.LOST
    assert world.there() == theirs[0] and world.git.main() == old


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_beside_the_push_is_made_good(world, work, monkeypatch, moment):
    new, old = work
    push = remote.Remote.push

    def killed(self, *arguments):
        if moment == "after":
            assert push(self, *arguments).ok
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(remote.Remote, "push", killed)
        with pytest.raises(KeyboardInterrupt):
            world.git.land(new, old)
    assert world.git.main() == old and world.there() == (new if moment == "after" else old)
    again = Repository(world.paths, "main", Shared("origin", "main", 30.0))
    assert again.land(new, old).landing is Landing.MOVED
    assert world.there() == world.git.main() == new
    assert sh(world.remote, "git", "log", "--format=%s", "main").splitlines() == ["Work of login", "first"]


def test_a_crash_after_main_here_moved_leaves_no_checkout_behind(world, work, monkeypatch):
    new, old = work
    with monkeypatch.context() as patch:
        patch.setattr("nobrakes.git.landing.local.Lander._follow", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            world.git.land(new, old)
    assert world.git.main() == new and not (world.root / "src" / "new.py").exists()
    assert world.git.catch_up().landing is Landing.MOVED
    assert (world.root / "src" / "new.py").exists() and world.sh("git", "status", "--porcelain") == ""


def test_a_hook_that_refuses_is_told_in_its_own_words(world, work):
    new, old = work
    hook(world, "pre-receive", 'echo "only on weekdays" >&2; exit 1')
    land = world.git.land(new, old)
    assert "only on weekdays" in waits(world, land, old)
    assert not land.may_have_landed and world.there() == old
    (world.remote / "hooks" / "pre-receive").unlink()
    assert world.git.land(new, old).landing is Landing.MOVED


def test_a_remote_that_is_not_there_is_told(world, work):
    new, old = work
    moved = world.remote.rename(world.remote.parent / "gone.git")
    assert "cannot fetch origin/main" in waits(world, world.git.catch_up(), old)
    land = world.git.land(new, old)
    assert land.may_have_landed and "does not appear to be a git repository" in waits(world, land, old)
    moved.rename(world.remote)
    assert world.git.land(new, old).landing is Landing.MOVED


def test_a_push_that_arrived_and_was_not_heard_of_has_landed(world, work, monkeypatch):
    new, old = work
    push = remote.Remote.push

    def unheard(self, *arguments):
        push(self, *arguments)
        return Reply(False, "the connection was lost")

    monkeypatch.setattr(remote.Remote, "push", unheard)
    assert world.git.land(new, old).landing is Landing.MOVED
    assert world.git.main() == world.there() == new


def test_a_remote_that_hangs_is_left_after_its_time(world, work, tmp_path):
    new, old = work
    script = tmp_path / "hangs"
    script.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 600\n")
    script.chmod(0o755)
    world.sh("git", "config", "remote.origin.receivepack", str(script))
    on_their_way(world, 0.7)
    begun = time.monotonic()
    land = world.git.land(new, old)
    assert time.monotonic() - begun < 20
    assert land.may_have_landed and "did not answer in 0.7 seconds" in waits(world, land, old)
    pid = int((tmp_path / "pid").read_text())
    assert not os.path.exists(f"/proc/{pid}") or "Z" in Path(f"/proc/{pid}/stat").read_text()


def test_what_no_kill_ends_is_left_and_named(world, work, tmp_path, monkeypatch):
    new, old = work
    script = tmp_path / "hangs"
    script.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 600\n")
    script.chmod(0o755)
    world.sh("git", "config", "remote.origin.receivepack", str(script))
    on_their_way(world, 0.7)
    groups = []
    kill = os.killpg
    monkeypatch.setattr(command_line.os, "killpg", lambda group, how: groups.append(group))
    try:
        begun = time.monotonic()
        land = world.git.land(new, old)
        assert time.monotonic() - begun < 20 and land.may_have_landed
        assert [one for one in command_line.left() if "push" in one and f"process {groups[0]})" in one]
    finally:
        for group in set(groups):
            kill(group, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(f"process {groups[0]})" in one for one in command_line.left()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_nothing_can_ask_for_a_password(world, tmp_path):
    seen = tmp_path / "seen"
    script = tmp_path / "ssh"
    script.write_text(f'#!/bin/sh\necho "$@" >{seen}; cut -d" " -f6 /proc/$$/stat >>{seen}; exit 255\n')
    script.chmod(0o755)
    world.sh("git", "config", "core.sshCommand", f"{script} -v")
    world.sh("git", "remote", "set-url", "origin", "ssh://me:secret@remote.invalid/main.git")
    reason = waits(world, world.git.catch_up(), world.git.main())
    words = seen.read_text()
    assert "-v -o BatchMode=yes -o ConnectTimeout=30" in words
    assert int(words.split()[-1]) != os.getsid(0), "a session of its own has no terminal"
    assert "secret" not in reason


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fatal: https://me:pw@host.example/x.git: 403", "fatal: https://***@host.example/x.git: 403"),
        ("https://token@host.example/x", "https://***@host.example/x"),
        ("unable to access 'https://host.example/x?key=1': no", "unable to access 'https://host.example/x': no"),
        ("mail to a@b.example", "mail to a@b.example"),
    ],
)
def test_addresses_are_shown_without_what_is_secret_in_them(text, shown):
    assert redacted(text) == shown


def test_an_edit_in_the_way_keeps_it_from_being_pushed(world, work):
    new, old = work
    write(world.root, {"src/app.py": "mine\n"})
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED and not land.may_have_landed and "src/app.py" in land.reason
    assert world.there() == world.git.main() == old


def test_an_edit_that_came_after_the_push_waits_and_is_kept(world, work, monkeypatch):
    new, old = work
    push = remote.Remote.push

    def slowly(self, *arguments):
        said = push(self, *arguments)
        write(world.root, {"src/app.py": "mine\n"})
        return said

    monkeypatch.setattr(remote.Remote, "push", slowly)
    for _ in range(2):
        land = world.git.land(new, old)
        assert land.landing is Landing.BLOCKED and land.may_have_landed and "src/app.py" in land.reason
    assert world.there() == new and world.git.main() == old
    assert (world.root / "src" / "app.py").read_text() == "mine\n"
    world.sh("git", "stash", "-q")
    assert world.git.land(new, old).landing is Landing.MOVED and world.git.main() == new


def test_a_persons_commits_are_not_pushed_for_them(world, work):
    new, old = work
    write(world.root, {"mine": "mine\n"})
    world.sh("git", "add", "mine")
    world.sh("git", "commit", "-qm", "Mine", env=ME)
    mine = world.git.main()
    assert "has commits that the remote lacks" in waits(world, world.git.catch_up(), mine)
    assert world.git.land(new, old).landing is Landing.LOST
    assert world.there() == old
    world.sh("git", "push", "-q", "origin", "main")
    assert world.git.catch_up().landing is Landing.MOVED


def test_histories_that_parted_wait_for_a_person(world):
    theirs = world.commit_at_remote({"other": "o\n"})
    world.sh("git", "commit", "-q", "--allow-empty", "-m", "Mine", env=ME)
    mine = world.git.main()
    assert "have diverged" in waits(world, world.git.catch_up(), mine)
    world.sh("git", "-c", "rebase.backend=merge", "pull", "-q", "--rebase", "origin", "main", env=ME)
    world.sh("git", "push", "-q", "origin", "main")
    assert world.git.catch_up().landing is Landing.MOVED and world.git.contains(theirs, world.git.main())


def test_a_commit_here_while_it_was_pushed_is_kept_and_waits(world, work, monkeypatch):
    new, old = work
    push = remote.Remote.push

    def slowly(self, *arguments):
        said = push(self, *arguments)
        world.sh("git", "commit", "-q", "--allow-empty", "-m", "Mine", env=ME)
        return said

    monkeypatch.setattr(remote.Remote, "push", slowly)
    land = world.git.land(new, old)
    mine = world.sh("git", "rev-parse", "main").strip()
    assert "have diverged" in waits(world, land, mine) and land.may_have_landed
    world.sh("git", "pull", "-q", "--rebase", "origin", "main", env=ME)
    assert world.git.land(new, old).landing is Landing.MOVED, "it is on main here as well"


def test_what_is_fetched_moves_no_ref_of_the_human(world):
    world.sh("git", "fetch", "-q", "origin")
    before = world.sh("git", "for-each-ref", "refs/remotes", "refs/tags")
    world.commit_at_remote({"other": "o\n"})
    sh(world.remote, "git", "tag", "theirs", "main")
    assert world.git.catch_up().landing is Landing.MOVED
    assert world.sh("git", "for-each-ref", "refs/remotes", "refs/tags") == before


def test_a_remote_with_two_addresses_decides_nothing(world, work, tmp_path):
    new, old = work
    world.sh("git", "remote", "set-url", "--add", "--push", "origin", str(world.remote))
    world.sh("git", "remote", "set-url", "--add", "--push", "origin", str(tmp_path / "second.git"))
    assert "2 addresses" in waits(world, world.git.land(new, old), old)
    assert world.there() == old


def test_a_branch_that_is_not_there_is_not_made(world):
    git = Repository(world.paths, "main", Shared("origin", "trunk", 30.0))
    assert "trunk" in waits(world, git.catch_up(), world.git.main())
    assert "trunk" not in sh(world.remote, "git", "branch")


def test_only_main_is_pushed(world, work):
    new, old = work
    world.sh("git", "tag", "-am", "t", "mine", "main", env=ME)
    world.sh("git", "config", "push.followTags", "true")
    world.sh("git", "branch", "mine")
    assert world.git.land(new, old).landing is Landing.MOVED
    assert sh(world.remote, "git", "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


def test_no_hook_of_the_human_is_run_by_a_push(world, work, tmp_path):
    new, old = work
    path = world.root / ".git" / "hooks" / "pre-push"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran; exit 1\n")
    path.chmod(0o755)
    assert world.git.land(new, old).landing is Landing.MOVED
    assert not (tmp_path / "ran").exists()


def test_committed_files_are_pushed(world):
    made = world.git.commit_files({"beads.jsonl": b"{}\n"}, message())
    assert made == world.git.main() == world.there()
    hook(world, "pre-receive", "exit 1")
    with pytest.raises(GitFailed, match="is on your local main, but origin/main rejected it"):
        world.git.commit_files({"beads.jsonl": b"{1}\n"}, message())
    assert world.git.main() != made and world.there() == made
    with pytest.raises(GitFailed, match="nothing was committed"):
        world.git.commit_files({"beads.jsonl": b"{2}\n"}, message())


def test_a_killed_push_may_land_later_and_is_then_found(world, work):
    """A push that outlives the daemon: who asks again finds it, whichever of the two arrives first."""
    new, old = work
    hook(world, "pre-receive", "sleep 0.5")
    pushes = ["git", "push", "-q", str(world.remote), f"{new}:refs/heads/main"]
    first = threading.Thread(target=lambda: subprocess.run(pushes, cwd=world.root, capture_output=True))
    first.start()
    try:
        land = world.git.land(new, old)
        assert land.landing is Landing.MOVED or land.may_have_landed or world.there() == old
    finally:
        first.join()
    assert world.git.land(new, old).landing is Landing.MOVED
    assert world.there() == world.git.main() == new


def test_nothing_is_pushed_from_a_repository_that_was_replaced(world, work, monkeypatch):
    new, old = work
    monkeypatch.setattr(world.git.place, "in_place", Mock(side_effect=RepositoryReplaced("a copy lies there")))
    with pytest.raises(RepositoryReplaced):
        world.git.land(new, old)
    assert (world.there(), world.git.main()) == (old, old)
