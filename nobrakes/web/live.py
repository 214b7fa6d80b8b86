"""`/r/<repo>/socket`: what a page hears while open. It changes nothing; commands are POSTs.

1. The page sends {boot, after, topics, lines, fresh} within HELLO_SECONDS and when its wishes change. The answer is
   `welcome`, or `reset` after another process or a long absence: then it reloads. `fresh`: just rendered; otherwise it
   is sent every piece.
2. {op: "ev", s, e, parts}: events up to s and changed pieces of the page. {op: "lines", …}: an agent's output. {op:
   "beat"} comes when nothing else did, so silence means a lost connection.
3. An invalid message ends only its socket.
"""

import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..daemon.service.now import Feed, last_seq
from ..errors import NobrakesError
from ..events import words
from ..events.kinds import Event
from ..sessions.service.viewing import numbered
from .access import LOG, Site
from .rendering import BOOT, PARTS, frame_of, repository, without_keys

# A client of a stream has a cursor and no queue: a slow one costs nothing and catches up in one message, with the last
# state of each piece. Events go out at once; pieces at most every PIECES_SECONDS, and only those that changed. What no
# event tells, such as how old something is, is looked at every LOOK_SECONDS. The thread ends a while after the last
# client.
KEPT = 2000
"""Events; after a longer absence a page reloads."""
LINES = 400
PIECES_SECONDS = 0.3
LINES_SECONDS = 0.2
LOOK_SECONDS = 5.0
LINGER_SECONDS = 20.0
_OUTPUT = re.compile(r"[st]:[0-9]{1,18}")


@dataclass(eq=False, slots=True)
class Client:
    """One socket: its wishes, position, and bell. `page`: what its page knew. `is_fresh`: just rendered; else the age
    of its pieces is unknown, since some changes have no event (a killed daemon)."""

    seq: int
    topics: frozenset[str]
    lines: dict[str, int]
    is_fresh: bool = True
    version: int = 0
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    page: int = field(init=False)

    def __post_init__(self) -> None:
        self.page = self.seq


class Stream:
    """Data of one repository while someone watches."""

    def __init__(self, word: str, loop: asyncio.AbstractEventLoop) -> None:
        self.word = word
        self.base = self.seq = 0
        self.is_over = False
        self.ready = asyncio.Event()
        self.clients: set[Client] = set()
        self._loop = loop
        self._lock = threading.Lock()
        self._events: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._pieces: dict[str, dict[str, tuple[int, int, str]]] = {}  # topic, id: version, seq, html
        self._lines: dict[str, deque[dict[str, Any]]] = {}
        self._version = 0
        self._feed: Feed | None = None
        threading.Thread(target=self._run, daemon=True, name=f"stream of {word}").start()

    # for the loop's thread

    def join(self, client: Client) -> bool:
        """False: it was away too long."""
        with self._lock:
            oldest = self._events[0]["seq"] - 1 if len(self._events) == KEPT else self.base
            if not oldest <= client.seq <= self.seq:
                return False
            self.clients.add(client)
        self.wake()
        return True

    def leave(self, client: Client) -> None:
        with self._lock:
            self.clients.discard(client)

    def wake(self) -> None:
        if self._feed is not None:
            self._feed.wake()

    def updates(self, client: Client) -> list[dict[str, Any]]:
        """Messages that bring the client up to date."""
        with self._lock:
            events = [event for event in self._events if event["seq"] > client.seq]
            pieces = [
                (version, {"id": id, "html": html})
                for topic in client.topics & self._pieces.keys()
                for id, (version, seq, html) in self._pieces[topic].items()
                if version > client.version
                and (client.version or seq > client.page or not client.is_fresh or topic == "bar")
            ]
            found: list[dict[str, Any]] = []
            if events or pieces:
                found.append({"op": "ev", "s": self.seq, "e": events, "parts": [piece for _, piece in pieces]})
            client.seq, client.version = self.seq, self._version or client.version
            for topic in sorted(client.topics & self._lines.keys()):
                known = client.lines.get(topic, 0)
                lines = [line for line in self._lines[topic] if line["number"] >= known]
                if lines:
                    client.lines[topic] = lines[-1]["number"] + 1
                    found.append({"op": "lines", "topic": topic, "n": client.lines[topic], "lines": lines})
        return found

    # in the stream's own thread

    def _run(self) -> None:
        while not self.is_over:
            try:
                self._look()
            except NobrakesError as error:
                LOG.warning("stream of %s: %s", self.word, error)
                self._end_unless_wanted()
                time.sleep(1)
            except Exception:
                LOG.exception("stream of %s", self.word)
                self.is_over = True
        self._tell(self.ready.set)
        self._ring()

    def _look(self) -> None:
        with repository(self.word) as app:
            last = frame_of(app, self.word).bar
            assert last is not None
            if not self.seq:
                self.base = self.seq = max(0, last.seq - KEPT // 4)
            feed = Feed(app.store, app.paths, self.seq)
            try:
                while self._take(feed):
                    pass  # what was there before anybody looked
                self._feed = feed
                self._tell(self.ready.set)
                self._watch(app, feed)
            finally:
                self._feed = None
                feed.close()

    def _watch(self, app: Any, feed: Feed) -> None:
        is_due, shown, daemon, left = True, 0.0, feed.daemon(), time.monotonic()
        while not self.is_over:
            topics = self._wanted()
            is_due |= self._take(feed) or any(topic in PARTS and topic not in self._pieces for topic in topics)
            now = time.monotonic()
            if daemon != (daemon := feed.daemon()):
                is_due = True
            if now - shown >= (PIECES_SECONDS if is_due else LOOK_SECONDS):
                app.__dict__.pop("config", None)  # the settings may have changed
                self._render(app, topics)
                is_due, shown = False, now
            watches = self._read_lines(feed, topics)
            left = now if topics else left
            if now - left > LINGER_SECONDS:
                self._end_unless_wanted()
            feed.wait(LINES_SECONDS if watches else PIECES_SECONDS if is_due else LOOK_SECONDS)

    def _wanted(self) -> frozenset[str]:
        with self._lock:
            return frozenset(topic for client in self.clients for topic in client.topics)

    def _end_unless_wanted(self) -> None:
        with self._lock:
            self.is_over = self.is_over or not self.clients

    def _take(self, feed: Feed) -> bool:
        found = feed.events()
        if not found:
            return False
        made = [told(event) for event in found]
        with self._lock:
            self._events.extend(made)
            self.seq = feed.seq
        self._ring()
        return True

    def _render(self, app: Any, topics: Iterable[str]) -> None:
        wanted = [topic for topic in topics if topic in PARTS]
        frame = frame_of(app, self.word)
        made = {topic: PARTS[topic](app, frame) for topic in wanted}
        at = max(self.seq, last_seq(app.store))  # asked afterwards: a piece is never newer than its number
        with self._lock:
            for topic in [topic for topic in self._pieces if topic not in made]:
                del self._pieces[topic]
            for topic, pieces in made.items():
                kept = self._pieces.setdefault(topic, {})
                for id, html in pieces.items():
                    if id not in kept or without_keys(kept[id][2]) != without_keys(html):
                        self._version += 1
                        kept[id] = self._version, at, html
        self._ring()

    def _read_lines(self, feed: Feed, topics: Iterable[str]) -> bool:
        wanted = {topic for topic in topics if _OUTPUT.fullmatch(topic)}
        is_new = False
        for topic in wanted:
            begin, found = feed.lines(topic)
            if found or topic not in self._lines:
                lines = [
                    {"number": one.number, "kind": one.kind, "text": one.text, "is_telling": one.is_telling}
                    for one in numbered(found[-LINES:], begin + max(0, len(found) - LINES))
                ]
                with self._lock:
                    self._lines.setdefault(topic, deque(maxlen=LINES)).extend(lines)
                is_new = True
        for topic in self._lines.keys() - wanted:
            feed.forget(topic)
            with self._lock:
                del self._lines[topic]
        if is_new:
            self._ring()
        return bool(wanted)

    def _ring(self) -> None:
        def ring() -> None:
            for client in tuple(self.clients):
                client.bell.set()

        self._tell(ring)

    def _tell(self, what: Callable[[], None]) -> None:
        """Call it in the loop; ignored after the server's end."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)


def told(event: "Event") -> dict[str, Any]:
    """An event for a page: number, subject, and one line."""
    line = words.as_line(event, width=160)
    own = {"seq": event.seq, "bead": event.bead, "kind": event.kind.value}
    return {**own, "actor": event.actor, "at": event.at, "line": line}


BEAT_SECONDS = 30.0
HELLO_SECONDS = 5.0
MAX_TOPICS = 64
MAX_SOCKETS = 200
MALFORMED, GONE, FULL = 1008, 4404, 1013


async def live(socket: WebSocket) -> None:
    """One page, until it ends."""
    await socket.accept()
    streams: dict[str, Stream] = socket.app.state.streams
    if sum(len(stream.clients) for stream in streams.values()) >= MAX_SOCKETS:
        await socket.close(FULL)
        return
    try:
        hello = _hello(await asyncio.wait_for(socket.receive_text(), HELLO_SECONDS))
        await asyncio.to_thread(repository, socket.path_params["repo"])
    except (TimeoutError, ValueError, KeyError, WebSocketDisconnect):
        await _close(socket, MALFORMED)
        return
    except NobrakesError:
        await _close(socket, GONE)
        return
    if hello["boot"] != BOOT:
        await socket.send_text('{"op":"reset"}')
        await _close(socket, 1000)
        return
    await _follow(socket, _stream(streams, socket.path_params["repo"]), hello)


def _stream(streams: dict[str, Stream], word: str) -> Stream:
    if word not in streams or streams[word].is_over:
        streams[word] = Stream(word, asyncio.get_running_loop())
    return streams[word]


async def _follow(socket: WebSocket, stream: Stream, hello: dict[str, Any]) -> None:
    client = Client(hello["after"], hello["topics"], hello["lines"], hello["fresh"])
    with suppress(TimeoutError):
        await asyncio.wait_for(stream.ready.wait(), 10)
    if not stream.join(client):
        await socket.send_text('{"op":"reset"}')
        await _close(socket, 1000)
        return
    hearing = asyncio.create_task(_hear(socket, stream, client))
    try:
        await socket.send_text(json.dumps({"op": "welcome", "s": stream.seq}))
        await _tell(socket, stream, client, hearing)
    except (WebSocketDisconnect, RuntimeError, OSError):
        pass  # it is gone
    finally:
        hearing.cancel()
        stream.leave(client)
        await _close(socket, 1000)


async def _tell(socket: WebSocket, stream: Stream, client: Client, hearing: "asyncio.Task[None]") -> None:
    site: Site = socket.app.state.site
    while not hearing.done() and not stream.is_over:
        client.bell.clear()
        for message in stream.updates(client):
            await socket.send_text(json.dumps(message, separators=(",", ":")))
        try:
            await asyncio.wait_for(client.bell.wait(), BEAT_SECONDS)
        except TimeoutError:
            secret = socket.scope.get("nobrakes.secret")
            if secret and site.state.session(secret) is None:
                return
            await socket.send_text('{"op":"beat"}')


async def _hear(socket: WebSocket, stream: Stream, client: Client) -> None:
    try:
        while True:
            hello = _hello(await socket.receive_text())
            client.topics = hello["topics"]
            client.lines = {**hello["lines"], **client.lines}
            stream.wake()
    except (ValueError, KeyError):
        LOG.info("socket of %s: no proper message", stream.word)
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        client.bell.set()


def _hello(text: str) -> dict[str, Any]:
    """Raises ValueError, KeyError."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(found, dict):
        raise ValueError("no object")
    topics, lines, after = found.get("topics", []), found.get("lines", {}), found.get("after", 0)
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS or not isinstance(lines, dict):
        raise ValueError("topics")
    if not all(isinstance(one, str) and len(one) <= 80 for one in topics):
        raise ValueError("a topic")
    if type(after) is not int or not 0 <= after < 2**53 or len(lines) > MAX_TOPICS:
        raise ValueError("after")
    if not all(type(number) is int and number >= 0 for number in lines.values()):
        raise ValueError("lines")
    wanted = {"topics": frozenset((*topics, "bar")), "lines": dict(lines)}
    return {"boot": found.get("boot"), "after": after, "fresh": found.get("fresh", True) is True, **wanted}


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(RuntimeError, WebSocketDisconnect, OSError):
        await socket.close(code)
