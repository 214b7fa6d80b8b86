"""Every cause of a wait, provoked with real git: what is told is that cause, and it says what ends it."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from git_worlds import SharedWorld, message

from nobrakes.errors import GitFailed
from nobrakes.git.port import Land, Landing
from nobrakes.review.waits import WAITS, Cause


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SharedWorld]:
    made = SharedWorld(tmp_path, checked_out=True)
    yield made
    made.close()


def landed(world: SharedWorld, begin: Callable[[], object], provoke: Callable[[SharedWorld], None]) -> Land:
    """What comes of landing work after `provoke`; main is nowhere else then."""
    head = world.commit_in_workspace(begin(), {"src/app.py": "one = 2\n", "src/new.py": "new\n"})
    world.git.take_in(begin(), 1)
    old = world.git.main()
    new = world.git.squash(old, head, message()).commit
    provoke(world)
    land = world.git.catch_up()
    land = world.git.land(new, old) if land.landing is Landing.MOVED else land
    assert land.landing is Landing.BLOCKED and not world.git.contains(new, world.git.main())
    return land


def hook(words: str, name: str = "pre-receive") -> Callable[[SharedWorld], None]:
    """A remote that prints this and takes nothing."""

    def refuses(world: SharedWorld) -> None:
        path = world.remote / "hooks" / name
        path.write_text(f"#!/bin/sh\ncat >&2 <<'X'\n{words}\nX\nexit 1\n")
        path.chmod(0o755)

    return refuses


def set_there(**settings: str) -> Callable[[SharedWorld], None]:
    def sets(world: SharedWorld) -> None:
        for name, value in settings.items():
            subprocess.run(["git", "config", name.replace("_", "."), value], cwd=world.remote, check=True)

    return sets


def at(address: str) -> Callable[[SharedWorld], None]:
    """The remote has this address."""
    return lambda world: world.sh("git", "remote", "set-url", "origin", address) and None


def by_ssh(words: str) -> Callable[[SharedWorld], None]:
    """A remote that is reached by an ssh that prints this and ends."""

    def goes(world: SharedWorld) -> None:
        folder = world.remote.parent / "bin"
        folder.mkdir()
        (folder / "ssh").write_text(f"#!/bin/sh\ncat >&2 <<'X'\n{words}\nX\nexit 255\n")
        (folder / "ssh").chmod(0o755)
        world.sh("git", "config", "core.sshCommand", f"{folder}/ssh")
        world.sh("git", "remote", "set-url", "origin", "git@example.invalid:a/b.git")

    return goes


def locked_there(world: SharedWorld) -> None:
    (world.remote / "refs" / "heads" / "main.lock").touch()


def nothing_is_stored(world: SharedWorld) -> None:
    """A file lies where the remote makes its folders of new objects."""
    subprocess.run(["git", "config", "receive.unpackLimit", "1"], cwd=world.remote, check=True)
    shutil.move(world.remote / "objects" / "pack", world.remote / "away")
    (world.remote / "objects" / "pack").write_text("no folder")


def branch_is_gone(world: SharedWorld) -> None:
    subprocess.run(["git", "update-ref", "-d", "refs/heads/main"], cwd=world.remote, check=True)


def edited(world: SharedWorld) -> None:
    (world.root / "src" / "app.py").write_text("mine\n")


def untracked(world: SharedWorld) -> None:
    (world.root / "src" / "new.py").write_text("mine\n")


def merging(world: SharedWorld) -> None:
    (world.root / ".git" / "MERGE_HEAD").write_text(f"{world.git.main()}\n")


def index_is_locked(world: SharedWorld) -> None:
    (world.root / ".git" / "index.lock").touch()


def lock_is_old(world: SharedWorld) -> None:
    index_is_locked(world)
    os.utime(world.root / ".git" / "index.lock", (1, 1))


def filter_fails(world: SharedWorld) -> None:
    (world.root / ".git" / "info").mkdir(exist_ok=True)
    (world.root / ".git" / "info" / "attributes").write_text("*.py filter=own\n")
    for name, value in (("smudge", "false"), ("required", "true")):
        world.sh("git", "config", f"filter.own.{name}", value)


def smudge_fails(world: SharedWorld) -> None:
    """Only the files that come are written by it."""
    filter_fails(world)
    world.sh("git", "config", "filter.own.clean", "cat")


def ref_is_locked(world: SharedWorld) -> None:
    (world.root / ".git" / "refs" / "heads" / "main.lock").touch()


def ref_lock_is_old(world: SharedWorld) -> None:
    ref_is_locked(world)
    os.utime(world.root / ".git" / "refs" / "heads" / "main.lock", (1, 1))


def no_ssh(world: SharedWorld) -> None:
    world.sh("git", "config", "core.sshCommand", "/nowhere/ssh")
    world.sh("git", "remote", "set-url", "origin", "git@example.invalid:a/b.git")


def index_is_broken(world: SharedWorld) -> None:
    path = world.root / ".git" / "index"
    path.write_bytes(b"DIRC" + b"\0" * 40)


def several_addresses(world: SharedWorld) -> None:
    world.sh("git", "remote", "set-url", "--add", "origin", str(world.remote))


def commits_of_mine(world: SharedWorld) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    world.sh("git", *who, "commit", "-q", "--allow-empty", "-m", "Mine")


ROWS: dict[str, tuple[Callable[[SharedWorld], None], Cause]] = {
    "GH006": (hook("error: GH006: Protected branch update failed for refs/heads/main."), Cause.PROTECTED),
    "GH013": (hook("error: GH013: Repository rule violations found for refs/heads/main."), Cause.PROTECTED),
    "GH013 signed": (hook("error: GH013: x\n- Commits must have verified signatures."), Cause.SIGNATURES),
    "GH001": (hook("error: GH001: Large files detected."), Cause.CONTENT),
    "GH008": (hook("error: GH008: Your push referenced at least 1 unknown Git LFS object:"), Cause.STORED),
    "quota": (hook("GitLab: Your push to this repository would exceed its storage limit of 5 GiB"), Cause.REMOTE_DISK),
    "outage": (hook("GitLab: Internal API unreachable"), Cause.SILENT),
    "a hook": (hook("ticket number missing"), Cause.HOOK),
    "a silent hook": (hook("", "update"), Cause.HOOK),
    "checked out there": (set_there(core_bare="false", receive_denyCurrentBranch="refuse"), Cause.PROTECTED),
    "too large": (set_there(receive_maxInputSize="10"), Cause.CONTENT),
    "nothing is stored": (nothing_is_stored, Cause.REMOTE_FAULT),
    "locked there": (locked_there, Cause.REMOTE_LOCK),
    "no such path": (at("/nowhere/at/all.git"), Cause.MISSING),
    "no such branch": (branch_is_gone, Cause.MISSING),
    "nobody listens": (at("http://127.0.0.1:9/x.git"), Cause.SILENT),
    "no such helper": (at("strange://x/y.git"), Cause.PROGRAM),
    "host key": (by_ssh("Host key verification failed."), Cause.TRUST),
    "public key": (by_ssh("git@example.invalid: Permission denied (publickey)."), Cause.ACCESS),
    "too many keys": (by_ssh("Received disconnect from 192.0.2.1: Too many authentication failures"), Cause.ACCESS),
    "not found": (by_ssh("ERROR: Repository not found."), Cause.MISSING),
    "archived": (by_ssh("ERROR: This repository was archived so it is read-only."), Cause.PROTECTED),
    "refused": (by_ssh("ssh: connect to host example.invalid port 22: Connection refused"), Cause.SILENT),
    "edits": (edited, Cause.EDITS),
    "untracked": (untracked, Cause.UNTRACKED),
    "a merge": (merging, Cause.UNDER_WAY),
    "index.lock": (index_is_locked, Cause.LOCK),
    "an old index.lock": (lock_is_old, Cause.OLD_LOCK),
    "a filter": (filter_fails, Cause.FILTER),
    "a filter of what comes": (smudge_fails, Cause.FILTER),
    "a ref lock": (ref_is_locked, Cause.LOCK),
    "an old ref lock": (ref_lock_is_old, Cause.OLD_LOCK),
    "no ssh": (no_ssh, Cause.PROGRAM),
    "a broken index": (index_is_broken, Cause.DAMAGED),
    "two addresses": (several_addresses, Cause.ADDRESSES),
    "commits here": (commits_of_mine, Cause.AHEAD),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_wait_is_told_by_its_cause_with_what_ends_it(world: SharedWorld, begin, row: str) -> None:
    provoke, cause = ROWS[row]
    land = landed(world, begin, provoke)
    assert land.cause is cause, land.reason
    assert not WAITS[cause].remedy or WAITS[cause].remedy.partition("`")[0][:40] in land.reason, land.reason
    assert (land.patience > 0) is (WAITS[cause].passes > 0)


@pytest.mark.parametrize(
    ("status", "cause"),
    [(401, Cause.ACCESS), (403, Cause.ACCESS), (404, Cause.MISSING), (429, Cause.SILENT), (503, Cause.SILENT)],
)
def test_what_a_web_server_answers(world: SharedWorld, begin, status: int, cause: Cause) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        land = landed(world, begin, at(f"http://127.0.0.1:{server.server_port}/x.git"))
        server.shutdown()
    assert land.cause is cause, land.reason


def test_a_commit_that_the_remote_refuses_names_the_way_out(world: SharedWorld) -> None:
    hook("error: GH006: Protected branch update failed for refs/heads/main.")(world)
    with pytest.raises(GitFailed) as refused:
        world.git.commit_files({"f": b"f\n"}, message())
    said = f"{refused.value} {refused.value.hint}"
    assert "GH006" in said and "review.land pull_request" in said and "Push main" not in said
