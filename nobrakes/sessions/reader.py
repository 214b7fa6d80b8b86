"""Reading a session's output file while it grows.

1. A line is given once it is whole; an offset says where to go on, across restarts of the reader.
2. A file that became shorter was begun anew, and is read from its start.
3. No line, however long, takes more than LONGEST bytes of memory.

Of an agent (host.runs.recorder) FILE.1 holds what came before.
"""

import os
from collections.abc import Iterator

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
