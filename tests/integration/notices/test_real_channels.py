"""Channels as they are: a process a message, servers that are slow, refuse, dribble or die, and programs of a person."""

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.config.sections import ChannelSettings, NotifySettings
from nobrakes.config.user import keep, secrets_path
from nobrakes.host.messages import ChildChannels
from nobrakes.notices.model import Message, NoticeKind, Sent, Severity
from tests.support.notice_servers import mail_server, webhook

SAID = Message("nobrakes project: a1 merged", "it is merged", NoticeKind.MERGED, Severity.INFO, 1.0, "a1")

Send = Callable[..., Sent]


@pytest.fixture
def send() -> Send:
    def through(channel: ChannelSettings, seconds: float = 20.0, message: Message = SAID) -> Sent:
        settings = NotifySettings(channels={"c": channel}, send_seconds=seconds)
        assert settings.mistakes() == []
        channels = ChildChannels(lambda: settings, "/nowhere")
        ended = threading.Event()
        channels.wakes(ended.set)
        channels.begin("c", 7, message)
        assert channels.is_busy("c")
        assert ended.wait(60)
        (sent,) = channels.ended()
        assert not channels.is_busy("c") and (sent.channel, sent.delivery) == ("c", 7)
        return sent

    return through


def hook(port: int, **more: str) -> ChannelSettings:
    return ChannelSettings(type="webhook", url=f"http://127.0.0.1:{port}/x", **more)  # type: ignore[arg-type]


def test_a_webhook_gets_the_message_and_the_token(send: Send) -> None:
    keep("token", "s3cr3t-token-of-mine")
    with webhook() as kept:
        assert send(hook(kept.port, secret="token")).error == ""
    (got,) = kept.messages
    assert (got["title"], got["text"], got["kind"], got["bead"]) == (SAID.title, SAID.text, "merged", "a1")
    assert "Authorization: Bearer s3cr3t-token-of-mine" in got["headers"]


@pytest.mark.parametrize(
    ("trouble", "said"), [("refuses", "500"), ("dies", "closed the connection|reached"), ("redirects", "307")]
)
def test_a_webhook_that_does_not_take_it_says_why_and_no_secret(send: Send, trouble: str, said: str) -> None:
    with webhook(trouble) as kept:
        keep("where", f"http://127.0.0.1:{kept.port}/s3cr3t-path")
        error = send(ChannelSettings(type="webhook", secret="where")).error
    assert any(word in error for word in said.split("|")), error
    assert "s3cr3t" not in error and str(kept.port) not in error


@pytest.mark.parametrize("trouble", ["hangs", "dribbles"])
def test_what_hangs_or_dribbles_is_ended(send: Send, trouble: str) -> None:
    with webhook(trouble) as kept:
        began = time.monotonic()
        assert "too long" in send(hook(kept.port), seconds=1.5).error
        assert time.monotonic() - began < 10 and kept.connections == 1


def test_nobody_listens(send: Send) -> None:
    with webhook() as kept:
        port = kept.port
    assert "refused" in send(hook(port)).error.lower()


def mail(port: int) -> str:
    return f"mailto://127.0.0.1:{port}?from=nobrakes@example.invalid&to=you@example.invalid&mode=insecure"


def test_apprise_sends_mail(send: Send) -> None:
    pytest.importorskip("apprise")
    with mail_server() as kept:
        keep("mail", mail(kept.port))
        sent = send(ChannelSettings(type="apprise", secret="mail"))
    assert sent.error == "" and "it is merged" in kept.messages[0] and "nobrakes project" in kept.messages[0]


@pytest.mark.parametrize("trouble", ["refuses", "dies"])
def test_a_mail_server_that_does_not_take_it_is_a_failure(send: Send, trouble: str) -> None:
    pytest.importorskip("apprise")
    with mail_server(trouble) as kept:
        keep("mail", mail(kept.port))
        error = send(ChannelSettings(type="apprise", secret="mail")).error
    assert error and "you@example.invalid" not in error and str(kept.port) not in error


@pytest.mark.parametrize("trouble", ["hangs", "dribbles"])
def test_a_mail_server_that_is_slow_is_given_up(send: Send, trouble: str) -> None:
    pytest.importorskip("apprise")
    with mail_server(trouble) as kept:
        keep("mail", mail(kept.port))
        assert "too long" in send(ChannelSettings(type="apprise", secret="mail"), seconds=4).error
        assert kept.connections == 1


def program(folder: Path, text: str) -> ChannelSettings:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return ChannelSettings(type="command", command=(str(path), "--word"))


def test_a_program_gets_json_on_stdin_and_no_secret_elsewhere(send: Send, tmp_path: Path) -> None:
    keep("key", "s3cr3t-token-of-mine")
    write = f"import json, os, sys\nopen({str(tmp_path / 'out')!r}, 'w').write(json.dumps([sys.argv[1:], dict(os.environ), json.load(sys.stdin)]))"
    channel = program(tmp_path, write)
    settings = ChannelSettings(type="command", command=channel.command, secret="key")
    assert send(settings).error == ""
    argv, environment, said = json.loads((tmp_path / "out").read_text())
    assert argv == ["--word"] and said["text"] == SAID.text and said["secret"] == "s3cr3t-token-of-mine"
    assert "s3cr3t" not in json.dumps([argv, environment]) and not [n for n in environment if n.startswith("NOBRAKES")]


def test_a_program_that_fails_says_why_without_the_secret(send: Send, tmp_path: Path) -> None:
    keep("key", "s3cr3t-token-of-mine")
    fails = program(tmp_path, "import json, sys\nsys.exit('no: ' + json.load(sys.stdin)['secret'])")
    error = send(ChannelSettings(type="command", command=fails.command, secret="key")).error
    assert error.startswith("no:") and "s3cr3t" not in error


def test_a_program_that_hangs_is_ended_with_what_it_started(send: Send, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hangs = program(
        tmp_path,
        f"import subprocess, sys\nchild = subprocess.Popen(['sleep', '600'])\nopen({str(pid)!r}, 'w').write(str(child.pid))\nchild.wait()",
    )
    assert "too long" in send(hangs, seconds=3).error
    until = time.monotonic() + 10
    while Path(f"/proc/{pid.read_text()}").exists() and time.monotonic() < until:
        status = Path(f"/proc/{pid.read_text()}/stat")
        if status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            break
    else:
        assert time.monotonic() < until


def test_a_program_that_reads_nothing_holds_nothing_up(send: Send, tmp_path: Path) -> None:
    long = Message("t", "x\u2028" * 40_000, NoticeKind.TEST, Severity.INFO, 1.0)
    assert send(program(tmp_path, "import sys\nsys.exit(0)"), message=long).error == ""


def test_what_is_missing_is_said(send: Send, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "was not found" in send(ChannelSettings(type="command", command=("no-such-program-here",))).error
    assert "nobrakes notify secret gone" in send(ChannelSettings(type="webhook", secret="gone")).error
    monkeypatch.setenv("PATH", str(tmp_path))
    if sys.platform == "linux":
        assert "notify-send" in send(ChannelSettings(type="desktop")).error


@pytest.mark.skipif(sys.platform != "linux", reason="notify-send is of Linux")
def test_the_desktop_gets_words_and_no_options(send: Send, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    show = tmp_path / "notify-send"
    show.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/out\n")
    show.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert (
        send(
            ChannelSettings(type="desktop"),
            message=Message("t", "--exec <b>", *tuple(NoticeKind)[:1], Severity.URGENT, 1.0),
        ).error
        == ""
    )
    assert (tmp_path / "out").read_text().splitlines() == [
        "--app-name=nobrakes",
        "--urgency=critical",
        "--",
        "t",
        "--exec &lt;b&gt;",
    ]


def test_a_daemon_that_ends_waits_a_moment_and_no_longer() -> None:
    with webhook("hangs") as kept:
        settings = NotifySettings(channels={"c": hook(kept.port)}, send_seconds=60.0)
        channels = ChildChannels(lambda: settings, "/nowhere")
        channels.begin("c", 1, SAID)
        began = time.monotonic()
        channels.close(0.5)
        assert time.monotonic() - began < 5
        assert [sent.error for sent in channels.ended()] == ["the daemon stopped meanwhile"]


def test_secrets_lie_in_a_file_that_nobody_else_reads(send: Send) -> None:
    path = Path(keep("one", "first"))
    keep("two", 'quo"ted\\')
    assert str(path) == secrets_path() and stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    error = send(ChannelSettings(type="webhook", secret="one")).error
    assert "0600" in error and "first" not in error
    path.chmod(0o600)
    from nobrakes.config.user import secret

    assert secret("two") == 'quo"ted\\'
    path.write_text('one = "first\n')
    assert "not valid TOML" in send(ChannelSettings(type="webhook", secret="one")).error
    path.unlink()
    path.symlink_to("/dev/null")
    assert "cannot be read" in send(ChannelSettings(type="webhook", secret="one")).error
