"""The program that talks to the nodes, when a node runs its own code in it: what it leaves is only read, and safely."""

import asyncio
import json
import os
import socket
import ssl
import stat
from pathlib import Path
from typing import Any

import pytest
from tornado.iostream import StreamClosedError

from nobrakes.fleet import gateway, model, parcel
from nobrakes.fleet.service import Nodes
from nobrakes.git.port import Argv
from nobrakes.sandbox.closure import Closure
from tests.support.project import Project

NODE = {"address": "tls://a:1", "name": "a", "places": 4, "runs": {}, "why": "", "about": {}, "load": {}}


def state(**words: Any) -> str:
    return json.dumps({"at": 1.0, "trouble": "", "nodes": [NODE], "losses": [], **words})


@pytest.mark.parametrize(
    "text",
    [
        state(nodes=[{**NODE, "places": float("inf")}]),
        state(nodes=[{**NODE, "runs": {"one": float("inf")}}]),
        state(nodes=[{**NODE, "runs": []}]),
        state(nodes=[7]),
        state(nodes={}) + "[",
        state(losses=[{"at": "now"}]),
        state(at=[]),
        "[" * 100_000,
        "7",
        "",
    ],
)
def test_a_state_that_is_none_is_refused(text: str) -> None:
    assert model.parsed(state()).nodes[0].places == 4
    with pytest.raises(ValueError, match=r"cannot be read|Expecting|Extra data|could not convert"):
        model.parsed(text)


@pytest.mark.parametrize("places", ["many", float("nan"), float("inf"), None, [4]])
def test_a_node_with_a_false_number_of_places_has_none(places: object) -> None:
    assert (gateway._place_count({"place": places}), gateway._place_count({"place": 4.0})) == (0, 4)


def test_a_link_in_the_place_of_the_socket_leads_nowhere(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as yours:
        yours.bind(f"/proc/self/fd/{here}/yours")
        yours.listen()
        parcel.connected(str(tmp_path / "yours")).close()
        (tmp_path / "line").symlink_to(tmp_path / "yours")
        with pytest.raises(OSError, match="refused"):
            parcel.connected(str(tmp_path / "line"))
    os.close(here)


def tls_error(kind: type[ssl.SSLError], reason: str, **words: Any) -> OSError:
    """As Dask raises it: the cause, or tornado's error with the real one in it."""
    real = kind(1, reason)
    real.reason = reason
    for name, value in words.items():
        setattr(real, name, value)
    closed = StreamClosedError(real)
    try:
        try:
            raise closed
        except StreamClosedError:
            raise OSError("in <TLS (closed)>")  # noqa: B904 - as Dask does it
    except OSError as error:
        return error


@pytest.mark.parametrize(
    ("kind", "reason", "words", "text"),
    [
        (ssl.SSLError, "TLSV1_ALERT_UNKNOWN_CA", {}, "the scheduler refuses fleet.certificate: tlsv1 alert unknown ca"),
        (ssl.SSLError, "WRONG_VERSION_NUMBER", {}, "the scheduler does not speak TLS"),
        (ssl.SSLError, "OTHER", {}, "TLS with the scheduler fails: other"),
        (
            ssl.SSLCertVerificationError,
            "CERTIFICATE_VERIFY_FAILED",
            {"verify_code": 10, "verify_message": "certificate has expired"},
            "the scheduler's certificate has expired",
        ),
        (
            ssl.SSLCertVerificationError,
            "CERTIFICATE_VERIFY_FAILED",
            {"verify_code": 20, "verify_message": "unable to get local issuer certificate"},
            "fleet.ca does not vouch for the scheduler's certificate: unable to get local issuer certificate",
        ),
    ],
)
def test_what_is_wrong_with_certificates_is_said_in_the_words_of_the_settings(
    kind: type[ssl.SSLError], reason: str, words: dict[str, Any], text: str
) -> None:
    error = tls_error(kind, reason, **words)
    assert gateway._tls_trouble(error) == text
    assert gateway._tls_trouble(OSError("timed out")) == ""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    settings = '[fleet]\nengine = "dask"\nscheduler = "tcp://127.0.0.1:9"\n'
    made = Project(tmp_path / "repository", ["true"], more=settings)
    made.config.write_text(made.config.read_text().replace('mode = "none"', 'mode = "auto"'))
    return made


class Silent:
    """A Dask client whose nodes answer when it is too late, or with what is none."""

    def __init__(self, answer: object = None) -> None:
        self.answer = answer

    async def run(self, *_: object, workers: list[str], **__: object) -> dict[str, object]:
        if self.answer is None:
            await asyncio.sleep(60)
        return {workers[0]: self.answer}


ANSWERS = {
    "never": (None, "TimeoutError"),
    "a pickle of something else": (7, "TypeError"),
    "no JSON": (("{", b""), "JSONDecodeError"),
    "a list": (("[]", b""), "ValueError"),
    "words for bytes": (("{}", "words"), "ValueError"),
    "too much": (("{}", bytes(parcel.MAX_BODY + 1)), "ValueError"),
    "too deep": (("[" * 100_000, b""), "RecursionError"),
}


@pytest.mark.parametrize(("answer", "error"), ANSWERS.values(), ids=ANSWERS)
def test_a_node_that_does_not_answer_as_ours_do_is_lost_and_gets_no_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object, error: str
) -> None:
    monkeypatch.setattr(gateway, "_CALL_SECONDS", 0.05)
    made = gateway.Gateway(str(tmp_path), {})
    made.client, made.known = Silent(answer), {"tls://a:1": {"name": "a", "why": ""}}
    asked = {"call": "exchange", "node": "tls://a:1", "session": "1-agent-1", "number": "1", "wait": 1.0}
    said, body = asyncio.run(made._answered(asked, b""))
    assert (said, body) == ({"lost": f"the node a does not answer ({error})"}, b"")
    assert made.known["tls://a:1"]["why"] == "it does not answer"


class Started(Exception):
    """The helper would have been started so."""


def test_the_helper_writes_a_private_folder_of_its_own_and_nothing_that_others_write(project: Project) -> None:
    from nobrakes.config.settings import load
    from nobrakes.paths import Paths

    seen: list[Closure] = []

    def confine(_: Argv, closure: Closure) -> Argv:
        seen.append(closure)
        raise Started

    paths = Paths(str(project.folder / ".nobrakes"))
    nodes = Nodes(paths, lambda: load(paths.config), dict(os.environ), lambda: "", confine)
    with pytest.raises(Started):
        nodes.look()
    [closure] = seen
    ours = project.folder / ".nobrakes" / "fleet"
    assert (closure.workspace, closure.own, closure.write) == (str(ours / "own"), (), ())
    assert (closure.hidden, closure.inner) == ((str(project.folder),), (str(ours),))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (ours, ours / "own")] == [0o700, 0o700]
    assert not any(lies_in_own(path) for path in (model.DRAINED, model.SETTINGS))
    assert all(lies_in_own(path) for path in (model.LINE, model.STATE, model.LOCK))


def lies_in_own(path: str) -> bool:
    return path.startswith(f"{model.OWN}/")
