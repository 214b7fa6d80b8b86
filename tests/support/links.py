"""TCP links that a test can cut: each is a listening port on the loopback that carries bytes to another port.

A link can be reset (its connections end at once), be down (new ones are refused too), or stall: bytes of one direction
or of both are held back, and carried on later, as in a network that loses a route.
"""

import socket
import struct
import threading
from contextlib import suppress

FORTH, BACK = "forth", "back"
"""From whoever connects, and the other way."""


class Link:
    """A port of its own that leads to another one. `accepted`: how many connections it has carried."""

    def __init__(self, port: int) -> None:
        self.leads_to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._open = {FORTH: threading.Event(), BACK: threading.Event()}
        for one in self._open.values():
            one.set()
        self._is_down = False
        self.accepted = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self, *directions: str) -> None:
        for one in directions or (FORTH, BACK):
            self._open[one].clear()

    def reset(self) -> None:
        """End the connections that are there."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for one in pair:
                with suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def down(self) -> None:
        """End the connections, and refuse new ones."""
        self._is_down = True
        self.reset()

    def mend(self) -> None:
        self._is_down = False
        for one in self._open.values():
            one.set()

    def end(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.down()
        for one in self._open.values():
            one.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._is_down:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.leads_to), 5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._pairs.append((near, far))
                self.accepted += 1
            threading.Thread(target=self._carry, args=(near, far, FORTH), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near, BACK), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, direction: str) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                self._open[direction].wait()
                target.sendall(part)
        with suppress(OSError):
            self._open[direction].wait()
            target.shutdown(socket.SHUT_WR)
