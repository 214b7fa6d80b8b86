"""The watchdog under a network that comes and goes: whom it starts, whom it lets rest, and how it is put in place."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.config.user import OVERRIDE
from tests.support.project import Project
from tests.support.scripted import until


class Network:
    """Two addresses, the network's and a provider's, each of which answers or does not, and counts who asks."""

    def __init__(self) -> None:
        self.servers: dict[str, socket.socket] = {}
        self.ports: dict[str, int] = {}
        self.asked = 0
        for name in ("network", "provider"):
            self.up(name)

    def up(self, name: str) -> None:
        server = socket.create_server(("127.0.0.1", self.ports.get(name, 0)))
        self.servers[name], self.ports[name] = server, server.getsockname()[1]
        threading.Thread(target=self._serve, args=(server,), daemon=True).start()

    def _serve(self, server: socket.socket) -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return
            self.asked += 1

    def down(self, name: str) -> None:
        server = self.servers.pop(name)
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network()
    yield made
    for name in tuple(made.servers):
        made.down(name)


@pytest.fixture
def project(tmp_path: Path, network: Network, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    own = tmp_path / "own"
    monkeypatch.setenv(OVERRIDE, str(own))
    (own / "config").mkdir(parents=True, mode=0o700)
    urls = "\n".join(f'{name} = ["http://127.0.0.1:{port}"]' for name, port in network.ports.items())
    (own / "config" / "config.toml").write_text(f"[watchdog]\n{urls}\n")
    made = Project(tmp_path / "my repository", ["true"])
    yield made
    made.nobrakes("daemon", "stop", expect=None)


def look(project: Project) -> Any:
    return next(one for one in project.ask("daemon", "watch") if one["path"] == str(project.folder))


def killed(project: Project) -> int:
    pid = int(project.ask("daemon", "status")["pid"])
    os.kill(pid, signal.SIGKILL)
    until(lambda: project.ask("daemon", "status")["pid"] is None)
    return pid


def skip_the_wait(tmp_path: Path) -> int:
    """As if the time were over; how many failures in a row there were."""
    (file,) = (tmp_path / "own" / "state" / "watchdog").iterdir()
    waiting = json.loads(file.read_text())
    file.write_text(json.dumps({**waiting, "until": 0.0}))
    return int(waiting["failures"])


@pytest.mark.slow
def test_it_starts_one_daemon_when_both_are_up_and_none_while_one_is_down(
    tmp_path: Path, project: Project, network: Network
) -> None:
    project.nobrakes("daemon", "start")
    assert "a daemon is running" in look(project)["said"] and network.asked == 0
    killed(project)
    for number, name in enumerate(("network", "provider"), 1):
        network.down(name)
        found = look(project)
        assert found["started"] is None and [one for one in found["down"] if one.startswith(f"the {name}: ")]
        assert len(found["down"]) == 1 and found["until"] > 0
        asked = network.asked
        assert "too early" in look(project)["said"] and network.asked == asked, "nobody is asked meanwhile"
        network.up(name)
        assert "too early" in look(project)["said"], "and what is back is not noticed before its time"
        assert skip_the_wait(tmp_path) == number
    found = look(project)
    assert found["started"] and project.ask("daemon", "status")["pid"] == found["started"]
    assert look(project)["started"] is None and not list((tmp_path / "own" / "state" / "watchdog").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "[]", '{"failures": "x"}'])
def test_it_starts_nothing_while_it_cannot_read_how_long_it_waits(
    project: Project, network: Network, text: str, tmp_path: Path
) -> None:
    project.nobrakes("daemon", "start")
    killed(project)
    network.down("network")
    assert look(project)["until"]
    (file,) = (tmp_path / "own" / "state" / "watchdog").iterdir()
    file.write_text(text)
    network.up("network")
    other = Project(tmp_path / "another", ["true"])
    other.nobrakes("daemon", "start")
    killed(other)
    assert str(file) in project.nobrakes("daemon", "watch", expect=60).stdout
    assert other.ask("daemon", "status")["pid"], "one repository's trouble holds no other one up"
    other.nobrakes("daemon", "stop")
    file.unlink()
    assert look(project)["started"]


def test_it_never_starts_one_that_a_person_stopped_or_paused(project: Project, network: Network) -> None:
    assert "no daemon is needed" in look(project)["said"], "nobody ever started one"
    project.nobrakes("daemon", "start")
    project.nobrakes("daemon", "stop")
    assert "no daemon is needed" in look(project)["said"]
    project.nobrakes("daemon", "start")
    killed(project)
    assert project.nobrakes("daemon", "stop", expect=None).returncode == 24, "it was dead, and is not missed any more"
    assert "no daemon is needed" in look(project)["said"]
    project.nobrakes("daemon", "start")
    project.nobrakes("pause")
    killed(project)
    assert "paused" in look(project)["said"]
    assert network.asked == 0 and project.ask("daemon", "status")["pid"] is None
    project.nobrakes("resume")
    pid = look(project)["started"]
    os.kill(pid, signal.SIGTERM)  # as when the machine goes down: nobody's stop
    until(lambda: project.ask("daemon", "status")["pid"] is None)
    assert look(project)["started"]


@pytest.mark.slow
def test_what_start_refuses_it_refuses_and_waits(tmp_path: Path, project: Project) -> None:
    project.nobrakes("daemon", "start")
    killed(project)
    config = project.config.read_text()
    project.config.write_text(config.replace("[[checks]]", "[[checks]]\nnope = 1"))
    assert project.nobrakes("daemon", "watch", expect=None).returncode != 0, "wrong settings are said"
    project.config.write_text(config.replace("doers = 3", "doers = 0"))
    found = look(project)
    assert found["started"] is None and "limits.doers` is 0" in found["down"][0] and skip_the_wait(tmp_path) == 1
    project.config.write_text(config)
    assert look(project)["started"]


def fake_systemctl(tmp_path: Path, code: int = 0) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    (folder / "systemctl").write_text(f'#!/bin/sh\necho "$*" >>"{tmp_path}/said"\necho "no bus" >&2\nexit {code}\n')
    (folder / "systemctl").chmod(0o755)
    return tmp_path / "said"


def test_units_are_shown_first_and_put_in_place_and_taken_away(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    units = tmp_path / "home" / ".config" / "systemd" / "user"
    fake_systemctl(tmp_path, code=1)
    failed = project.nobrakes("daemon", "install", "--yes", expect=None)
    assert failed.returncode != 0 and "no bus" in failed.stderr and "* * * * * PATH=" in failed.stderr
    said = fake_systemctl(tmp_path)
    said.unlink(missing_ok=True)
    shown = project.nobrakes("daemon", "install").stdout
    assert not units.exists() and not said.exists(), "what is only shown changes nothing, and asks nobody"
    assert "KillMode=process" in shown and "enable-linger" in shown and "systemctl --user enable --now" in shown
    assert project.nobrakes("daemon", "uninstall", "--yes", expect=None).returncode == 2
    units.mkdir(parents=True)
    for kind in ("service", "timer"):
        (units / f"nobrakes-my-repository-0123abcd.{kind}").write_text("of an earlier version")
    (units / "nobrakes-mine.timer").write_text("of the person")
    project.nobrakes("daemon", "install", "--yes")
    assert "disable --now nobrakes-my-repository-0123abcd.timer" in said.read_text()
    for kind in ("service", "timer"):
        (units / f"nobrakes-my-repository-0123abcd.{kind}.before").unlink()
    (units / "nobrakes-mine.timer").unlink()
    service, timer = sorted(units.iterdir())
    assert service.name == "nobrakes-watchdog.service"
    assert (service.suffix, timer.suffix) == (".service", ".timer") and service.stat().st_mode & 0o777 == 0o644
    assert said.read_text().splitlines()[-2:] == [
        "--user --no-pager daemon-reload",
        f"--user --no-pager enable --now {timer.name}",
    ]
    timer.write_text(timer.read_text().replace("minutely", "hourly"))
    assert "nothing has been changed yet" in project.nobrakes("daemon", "uninstall").stdout and timer.exists()
    monkeypatch.setenv(
        "PATH", f"{os.environ['PATH']}{os.pathsep}/opt/more"
    )  # the service would be now a different session
    project.nobrakes("daemon", "uninstall", "--yes")
    assert [one.name for one in units.iterdir()] == [f"{timer.name}.before"], "what a person changed is kept"
    assert f"disable --now {timer.name}" in said.read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
@pytest.mark.parametrize("name", ["plain", "100% of $HOME", 'it\'s "mine"', "größer als sonst", "a\\b"])
def test_systemd_reads_the_units_as_they_are_meant(tmp_path: Path, name: str) -> None:
    from nobrakes.daemon.service import watchdog

    env = {
        "HOME": str(tmp_path),
        "PATH": f"/usr/bin:/bin:/opt/{name}",
        "ANTHROPIC_API_KEY": "SECRET",
        "OPENAI_API_KEY": "",
    }
    wanted = watchdog.plan(env)
    assert wanted.not_written == ("ANTHROPIC_API_KEY",)
    assert not any("SECRET" in text or "ANTHROPIC" in text for text in wanted.files.values())
    written = []
    for path, text in wanted.files.items():
        written.append(tmp_path / os.path.basename(path))
        written[-1].write_text(text)
    with tempfile.TemporaryDirectory(prefix="nb-") as runtime:  # short: other units of the machine have sockets in it
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", *map(str, written)],
            env={**os.environ, "XDG_RUNTIME_DIR": runtime},
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stderr) == (0, ""), "it ignores what it cannot read, and says so"


def test_a_line_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    from nobrakes.daemon.service import watchdog
    from nobrakes.errors import UsageError

    for value in ("/a\nExecStart=/bin/false", "/a\\", "/a\x07", "/größer als\u00a0sonst"):
        with pytest.raises(UsageError, match="cannot be written"):
            watchdog.plan({"HOME": "/home/you", "PATH": value})
    with pytest.raises(UsageError, match="HOME"):
        watchdog.plan({"PATH": "/bin"})
