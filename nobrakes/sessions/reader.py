"""Reading a session's output file while it grows.

1. A line is given once it is whole; an offset says where to go on, across restarts of the reader.
2. A file that became shorter was begun anew, and is read from its start.
3. No line, however long, takes more than LONGEST bytes of memory.

Of an agent (host.runs.recorder) FILE.1 holds what came before.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from ..agents.transcript import Line
from ..walking import below, of_state

LONGEST = 1024 * 1024
"""Bytes of one line that are kept."""

CUT = b" [line cut by nobrakes]"
"""What stands at the end of a line that was longer."""

_BLOCK = 64 * 1024


def follow(path: str, offset: int = 0, final: bool = False) -> Iterator[tuple[int, bytes]]:
    """The whole lines after `offset` that are there now, each with the offset to go on from. A missing file has none.

    `final`: nothing will be added any more, so that a last line without its end counts as well.
    """
    file = below(*of_state(path))
    if file is None:
        return
    with file:
        if os.fstat(file.fileno()).st_size < offset:
            offset = 0
        file.seek(offset)
        line = bytearray()
        length = 0
        while block := file.read(_BLOCK):
            begin = 0
            while (end := block.find(b"\n", begin)) >= 0:
                _add(line, block[begin:end])
                length += end - begin
                offset += length + 1
                yield offset, _whole(line, length)
                line.clear()
                length = 0
                begin = end + 1
            _add(line, block[begin:])
            length += len(block) - begin
        if final and length:
            yield offset + length, _whole(line, length)


def _add(line: bytearray, piece: bytes) -> None:
    line += piece[: LONGEST - len(line)]


def _whole(line: bytearray, length: int) -> bytes:
    return bytes(line) if length <= LONGEST else bytes(line) + CUT


# The last lines of a session, in the memory of whoever looks on: they are shown, and only what is new is read.

SIZE = 100
"""Lines that are remembered."""
NEAR = 1_000_000
"""Bytes before the end at which a viewer begins who wants no more than the last lines."""


class Ring:
    """The last `size` lines of the file at `path`, which `lines` makes readable.

    `back`: begin so many bytes before the present end, with the next whole line; None: at the beginning.
    """

    def __init__(
        self, path: str, lines: Callable[[bytes], Iterable[Line]], size: int = SIZE, back: int | None = None
    ) -> None:
        self._path = path
        self._lines = lines
        self._back = back
        self._offset: int | None = None
        self.last: deque[Line] = deque(maxlen=size)

    def read_on(self, final: bool = False) -> Iterator[Line]:
        """What was added since the last time, line by line; what was taken is in the ring, as far as it has room.

        `final`: nothing will be added any more, so that a last line without its end counts as well.
        """
        offset, torn = self._begin() if self._offset is None else (self._offset, False)
        for place, raw in follow(self._path, offset, final):
            self._offset = place
            for line in () if torn else self._lines(raw):
                self.last.append(line)
                yield line
            torn = False

    def catch_up(self, final: bool = False) -> None:
        """Take what was added, for who wants no more than the last lines."""
        for _ in self.read_on(final):
            pass

    def _begin(self) -> tuple[int, bool]:
        """Where to begin, and whether that is within a line."""
        try:
            size = os.lstat(self._path).st_size
        except OSError:
            return 0, False
        begin = 0 if self._back is None else max(0, size - self._back - 1)  # a byte more: it may be a line's end
        return begin, begin > 0
