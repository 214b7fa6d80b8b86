"""A node that lies: it does what a node does, and each of its answers can be replaced.

It stands in the place of the program that talks to the nodes, so there is no Dask, and all of it is in the test's own
process: the real daemon, and the real program in the place of the sandbox, get its answers. Runs are not confined.
"""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nobrakes.fleet import node as honest
from nobrakes.fleet import parcel
from tests.support.nodes import SCHEDULER, Nodes, node
from tests.support.scripted import Scripted

Answer = tuple[dict[str, Any], bytes]
Lie = Callable[["Asked", Answer], Answer | bytes]
"""From a question and its true answer: another answer, or the bytes of a whole message."""
SETTINGS = f'[fleet]\nengine = "dask"\nscheduler = "{SCHEDULER}"\nunconfined = true\n'


class Asked:
    """One question about a run."""

    def __init__(self, words: dict[str, Any], body: bytes, specs: dict[str, dict[str, Any]]) -> None:
        self.call: str = words["call"]
        self.session = str(words.get("session"))
        self.body = body
        self.words = words
        if self.call == "prepare":
            specs[self.session] = json.loads(body[: words["words"]])
        self.spec = specs.get(self.session, {})
        """The run's, once the node has it."""

    @property
    def place(self) -> str:
        """The workspace's place below the repository."""
        return str(self.spec.get("place", ""))

    @property
    def bead(self) -> str:
        """Of an agent's run."""
        return os.path.basename(self.place) if self.spec.get("role") == "agent" else ""

    @property
    def attempt(self) -> str:
        return self.session.partition("-")[0]


def truth(_: Asked, answer: Answer) -> Answer:
    return answer


class Liar:
    """The node, for one repository. `lie` may be set at any time; `asked` is all that came to it."""

    def __init__(self, root: Path, lie: Lie = truth) -> None:
        self.lie = lie
        self.asked: list[Asked] = []
        self.specs: dict[str, dict[str, Any]] = {}
        self.nodes = Nodes(root)
        self._loop = asyncio.new_event_loop()
        self._ended = threading.Event()
        self._begun = threading.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._serve_all, self._report)]
        for thread in self._threads:
            thread.start()
        assert self._begun.wait(10)

    def close(self) -> None:
        self._ended.set()
        for session in list(honest.SESSIONS.values()):
            session.closed.set()
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in self._threads:
            thread.join(10)
        self.nodes.close()

    def _report(self) -> None:
        while not self._ended.wait(0.5):
            self.nodes.are(node("liar", 16), at=time.time())

    def _serve_all(self) -> None:
        asyncio.set_event_loop(self._loop)
        path = self.nodes.folder / "own" / "line"
        here = os.open(path.parent, os.O_RDONLY)  # a socket's path must be short
        server = asyncio.start_unix_server(self._serve, f"/proc/self/fd/{here}/{path.name}")
        held = self._loop.run_until_complete(server)
        self._begun.set()
        self._loop.run_forever()
        held.close()
        os.close(here)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                words, size = parcel.sizes(await reader.readexactly(parcel.LENGTHS))
                asked = Asked(json.loads(await reader.readexactly(words)), await reader.readexactly(size), self.specs)
                self.asked.append(asked)
                found = self.lie(asked, await self._answer(asked))
                writer.write(found if isinstance(found, bytes) else parcel.message(*found))
                await writer.drain()
        writer.close()

    async def _answer(self, asked: Asked) -> Answer:
        call, words = asked.call, {k: v for k, v in asked.words.items() if k not in ("node", "session", "call")}
        if call == "open":
            threading.Thread(target=honest.hold, args=(asked.session,), daemon=True).start()
            call, words = "known", {"begins": 10.0, "repository": asked.words["repository"]}
        said, body = await honest.ask(asked.session, call, json.dumps(words), asked.body)
        return {**json.loads(said), "node": "liar"}, body


class LiedTo(Scripted):
    """A project whose only node lies."""

    def __init__(self, folder: Path, **how: Any) -> None:
        super().__init__(folder, more=SETTINGS, **how)


@contextmanager
def liar(project: LiedTo, patch: pytest.MonkeyPatch, folder: Path, lie: Lie = truth) -> Iterator[Liar]:
    patch.setenv("NOBRAKES_NODE", str(folder))
    patch.setattr(honest, "_sandbox_trouble", lambda: "there is none in this test")
    made = Liar(project.folder, lie)
    try:
        yield made
    finally:
        made.close()


def entry(path: str, kind: str = "file", content: bytes = b"", mode: int = 0o644) -> bytes:
    """One entry of a parcel."""
    return json.dumps([path, kind, mode, len(content)]).encode() + b"\n" + content
