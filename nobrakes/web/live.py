"""`/r/<repo>/socket`: what a page hears while it is open. Nothing is done by a socket; commands are POSTs.

1. The page says {boot, after, topics, lines, fresh}, at first within HELLO_SECONDS and again when it wants something
   else. The answer is `welcome`, or `reset` where it belongs to another process or was away too long: it asks for
   itself again. `fresh`: it was rendered just now; what comes back after a while is sent every piece.
2. {op: "ev", s, e, parts}: the events up to number s, and the pieces of the page that changed. {op: "lines", …}: what
   an agent said. {op: "beat"} comes when nothing else did, so that silence means a lost connection.
3. What is no proper message ends the socket, and hurts nobody else.
"""

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..core.errors import NobrakesError
from .frame import BOOT
from .opening import folder
from .site import LOG, Site
from .stream import Client, Stream

BEAT_SECONDS = 30.0
HELLO_SECONDS = 5.0
MOST_TOPICS = 64
MOST_SOCKETS = 200
MALFORMED, GONE, FULL = 1008, 4404, 1013


async def live(socket: WebSocket) -> None:
    """One page, until it goes."""
    await socket.accept()
    streams: dict[str, Stream] = socket.app.state.streams
    if sum(len(stream.clients) for stream in streams.values()) >= MOST_SOCKETS:
        await socket.close(FULL)
        return
    try:
        hello = _hello(await asyncio.wait_for(socket.receive_text(), HELLO_SECONDS))
        await asyncio.to_thread(folder, socket.path_params["repo"])
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
        for message in stream.news(client):
            await socket.send_text(json.dumps(message, separators=(",", ":")))
        try:
            await asyncio.wait_for(client.bell.wait(), BEAT_SECONDS)
        except TimeoutError:
            secret = socket.scope.get("nobrakes.secret")
            if secret and site.state.session(secret) is None:
                return
            await socket.send_text('{"op":"beat"}')


async def _hear(socket: WebSocket, stream: Stream, client: Client) -> None:
    """What the page wants from now on; its end ends the socket."""
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
    """The message as values; ValueError, KeyError."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(found, dict):
        raise ValueError("no object")
    topics, lines, after = found.get("topics", []), found.get("lines", {}), found.get("after", 0)
    if not isinstance(topics, list) or len(topics) > MOST_TOPICS or not isinstance(lines, dict):
        raise ValueError("topics")
    if not all(isinstance(one, str) and len(one) <= 80 for one in topics):
        raise ValueError("a topic")
    if type(after) is not int or not 0 <= after < 2**53 or len(lines) > MOST_TOPICS:
        raise ValueError("after")
    if not all(type(number) is int and number >= 0 for number in lines.values()):
        raise ValueError("lines")
    wanted = {"topics": frozenset((*topics, "bar")), "lines": dict(lines)}
    return {"boot": found.get("boot"), "after": after, "fresh": found.get("fresh", True) is True, **wanted}


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(RuntimeError, WebSocketDisconnect, OSError):
        await socket.close(code)
