"""How a run on a node ends when the node, or this machine, cannot do its part; and how much a node sends at once."""

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.fleet import node, on_node, parcel
from nobrakes.host.confine import Confined
from nobrakes.programs import NODE_FAILED, NODE_LOST

MB = 1 << 20


def raising(error: Exception) -> Callable[..., int]:
    def run(*_: object) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (on_node.Lost("the node n1 does not answer"), NODE_LOST),
        (on_node.Failed("DiskFull: the disk is full"), NODE_FAILED),
        (OSError(28, "No space left on device"), NODE_FAILED),
        (parcel.Broken("a message is not JSON"), NODE_FAILED),
        (KeyError("code"), NODE_FAILED),
        (TypeError("int() argument must be a string"), NODE_FAILED),
        (ValueError("invalid literal for int()"), NODE_FAILED),
    ],
)
def test_what_is_no_answer_ends_the_wrapper_and_not_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, name: str
) -> None:
    """The wrapper would write an exit code down, and that would count against the bead."""
    wrapper = subprocess.Popen(["sleep", "60"])
    (tmp_path / "pid").write_text(f"{wrapper.pid}\n")
    (tmp_path / "remote.json").write_text(json.dumps({"session": "one-1", "line": "line"}))
    monkeypatch.setattr(on_node.Remote, "run", raising(error))
    try:
        on_node.run([str(tmp_path / "remote.json"), "", "--", "true"])
        assert wrapper.wait(10) == -signal.SIGKILL
    finally:
        wrapper.kill()
    assert [one.name for one in tmp_path.glob("remote.*") if one.suffix != ".json"] == [name]
    assert (tmp_path / name).read_text().strip()


def test_a_command_that_a_node_refuses_ends_as_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "remote.json").write_text(json.dumps({"session": "one-1", "line": "line"}))
    monkeypatch.setattr(on_node.Remote, "run", raising(on_node.Refused("its input has more than 48 MB")))
    assert on_node.run([str(tmp_path / "remote.json"), "", "--", "true"]) == 125
    assert "nobrakes cannot run this on a node: its input has more than 48 MB" in capfd.readouterr().err
    assert not list(tmp_path.glob("remote.[lf]*"))


class Mirror(node.Session):
    """A session with one folder that is the same at home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec: dict[str, Any] = {}
        self.mirrored: dict[str, dict[str, tuple[int, ...]]] = {}

    def _mirrors(self) -> list[tuple[str, str]]:
        return [("agents/claude", str(self.folder))]


def test_a_node_sends_large_folders_in_parts_and_nothing_twice(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here / "deep", there):
        folder.mkdir(parents=True)
    for number in range(9):
        (here / "deep" / f"log{number}").write_bytes(bytes([number]) * (5 * MB))
    (here / "too large").write_bytes(b"x" * (13 * MB))
    session, is_more, answers = Mirror(here), True, []
    while is_more:
        part, is_more = session._changes(is_all=True)
        assert len(part) < 13 * MB
        answers.append(part)
    parcel.unpack(str(there), b"".join(answers))
    sent = [path for part in answers for path, *_ in parcel.entries(part)]
    assert len(answers) == 5 and len(sent) == len(set(sent))
    copied = there / "agents" / "claude"
    assert sorted(one.name for one in copied.rglob("log*")) == [f"log{number}" for number in range(9)]
    assert not (copied / "too large").exists()
    assert session._changes(is_all=True) == (b"", False)
    (here / "deep" / "log3").write_bytes(b"new")
    part, is_more = session._changes(is_all=True)
    assert [path for path, *_ in parcel.entries(part)] == ["agents/claude/deep/log3"] and not is_more


class Inbox(Mirror):
    """A session whose folder is that of its agent's requests."""

    def _mirrors(self) -> list[tuple[str, str]]:
        return [("channel/in", str(self.folder))]


def test_a_request_that_comes_while_others_are_taken_is_sent_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").write_text("1")

    def remove(path: str) -> None:
        os.remove(path)
        (tmp_path / "two").write_text("2")

    session, sent = Inbox(tmp_path), []
    monkeypatch.setattr(node.os, "unlink", remove)
    sent.append(session._changes(is_all=False)[0])
    monkeypatch.undo()
    sent += [session._changes(is_all=False)[0] for _ in range(2)]
    assert [[path for path, *_ in parcel.entries(part)] for part in sent] == [
        ["channel/in/one"],
        ["channel/in/two"],
        [],
    ]


class Silent(node.Session):
    """A session whose only command says nothing until `has_updates`."""

    def __init__(self, folder: Path) -> None:
        self.callers: dict[str, node.Caller] = {}
        self.top = str(folder)
        self.answering, self.asked_at = 0, node._now()
        self.closed = threading.Event()
        self.inboxes = [str(folder)]
        self.command = SimpleNamespace(has_updates=False)
        self.executions: dict[str, Any] = {"1": self.command}

    def updates(self, number: str) -> tuple[dict[str, Any], bytes]:
        return {"code": None}, b""


def test_silent_commands_hold_no_thread_of_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own pool has six threads on two CPUs, and a node many more runs."""
    session = Silent(tmp_path)
    monkeypatch.setattr(node, "SESSIONS", {"one": session})

    def ask(caller: str, call: str = "exchange") -> "asyncio.Task[tuple[str, bytes]]":
        words = {"caller": caller, "number": "1", "wait": 5.0} if call == "exchange" else {"caller": caller}
        return asyncio.create_task(node.ask("one", call, json.dumps(words), b""))

    async def story() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        waiting = [ask(f"silent {number}") for number in range(8)]
        assert await asyncio.wait_for(ask("other", "close"), 2.0) == ("{}", b"")
        assert not any(one.done() for one in waiting)
        (tmp_path / "request").touch()
        assert await asyncio.wait_for(waiting[0], 2.0) == ('{"code": null}', b"")
        session.command.has_updates = True
        await asyncio.wait_for(asyncio.gather(*waiting), 2.0)

    asyncio.run(story())


class Checkout(node.Session):
    """A session with a workspace alone, whose git runs without a sandbox."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec: dict[str, Any] = {"workspace": "w", "place": "work", "reports": [["one", "*.xml"], ["two", "*.xml"]]}

    def here(self, text: str) -> str:
        return str(self.folder)

    def _confined(self, environment: Mapping[str, str]) -> Confined:
        return Confined()


def test_result_files_that_are_too_large_together_are_refused_before_they_are_read(tmp_path: Path) -> None:
    for path, size in (("one/a.xml", 11 * MB), ("two/b.xml", 11 * MB), ("two/c.txt", 11 * MB)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        with (tmp_path / path).open("wb") as file:
            file.truncate(size)
    found = list(parcel.entries(Checkout(tmp_path)._reports(0)))
    assert [(path, len(content)) for path, _, _, content in found] == [
        ("work/one/a.xml", 11 * MB),
        ("work/two/b.xml", 11 * MB),
    ]
    with (tmp_path / "two" / "d.xml").open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(ValueError, match="the result files of the checks have more than 24 MB"):
        Checkout(tmp_path)._reports(0)


def test_a_workspace_whose_ignored_files_git_cannot_list_is_not_sent_whole(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("built\n")
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "one").write_text("1")
    assert Checkout(tmp_path)._ignored(str(tmp_path)) == ["built"]
    (tmp_path / ".git" / "config").write_text("[broken")
    with pytest.raises(ValueError, match=r"git cannot list the ignored files of the workspace: .*bad config"):
        Checkout(tmp_path)._ignored(str(tmp_path))
