"""Every cause of a wait, provoked with real git: what is told is that cause, and it says what ends it."""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from git_worlds import SharedWorld, message

from nobrakes.errors import GitFailed
from nobrakes.review.waits import WAITS, Cause, Land, Landing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SharedWorld]:
    made = SharedWorld(tmp_path, checked_out=True)
    yield made
    made.close()


def landed(world: SharedWorld, begin: Callable[[], object], provoke: Callable[[SharedWorld], None]) -> Land:
    """What comes of landing work after `provoke`; main is nowhere else then."""
    head = world.commit_in_workspace(begin(), {"src/app.py": "one = 2\n", "src/new.py": "new\n"})
    world.git.fetch_work(begin(), 1)
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
    subprocess.run(["git", "branch", "-m", "main", "other"], cwd=world.remote, check=True)


def nothing_is_pushed_there(world: SharedWorld) -> None:
    """A new remote."""
    shutil.rmtree(world.remote)
    world.sh("git", "init", "-q", "--bare", str(world.remote))


def hides_main_from_who_pushes(world: SharedWorld) -> None:
    set_there(receive_hideRefs="refs/heads")(world)


def pushed_elsewhere(world: SharedWorld) -> None:
    """Pushes go to a copy, whose main is an older one."""
    other = world.remote.parent / "other.git"
    shutil.copytree(world.remote, other)
    world.sh("git", "remote", "set-url", "--push", "origin", str(other))
    tree = world.sh("git", "rev-parse", "main^{tree}").strip()
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    commit = world.sh("git", *who, "commit-tree", "-m", "Other", tree).strip()
    world.sh("git", "push", "-q", "--force", str(other), f"{commit}:refs/heads/main")


def config_is_broken_there(world: SharedWorld) -> None:
    (world.remote / "config").write_text("[core\nx")


def objects_are_gone_there(world: SharedWorld) -> None:
    for path in (world.remote / "objects").rglob("*"):
        if path.is_file():
            path.unlink()


def hook_cannot_run(world: SharedWorld) -> None:
    hook("")(world)
    (world.remote / "hooks" / "pre-receive").write_text("#!/no/such\n")


def hook_is_killed(world: SharedWorld) -> None:
    hook("")(world)
    (world.remote / "hooks" / "pre-receive").write_text("#!/bin/sh\nkill -9 $$\n")


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
    "no branch at all": (nothing_is_pushed_there, Cause.EMPTY),
    "nobody listens": (at("http://127.0.0.1:9/x.git"), Cause.SILENT),
    "no such helper": (at("strange://x/y.git"), Cause.PROGRAM),
    "host key": (by_ssh("Host key verification failed."), Cause.TRUST),
    "public key": (by_ssh("git@example.invalid: Permission denied (publickey)."), Cause.ACCESS),
    "too many keys": (by_ssh("Received disconnect from 192.0.2.1: Too many authentication failures"), Cause.ACCESS),
    "not found": (by_ssh("ERROR: Repository not found."), Cause.MISSING),
    "archived": (by_ssh("ERROR: This repository was archived so it is read-only."), Cause.PROTECTED),
    "refused": (by_ssh("ssh: connect to host example.invalid port 22: Connection refused"), Cause.SILENT),
    "hidden": (hides_main_from_who_pushes, Cause.PROTECTED),
    "pushed elsewhere": (pushed_elsewhere, Cause.ADDRESSES),
    "broken there": (config_is_broken_there, Cause.REMOTE_FAULT),
    "a newer repository": (set_there(core_repositoryFormatVersion="99"), Cause.REMOTE_FAULT),
    "objects gone there": (objects_are_gone_there, Cause.REMOTE_FAULT),
    "a hook that cannot run": (hook_cannot_run, Cause.REMOTE_FAULT),
    "a hook that is killed": (hook_is_killed, Cause.REMOTE_FAULT),
    "no address": (at(""), Cause.MISSING),
    "no protocol": (at("git://127.0.0.1:9/x.git"), Cause.SILENT),
    "other words": (by_ssh("words that no row knows"), Cause.REMOTE_FAULT),
    "no words": (by_ssh(""), Cause.SILENT),
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
    assert (land.timeout > 0) is (WAITS[cause].passes > 0)


def test_a_new_remote_is_told_with_what_brings_it_main(world: SharedWorld, begin) -> None:
    land = landed(world, begin, nothing_is_pushed_there)
    (push,) = re.findall("`(git push .*?)`", land.reason)
    world.sh(*push.split())
    assert world.git.catch_up().landing is Landing.MOVED


ONE_LINE, PAGE = b"<html>Log in</html>", b"<html>\n<title>Log in</title>\n</html>\n"
STATUSES = [(200, Cause.NOT_GIT), (204, Cause.NOT_GIT), (301, Cause.MISSING), (401, Cause.ACCESS)]
STATUSES += [(402, Cause.ACCESS), (403, Cause.ACCESS), (404, Cause.MISSING), (405, Cause.NOT_GIT)]
STATUSES += [(410, Cause.MISSING), (413, Cause.REMOTE_FAULT), (429, Cause.SILENT), (451, Cause.REMOTE_FAULT)]
STATUSES += [(500, Cause.SILENT), (503, Cause.SILENT), (507, Cause.REMOTE_FAULT), (511, Cause.NOT_GIT)]


@contextmanager
def web_server(status: int, page: bytes = ONE_LINE) -> Iterator[int]:
    """A port where this is answered."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Location", self.path)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(("status", "cause"), STATUSES)
def test_what_a_web_server_answers(world: SharedWorld, begin, status: int, cause: Cause) -> None:
    with web_server(status) as port:
        land = landed(world, begin, at(f"http://127.0.0.1:{port}/x.git"))
    assert land.cause is cause, land.reason


def test_a_page_in_place_of_git_is_told(world: SharedWorld, begin) -> None:
    with web_server(200, PAGE) as port:
        land = landed(world, begin, at(f"http://127.0.0.1:{port}/x.git"))
    assert land.cause is Cause.NOT_GIT and "network or proxy" in land.reason, land.reason


def test_an_address_for_encrypted_git_where_plain_pages_are_served(world: SharedWorld, begin) -> None:
    with web_server(200) as port:
        land = landed(world, begin, at(f"https://127.0.0.1:{port}/x.git"))
    assert land.cause is Cause.NOT_GIT, land.reason


def test_a_commit_that_the_remote_refuses_names_the_way_out(world: SharedWorld) -> None:
    hook("error: GH006: Protected branch update failed for refs/heads/main.")(world)
    with pytest.raises(GitFailed) as refused:
        world.git.commit_files({"f": b"f\n"}, message())
    said = f"{refused.value} {refused.value.hint}"
    assert "GH006" in said and "review.land pull_request" in said and "Push main" not in said
