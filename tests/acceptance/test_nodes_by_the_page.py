"""The lines of docs/how-to/nodes.md for other machines: those for SSH are run, with an SSH server on the loopback; the
manifest for Kubernetes is held against the operator's schema."""

import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.support.cluster import FleetProject, end_gateway
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import until

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "nodes.md").read_text()


def part(heading: str, begin: str = "") -> str:
    """The indented lines after a heading, from the one that begins so."""
    text = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0] if heading else PAGE
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    first = next(number for number, line in enumerate(lines) if line.startswith(begin))
    return "\n".join(lines[first:]) + "\n"


class Machines:
    """This machine as `node1` and `node2`: `ssh node1 COMMAND` runs it in the folder `home`, as a login there would."""

    def __init__(self, folder: Path) -> None:
        self.home, self.own = folder / "home", folder / "ssh"
        for one in (self.home, self.own, folder / "bin"):
            one.mkdir()
        for name in ("host", "login"):
            made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.own / name)]
            subprocess.run(made, check=True)
        (self.own / "login.pub").rename(self.own / "authorized")
        self.port, self.scheduler_port = free_ports(2)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        there = (
            f"export PATH='{path}' NOBRAKES_NODE='{folder}/node'; cd '{self.home}' && eval \"$SSH_ORIGINAL_COMMAND\""
        )
        (self.own / "there").write_text(f"#!/bin/sh\n{there}\n")
        (self.own / "there").chmod(0o755)
        settings = (
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {self.own}/host",
            f"AuthorizedKeysFile {self.own}/authorized",
            f"ForceCommand {self.own}/there",
            "PidFile none",
            "UsePAM no",
            "StrictModes no",
            "PasswordAuthentication no",
            "PermitRootLogin prohibit-password",
        )
        (self.own / "sshd_config").write_text("\n".join(settings) + "\n")
        client = f"Host node1 node2\n  HostName 127.0.0.1\n  Port {self.port}\n  IdentityFile {self.own}/login\n"
        (self.own / "config").write_text(f"{client}  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n")
        (folder / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.own}/config "$@"\n')
        (folder / "bin" / "ssh").chmod(0o755)
        self.env = {**os.environ, "PATH": f"{folder}/bin:{path}"}
        if os.getuid() == 0:  # where root's server puts its part without rights
            Path("/run/sshd").mkdir(exist_ok=True)
        with open(self.own / "log", "wb") as log:
            words = ["/usr/sbin/sshd", "-D", "-e", "-f", str(self.own / "sshd_config")]
            self.server = subprocess.Popen(words, stdout=log, stderr=log)
        until(lambda: "listening" in self.log(), what=self.log)

    def log(self) -> str:
        return (self.own / "log").read_text(errors="replace")

    def type(self, lines: str) -> None:
        """Type lines of the page, with the addresses of these machines."""
        lines = lines.replace("10.0.0.1", "127.0.0.1").replace("8786", str(self.scheduler_port))
        done = subprocess.run(["sh", "-ec", lines], cwd=self.home, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, (lines, done.stderr, self.log())

    def end(self) -> None:
        """End the server, and what was started on the machines."""
        self.server.kill()
        self.server.wait()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if Path(os.readlink(f"/proc/{pid}/cwd")) == self.home:
                    os.kill(int(pid), signal.SIGKILL)


def free_ports(count: int) -> list[int]:
    lines = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(line.getsockname()[1]) for line in lines]
    for line in lines:
        line.close()
    return ports


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made = Machines(tmp_path)
    try:
        yield made
    finally:
        made.end()


class ByHand:
    """The nodes as the page made them, for the settings of a project."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines

    def settings(self, **_: object) -> str:
        names = {"ca": "ca.pem", "certificate": "node.pem", "key": "node.key"}
        lines = [f'{name} = "{self.machines.home / file}"' for name, file in names.items()]
        address = f'scheduler = "tls://127.0.0.1:{self.machines.scheduler_port}"'
        return "\n".join(("[fleet]", 'engine = "dask"', address, *lines)) + "\n"


@needs_sandbox
def test_two_machines_by_ssh_do_the_work(tmp_path: Path, machines: Machines) -> None:
    machines.type("\n".join(line for line in part("", "openssl").splitlines() if line.startswith("openssl")))
    machines.type(part("Two machines by SSH"))
    agent = "pwd >where; git add where; git commit -q -m Work"
    project = FleetProject(tmp_path / "project", ByHand(machines), agent)  # type: ignore[arg-type]
    project.configure('mode = "none"', 'mode = "auto"')
    try:
        project.ready("node1", "node2")
        project.add("one")
        project.nobrakes("run")
        assert project.status("one") == "done"
        assert project.git("show", "main:where").startswith(f"{tmp_path}/node/runs/")
    finally:
        end_gateway(project)


def test_each_way_takes_at_most_ten_lines() -> None:
    sizes = {name: part(name).count("\n") for name in ("Two machines by SSH", "Slurm", "Kubernetes")}
    assert max(sizes.values()) <= 10, sizes


def test_the_manifest_for_kubernetes_fits_the_operators_schema(tmp_path: Path) -> None:
    wanted = str(ROOT / ".ci" / "requirements-nodes.txt")
    words = ["-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-r", wanted, "-d", str(tmp_path)]
    subprocess.run([sys.executable, *words], check=True, stdin=subprocess.DEVNULL)
    [wheel] = tmp_path.glob("dask_kubernetes*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [one for one in archive.namelist() if re.search(r"helm/.*/crds/daskcluster\.yaml$", one)]
        found = yaml.safe_load(archive.read(name))
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    strict(schema)
    schema["properties"] |= {"apiVersion": {}, "kind": {}, "metadata": {}}
    manifest = yaml.safe_load(part("Kubernetes"))
    mistakes = [(list(one.path), one.message) for one in jsonschema.Draft7Validator(schema).iter_errors(manifest)]
    assert mistakes == [] and manifest["kind"] == found["spec"]["names"]["kind"]
    manifest["spec"]["worker"]["replica"] = 2
    assert list(jsonschema.Draft7Validator(schema).iter_errors(manifest)), "an unknown field passes"


def strict(schema: Any) -> None:
    """Kubernetes drops unknown fields without a word: here they are mistakes."""
    if isinstance(schema, list):
        for one in schema:
            strict(one)
    if not isinstance(schema, dict):
        return
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-int-or-string"):
        schema.pop("type", None)
    for one in schema.values():
        strict(one)
