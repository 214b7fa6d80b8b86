"""Every kind of file object in the place of a file that an agent owns: no reader waits, follows, fails or reads it."""

import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from nobrakes import files, walking
from nobrakes.errors import Tampered
from nobrakes.git.workspaces import salvage
from nobrakes.host import channel as door
from nobrakes.host import watching
from nobrakes.host.runs.wrapper import Outputs, ending, read
from nobrakes.sessions.service.viewing import follow
from nobrakes.walking import read_inside
from tests.support.without_root import without_roots_rights

SECRET = b"secret"


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("a device needs root")


def _closed(path: Path) -> None:
    path.write_bytes(SECRET)
    path.chmod(0)


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "folder": lambda path, secret: path.mkdir(),
    "pipe": lambda path, secret: os.mkfifo(path),
    "socket": lambda path, secret: _socket(path),
    "device": lambda path, secret: _device(path),
    "a link to a secret": lambda path, secret: path.symlink_to(secret),
    "a link to nothing": lambda path, secret: path.symlink_to("/nowhere"),
    "a loop": lambda path, secret: path.symlink_to(path.name),
    "closed": lambda path, secret: _closed(path),
    "a second name": lambda path, secret: os.link(secret, path),
    "nothing": lambda path, secret: None,
}


@pytest.fixture(params=KINDS)
def laid(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Lays the object down at a path below the state of nobrakes; what is closed is closed for root as well."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)

    def lay(where: str) -> Path:
        path = tmp_path / ".nobrakes" / where
        path.parent.mkdir(parents=True, exist_ok=True)
        KINDS[request.param](path, secret)
        return path

    with without_roots_rights() if request.param == "closed" else nullcontext():
        yield lay


def test_a_hand_off_or_an_output_is_empty_then(laid: Callable[[str], Path]) -> None:
    path = str(laid("runs/1-agent/own/handoff.md"))
    assert files.read_tail(path, 100) == b""
    assert Outputs().output(path, 100) == "" and Outputs().head(path, 100) == b""
    assert list(follow(path)) == []


def test_an_exit_code_is_unknown_then(laid: Callable[[str], Path]) -> None:
    folder = laid("runs/1-agent/agent.exit").parent
    (folder / "agent.start").write_text("\n")
    assert ending(str(folder), ["agent"]).steps[0].code is None


def test_a_request_is_none_then(laid: Callable[[str], Path]) -> None:
    path = laid("doors/1-agent/in/1-1-1.json")
    assert [content for _, content in door.requests(str(path.parent.parent))] in ([], [None])


def test_a_ref_is_none_and_objects_borrowed_by_it_are_refused(laid: Callable[[str], Path]) -> None:
    path = laid("workspaces/b/.git/objects/info/alternates")
    clone = str(path.parents[3])
    assert read_inside(clone, ".git/objects/info/alternates", 100) is None
    if os.path.lexists(path):
        with pytest.raises(Tampered):
            salvage.objects_folder(clone, SECRET.decode())


def test_a_diary_and_a_report_are_none_then(laid: Callable[[str], Path]) -> None:
    folder = laid("agents/codex/b/one.jsonl").parent
    assert not any(watching.appended(str(folder), "*.jsonl", 0.0, {}, 100).values())
    assert read(str(folder), ".", "*.jsonl", 0.0).texts == ()


@pytest.mark.parametrize("where", ["runs/1-agent", "runs/1-agent/own"])
def test_no_link_is_followed_on_the_way(tmp_path: Path, where: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "own").mkdir(parents=True)
    for name in ("handoff.md", "own/handoff.md"):
        (elsewhere / name).write_bytes(SECRET)
    link = tmp_path / ".nobrakes" / where
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert files.read_tail(str(tmp_path / ".nobrakes/runs/1-agent/own/handoff.md"), 100) == b""


def test_a_person_may_have_put_a_folder_of_the_state_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "disk" / "1-agent").mkdir(parents=True)
    (tmp_path / "disk" / "1-agent" / "agent.out").write_bytes(b"said")
    (tmp_path / ".nobrakes").mkdir()
    (tmp_path / ".nobrakes" / "runs").symlink_to(tmp_path / "disk")
    assert files.read_tail(str(tmp_path / ".nobrakes/runs/1-agent/agent.out"), 100) == b"said"


def test_a_giant_is_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "giant"
    path.touch()
    os.truncate(path, 900 * 2**30)
    assert len(files.read_tail(str(path), 1000)) == 1000


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE])
def test_what_the_machine_lacks_is_no_agents_doing(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"said")

    def fails(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(walking.os, "open", fails)
    with pytest.raises(OSError):
        files.read_tail(str(tmp_path / "file"), 100)


def test_what_is_ours_is_not_written_where_a_link_leads(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    (tmp_path / "stop").symlink_to(secret)
    with pytest.raises(OSError):
        files.write_private(str(tmp_path / "stop"), b"")
    assert secret.read_bytes() == SECRET
