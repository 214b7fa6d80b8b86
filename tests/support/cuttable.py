"""A network between a browser and a server that is cut, and that swallows what it is given, when a test says so."""

import socket
import threading
from contextlib import suppress
from typing import Literal

Way = Literal["open", "cut", "swallows", "one way"]


class Network:
    """Forwards connections to `port` of the loopback. Its own is `self.port`.

    open: as a wire. cut: what is open is reset, and nothing else comes through. swallows: all stays open and nothing
    arrives, as in a tunnel or with a sleeping machine. one way: what the browser says arrives, no answer comes back.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._way: Way = "open"
        self._changed = threading.Condition()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def becomes(self, way: Way) -> None:
        """From now on."""
        with self._changed:
            self._way = way
            self._changed.notify_all()
            if way == "cut":
                for pair in tuple(self._pairs):
                    self._reset(pair)

    def end(self) -> None:
        """Forward nothing more."""
        self.becomes("cut")
        self._listening.close()

    def _reset(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self._pairs.discard(pair)
        for one in pair:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:
                return
            if self._way == "cut":
                here.close()
                continue
            try:
                there = socket.create_connection(("127.0.0.1", self._to))
            except OSError:  # nobody listens there now
                here.close()
                continue
            pair = (here, there)
            self._pairs.add(pair)
            for source, target, stops in ((here, there, ("swallows",)), (there, here, ("swallows", "one way"))):
                threading.Thread(target=self._pump, args=(pair, source, target, stops), daemon=True).start()

    def _pump(
        self,
        pair: tuple[socket.socket, socket.socket],
        source: socket.socket,
        target: socket.socket,
        stops: tuple[Way, ...],
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                with self._changed:
                    self._changed.wait_for(lambda: self._way not in stops or pair not in self._pairs)
                target.sendall(data)
        self._reset(pair)
        source.close()
