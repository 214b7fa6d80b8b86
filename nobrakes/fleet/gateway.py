"""The helper that talks to the nodes: a Dask client, confined, between a Unix socket and the scheduler.

    python -m nobrakes.fleet.gateway FOLDER      with SETTINGS in it: JSON (model.gateway_settings)

1. Dask unpickles what nodes send, so nothing else does this: here is no home, no repository, and no network but the
   scheduler's. Who connects gets JSON and bytes.
2. A run is a Dask task that holds places of one node (a worker's resource `place`). It is pinned to that node, so Dask
   never starts it elsewhere, and its name says how many places it takes, so that daemons share a cluster.
3. A run whose program went away without a goodbye is killed on its node.
4. It writes what it knows of the nodes to `own/state.json` in its folder, and ends when nobody has asked for long. It
   writes nothing elsewhere: other programs write and open what else lies in that folder.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import ssl
import sys
import time
from functools import partial
from typing import Any

from distributed import Client, Security, fire_and_forget

from .. import __version__
from . import node, parcel
from .model import LINE, LOCK, NOT_YET, SETTINGS, STATE, drained

LOOK_SECONDS = 1.0
IDLE_SECONDS = 120.0
_MAX_LOSSES = 50
_CALL_SECONDS = 30.0
_LONG_SECONDS = 600.0
_REPEAT_SECONDS = node.LEASE - 5.0
_LONG = ("receive", "prepare", "collect")
"""Questions whose answers may take long, since they carry whole repositories."""
_BEGIN_SECONDS = 10.0
_FORGOTTEN_SECONDS = 10.0
"""Seconds after which the scheduler surely knows that a run is over."""
_TASK = "nobrakes-run"
_EXPIRED = 10
"""OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED."""


class Gateway:
    """The nodes, the runs on them, and who asks."""

    def __init__(self, folder: str, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.settings = settings
        self.client: Any = None
        self.trouble = NOT_YET
        self.known: dict[str, dict[str, Any]] = {}
        self.places: dict[str, int] = {}
        self.load: dict[str, dict[str, float]] = {}
        self.used: dict[str, dict[str, tuple[str, int]]] = {}
        self.losses: list[dict[str, Any]] = []
        self.asked_at = time.monotonic()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._choosing = asyncio.Lock()
        self._listener: asyncio.Server | None = None
        self._opened: dict[str, tuple[str, str, int, float]] = {}
        self._closed: dict[str, float] = {}
        self._freed = asyncio.Event()
        self._lines = 0

    async def run(self) -> None:
        """Serve until nobody has asked for long."""
        path = os.path.join(self.folder, LINE)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.umask(0o077)
        server = await asyncio.start_unix_server(self._serve, sock=parcel.listening(path))
        while self._is_wanted() and (self._lines or time.monotonic() - self.asked_at < IDLE_SECONDS):
            await self._look()
            await asyncio.sleep(LOOK_SECONDS)
        server.close()  # and no wait_closed: from Python 3.12 on that waits for the ends of all runs
        if self.client is not None:
            await self.client.close()

    def _is_wanted(self) -> bool:
        """Whether the settings are still those that it was started with."""
        with open(os.path.join(self.folder, SETTINGS), encoding="utf-8") as file:
            return bool(json.load(file) == self.settings)

    async def _connect(self) -> None:
        given = self.settings
        security = None
        if given["ca"]:
            security = Security(  # type: ignore[no-untyped-call]
                tls_ca_file=given["ca"],
                tls_client_cert=given["certificate"],
                tls_client_key=given["key"],
                require_encryption=True,
            )
        self.client = await Client(  # type: ignore[no-untyped-call]
            await self._address(),
            security=security,
            asynchronous=True,
            timeout=10,
            set_as_default=False,
            name="nobrakes",
        )

    async def _address(self) -> str:
        """The scheduler's address; from inside a network of its own, a port that leads there through the proxy."""
        kind, _, address = self.settings["scheduler"].partition("://")
        proxy = os.environ.get("HTTPS_PROXY", "")
        if not proxy:
            return f"{kind}://{address}"
        if self._listener is None:
            host, _, port = proxy.partition("://")[2].rpartition(":")
            self._listener = await asyncio.start_server(partial(_carry, host, int(port), address), "127.0.0.1", 0)
        return f"{kind}://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def _look(self) -> None:
        """Ask the scheduler for its nodes, and each new node what it is."""
        try:
            if self.client is None:
                self._write()  # a connection may take long, and the trouble would seem old
                await self._connect()
            async with asyncio.timeout(10):
                found = await self.client.scheduler.identity(n_workers=-1)
                tasks = await self.client.scheduler.processing(workers=None)
            self.trouble = ""
        except Exception as error:  # a network, a certificate, another version: all of them are told and tried again
            self.trouble = (_tls_trouble(error) or f"{type(error).__name__}: {error}")[:500]
            if self.client is not None:
                with contextlib.suppress(Exception):
                    await self.client.close(timeout=1)
                self.client = None
            self._write()
            return
        workers = found["workers"]
        self.places = {one: _place_count(about["resources"]) for one, about in workers.items()}
        self.load = {one: _load(about.get("metrics")) for one, about in workers.items()}
        self.used = {one: dict(map(_parsed, keys)) for one, keys in tasks.items() if one in workers}
        for one in [one for one in workers if one not in self.known]:
            self.known[one] = {"name": str(workers[one]["name"])[:100], "why": "it was not asked yet", "asked": False}
        for gone in [one for one in self.known if one not in workers]:
            del self.known[gone]
        for one in [one for one, about in self.known.items() if "about" not in about and one not in self._asking]:
            self._asking[one] = asyncio.create_task(self._describe(one))
        self._write()

    async def _describe(self, address: str) -> None:
        """Ask a node what it is. One that does not answer is asked again, and nobody waits for it."""
        try:
            said = json.loads(await self._on(address, node.describe, json.dumps(self.settings["needs"])))
            about = {str(name)[:100]: str(value)[:1000] for name, value in list(said.items())[:50]}
            self.known[address] |= {"about": about, "why": self._objection(about), "asked": True}
        except Exception:
            if address in self.known:
                self.known[address] |= {"why": "it has no nobrakes, or does not answer", "asked": True}
        del self._asking[address]
        self._write()

    def _objection(self, about: dict[str, str]) -> str:
        """Why a node gets no work; empty: it gets some."""
        if about["nobrakes"] != __version__:
            return f"it has nobrakes {about['nobrakes']}, and this machine has {__version__}"
        if about["sandbox"] and not self.settings["unconfined"]:
            return f"no sandbox works there: {about['sandbox']}"
        return about["unmet"]

    def _write(self) -> None:
        nodes = [
            {
                "address": one,
                "name": about["name"],
                "places": self.places.get(one, 0),
                "load": self.load.get(one, {}),
                "runs": {run: need for run, (_, need) in self.used.get(one, {}).items()},
                "why": about["why"],
                "asked": about["asked"],
                "about": about.get("about", {}),
            }
            for one, about in self.known.items()
        ]
        state = {"at": time.time(), "trouble": self.trouble, "nodes": nodes, "losses": self.losses}
        path = os.path.join(self.folder, STATE)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(path + ".new", path)

    async def _on(self, address: str, function: Any, *words: Any, seconds: float = _CALL_SECONDS) -> Any:
        """The function's answer on that node. Raises whatever Dask does."""
        async with asyncio.timeout(seconds):
            found = await self.client.run(function, *words, workers=[address], on_error="raise")
        return found[address]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._lines += 1
        self.asked_at = time.monotonic()  # the daemon looks whether it is there, and asks for no run
        runs: dict[str, str] = {}
        try:
            while True:
                words, size = parcel.sizes(await reader.readexactly(parcel.LENGTHS))
                asked = parcel.header_of(await reader.readexactly(words))
                body = await reader.readexactly(size)
                self.asked_at = time.monotonic()
                said, answer = await self._answered(asked, body)
                if asked["call"] in ("execute", "exchange"):
                    runs[str(asked["session"])] = str(asked["node"])
                if said.get("code") is not None:
                    runs.clear()
                writer.write(parcel.message(said, answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, parcel.Broken, KeyError, ValueError):
            pass
        except asyncio.CancelledError:  # this program ends, and the next one is asked about the run
            runs.clear()
            raise
        finally:
            self._lines -= 1
            writer.close()
            for run, address in runs.items():  # its program was killed: so is the run
                with contextlib.suppress(Exception):
                    await self._on(address, node.ask, run, "kill", "{}", b"")

    async def _answered(self, asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        if self.client is None:
            return await self._after_a_while(asked, body)
        if asked["call"] == "open":
            return await self._open(asked)
        address, session, call = str(asked["node"]), str(asked["session"]), str(asked["call"])
        words = {name: value for name, value in asked.items() if name not in ("node", "session", "call")}
        name = self._name(address)
        try:
            seconds = _LONG_SECONDS if call in _LONG else _CALL_SECONDS
            found = await self._repeated(address, session, call, json.dumps(words), body, seconds)
            if call == "close":  # its places are free now, and not when the scheduler is asked again
                self._closed[session] = time.monotonic()
                self._freed.set()
            return found
        except Exception as error:
            return self._failed(session, address, name, error)

    async def _repeated(
        self, address: str, session: str, call: str, words: str, body: bytes, seconds: float
    ) -> tuple[dict[str, Any], bytes]:
        """A node's answer. Asks again if a connection broke and the scheduler still has the node: a run is not lost
        with a connection, and a node that is asked the same again gives the same answer."""
        deadline = time.monotonic() + _REPEAT_SECONDS
        while True:
            try:
                return _checked(await self._on(address, node.ask, session, call, words, body, seconds=seconds))
            except OSError:
                await asyncio.sleep(2 * LOOK_SECONDS)
                while self.client is None and time.monotonic() < deadline:
                    await asyncio.sleep(0.2)
                if time.monotonic() > deadline or address not in self.known or self.client is None:
                    raise

    async def _after_a_while(self, asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """The scheduler is away: wait for it, then answer."""
        for _ in range(int(_CALL_SECONDS)):
            await asyncio.sleep(1.0)
            if self.client is not None:
                return await self._answered(asked, body)
        return {"lost": f"the scheduler does not answer ({self.trouble})"}, b""

    def _name(self, address: str) -> str:
        return str(self.known.get(address, {}).get("name", address))

    def _failed(self, session: str, address: str, name: str, error: Exception) -> tuple[dict[str, Any], bytes]:
        why = f"the node {name} does not answer ({type(error).__name__})"
        if address in self.known:  # it gets no other run before it says again what it is
            self.known[address] = {"name": name, "why": "it does not answer", "asked": True}
        self.losses = [*self.losses, {"at": time.time(), "run": session, "node": name, "why": why}][-_MAX_LOSSES:]
        return {"lost": why}, b""

    async def _open(self, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        session, need, role = str(asked["session"]), int(asked["need"]), str(asked["role"])
        async with self._choosing:
            address = await self._free(need, role)
            if address is None:
                return {"busy": True}, b""
            key = f"{_TASK}:{role}:{need}:{session}:{secrets.token_hex(4)}"
            task = self.client.submit(
                node.hold,
                session,
                key=key,
                pure=False,
                retries=0,
                workers=[address],
                allow_other_workers=False,
                resources={"place": need},
            )
            fire_and_forget(task)  # type: ignore[no-untyped-call]
            self._opened[session] = (address, role, need, time.monotonic())
        words = json.dumps({"begins": _BEGIN_SECONDS, "repository": str(asked["repository"])})
        try:
            said, known = _checked(await self._on(address, node.ask, session, "known", words, b""))
        except Exception as error:
            self._failed(session, address, self._name(address), error)
            said, known = {"lost": ""}, b""
        if "lost" in said:
            return {"busy": True}, b""  # nothing began there: another node may take it
        return {**said, "node": address}, known

    async def _free(self, need: int, role: str) -> str | None:
        """The node with most free places; waits a while for one."""
        for _ in range(int(_BEGIN_SECONDS / 0.2)):
            resting = drained(self.folder)
            best = [
                (free, one)
                for one, about in self.known.items()
                if not about["why"]
                and about["name"] not in resting
                and (free := self.places.get(one, 0) - self._taken(one)) >= need
                and (role != "agent" or free - need >= self.settings["reserved_for_checks"])
            ]
            if best:
                return max(best)[1]
            self._freed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self._freed.wait()
        return None

    def _taken(self, address: str) -> int:
        now = time.monotonic()
        runs = dict(self.used.get(address, {}))
        for run, (at, role, need, since) in list(self._opened.items()):
            if now - since > 2 * LOOK_SECONDS:
                del self._opened[run]
            elif at == address:
                runs.setdefault(run, (role, need))
        self._closed = {run: since for run, since in self._closed.items() if now - since < _FORGOTTEN_SECONDS}
        return sum(need for run, (_, need) in runs.items() if run not in self._closed)


def _checked(found: Any) -> tuple[dict[str, Any], bytes]:
    """What a node answered. Raises ValueError, TypeError."""
    said, answer = found
    words = json.loads(said)
    if not isinstance(words, dict) or not isinstance(answer, bytes) or len(answer) > parcel.MAX_BODY:
        raise ValueError("no answer of ours")
    return words, answer


async def _carry(
    host: str, port: int, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection to `address` through the proxy."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        answers, asks = await asyncio.open_connection(host, port)
        asks.write(f"CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        if b" 200 " in (await answers.readuntil(b"\r\n\r\n")).split(b"\r\n")[0] + b" ":
            await asyncio.gather(_copy(reader, asks), _copy(answers, writer))
        asks.close()
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while block := await reader.read(1 << 16):
            writer.write(block)
            await writer.drain()
        writer.write_eof()


def _tls_trouble(error: BaseException | None) -> str:
    """What is wrong with certificates, in the words of the settings; empty: it is something else."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = getattr(error, "real_error", None) or error.__cause__ or error.__context__  # the first one is tornado's
    if error is None:
        return ""
    reason = (error.reason or "").replace("_", " ").lower()
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code == _EXPIRED:
            return "the scheduler's certificate has expired"
        return f"fleet.ca does not vouch for the scheduler's certificate: {error.verify_message}"
    if "alert" in reason:
        return f"the scheduler refuses fleet.certificate: {reason}"
    if "wrong version" in reason or "record layer" in reason:
        return "the scheduler does not speak TLS"
    return f"TLS with the scheduler fails: {reason or error}"


def _load(metrics: Any) -> dict[str, float]:
    """What a worker says of its machine, which may be anything."""
    said = metrics.get(node.LOAD) if isinstance(metrics, dict) else None
    numbers = said.items() if isinstance(said, dict) else ()
    return {
        name: value
        for name, value in numbers
        if name in ("cpu", "free", "memory") and isinstance(value, int | float) and 0 <= value < 1e18
    }


def _place_count(resources: dict[str, Any]) -> int:
    """The places of a node; none, if it names a number that is none."""
    try:
        return int(resources.get("place", 0))
    except (TypeError, ValueError, OverflowError):
        return 0


def _parsed(key: str) -> tuple[str, tuple[str, int]]:
    """(run, (role, places)) of a task's name; other people's tasks take no place of ours."""
    parts = str(key).split(":")
    if len(parts) != 5 or parts[0] != _TASK or not parts[2].isdigit():
        return str(key), ("", 0)
    return parts[3], (parts[1], int(parts[2]))


def main(folder: str) -> int:
    """The helper; it ends at once if another one is at work in this folder."""
    lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0  # another one is at work
    with open(os.path.join(folder, SETTINGS), encoding="utf-8") as file:
        settings = json.load(file)
    asyncio.run(Gateway(folder, settings).run())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
