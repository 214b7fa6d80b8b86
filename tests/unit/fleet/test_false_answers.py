"""Answers that no node of ours gives: none ends a command, and a run writes only where it may."""

import errno
import json
import math
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.fleet import on_node, parcel
from nobrakes.programs import NODE_FAILED
from tests.support.liar import entry

TRUE = {"code": None, "out": 0, "err": 0, "alive": ""}
Answers = Callable[[str, int], bytes]
"""From the name of a question, and how often it was asked: the bytes of the answer."""


class Home:
    """One run at home, and a line on which each of its questions gets the given answer."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = folder / "repository"
        self.run = self.root / "runs" / "one"
        for path in (self.run / "own", self.root / "work", self.root / ".git"):
            path.mkdir(parents=True)
        self.answers: Answers = lambda _, __: parcel.message({**TRUE, "code": 0})
        self.lost: list[tuple[str, str]] = []
        self.patch = monkeypatch
        monkeypatch.setattr(on_node, "_lose", self._lose)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"/proc/self/fd/{os.open(self.root, os.O_RDONLY)}/line")
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _lose(self, folder: str, name: str, why: str) -> int:
        self.lost.append((name, why))
        return 125

    def _serve(self) -> None:
        line, counts = self.listener.accept()[0], dict[str, int]()
        while True:
            try:
                asked, _ = parcel.receive(line)
            except (EOFError, OSError):
                return
            call = asked["call"]
            counts[call] = counts.get(call, 0) + 1
            line.sendall(self.answers(call, counts[call]))

    def ends(self, how: str = "", opened: bool = True) -> int:
        spec: dict[str, Any] = {
            "session": "1-agent-1",
            "role": "agent",
            "need": 1,
            "repository": "r",
            "line": str(self.root / "line"),
            "root": str(self.root),
            "place": "work",
            "workspace": str(self.root / "work"),
            "lets_in": ["runs/one/own"],
            "reports": [["", "reports/*.xml"]],
            "channel": "",
            "ships": [],
            "commits": [],
            "git": str(self.root / ".git"),
            "has_all_files": False,
        }
        if opened:
            (self.run / "remote.opened").write_text("node")
        (self.run / "remote.json").write_text(json.dumps(spec))
        return on_node.run([str(self.run / "remote.json"), how, "--", "true"])

    def files(self) -> list[str]:
        """What is in the repository, without the run's own."""
        found = [str(path.relative_to(self.root)) for path in self.root.rglob("*") if not path.is_dir()]
        return sorted(one for one in found if one != "line" and "remote." not in one)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    made = Home(tmp_path, monkeypatch)
    yield made
    made.listener.close()


def exchanging(*answers: bytes) -> Answers:
    return lambda call, count: answers[count - 1] if call == "exchange" else parcel.message({})


def of(body: bytes = b"", **words: Any) -> bytes:
    return parcel.message({**TRUE, **words}, body)


FALSE = {
    "a code in words": of(code="0"),
    "a code of true": of(code=True),
    "a code beyond all": of(code=10**12),
    "a code that is 0 in a byte": of(code=256),
    "a code far below": of(code=-(10**9)),
    "a code that is no number": of(code=math.nan),
    "a code without end": of(code=math.inf),
    "a code in a list": of(code=[0]),
    "less than no output": of(b"abc", out=-1, code=0),
    "more output than there is": of(b"abc", out=10**12, code=0),
    "more errors than there are": of(b"abc", out=2, err=2, code=0),
    "output of a part": of(b"abc", out=0.5, code=0),
    "nothing of it": parcel.message({}),
    "a list": b"\0\0\0\2" + b"\0" * 8 + b"[]",
    "no JSON": b"\0\0\0\2" + b"\0" * 8 + b"}{",
    "far too deep": b"\0\1\0\0" + b"\0" * 8 + b"[" * 65536,
    "too long a header": b"\xff" * 12,
    "too long a body": b"\0\0\0\2" + b"\xff" * 8 + b"{}",
    "a parcel of garbage": of(b"garbage", code=0),
    "a parcel that leads up": of(entry("runs/one/own/../../../out"), code=0),
    "a parcel with another name": of(entry("/etc/nobrakes-was-here"), code=0),
    "a parcel with a lie": of(b'["runs/one/own/a", "file", 420, 10000000]\nx', code=0),
    "a parcel too deep": of(entry("runs/one/own/" + "d/" * 1900 + "end"), code=0),
    "a name that no file has": of(entry("runs/one/own/\ud800"), code=0),
    "a name too long": of(entry("runs/one/own/" + "x" * 300), code=0),
    "a device": of(entry("runs/one/own/null", "device"), code=0),
    "a link to nowhere": of(entry("runs/one/own/link", "link", b"\0"), code=0),
}


@pytest.mark.parametrize("answer", FALSE.values(), ids=FALSE)
def test_a_false_answer_ends_no_command(home: Home, answer: bytes) -> None:
    home.answers = exchanging(answer, of(code=0))
    assert home.ends() == 125
    [(name, why)] = home.lost
    assert name == NODE_FAILED and why.startswith("its answer cannot be used (")
    assert home.files() == []


@pytest.mark.parametrize("known", [b"[" * 100_000, b"7", b"{}", b"no JSON", b"\xff"])
def test_commits_that_are_none_open_no_run(home: Home, known: bytes) -> None:
    home.answers = lambda call, _: parcel.message({"node": "n"}, known)
    assert home.ends(opened=False) == 125
    assert [name for name, _ in home.lost] == [NODE_FAILED]


def test_news_are_written_only_where_the_run_lets_them_in(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "letter").write_text("mine")
    (home.root / "work" / "kept").write_text("mine")
    news = entry("runs/one/own/note") + entry("runs/one/agent.exit", content=b"0") + entry("runs/two/own/note")
    news += entry(".git/config") + entry("work/kept") + entry("work/.git/config") + entry("runs/one/own")
    news += entry("work/reports", "link", str(outside).encode()) + entry("work/reports/.git/one.xml")
    news += entry("runs/one/own/way", "link", str(outside).encode()) + entry("runs/one/own/way/letter")
    home.answers = exchanging(of(news, code=0))
    assert home.ends() == 0 and home.lost == []
    assert home.files() == ["runs/one/own/note", "runs/one/own/way/letter", "work/kept"]
    assert (home.root / "work" / "kept").read_text() == (outside / "letter").read_text() == "mine"


def test_a_report_is_not_written_through_a_link(home: Home, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text("mine")
    (home.root / "work" / "reports").symlink_to(tmp_path)
    home.answers = exchanging(of(entry("work/reports/one.xml", content=b"theirs"), code=0))
    assert home.ends() == 0
    assert (tmp_path / "one.xml").read_text() == "mine"
    assert (home.root / "work" / "reports" / "one.xml").read_text() == "theirs"


def test_collected_work_goes_to_its_workspace_alone(home: Home) -> None:
    parts = entry("work/made") + entry("other/made") + entry(".git/config") + entry("runs/one/pid")
    answers = exchanging(of(code=0))
    home.answers = lambda call, count: (
        parcel.message({"over": True}, parts) if call == "collect" else answers(call, count)
    )
    assert home.ends("last") == 0 and home.lost == []
    assert home.files() == ["work/made"]


def test_work_without_an_end_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "MAX_PARCEL", 3 * parcel.PART)
    answers = exchanging(of(code=0))
    home.answers = lambda call, count: (
        parcel.message({"over": False}, b"x") if call == "collect" else answers(call, count)
    )
    assert home.ends("last") == 125
    assert home.lost == [(NODE_FAILED, "its answer cannot be used (Broken: the work of the run is too large)")]


def test_work_of_too_many_entries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "MAX_ENTRIES", 100)
    assert len(list(parcel.entries(entry("a") * 100))) == 100
    with pytest.raises(parcel.Broken):
        list(parcel.entries(entry("a") * 101))


def test_a_full_disk_at_home_ends_no_command(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(parcel, "write", full)
    home.answers = exchanging(of(entry("runs/one/own/note"), code=0))
    assert home.ends() == 125
    [(name, why)] = home.lost
    assert name == NODE_FAILED and "No space left on device" in why
