"""Git's long-running filter, for checkouts that nobrakes makes: a pointer of Git LFS becomes its content.

1. It reads the repository's own store (its one argument) and nothing else; what is not there stays a pointer.
2. It speaks git's protocol (gitattributes, "Long Running Filter Process") in packets, and imports the standard library.
"""

import os
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO

_POINTER = re.compile(rb"version https://git-lfs[^\n]*\n(?:[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n")
_PACKET = 65516


def read(source: BinaryIO) -> Iterator[bytes]:
    while True:
        head = source.read(4)
        if len(head) < 4:
            raise EOFError
        if head == b"0000":
            return
        yield source.read(int(head, 16) - 4)


def write(to: BinaryIO, *packets: bytes) -> None:
    for packet in packets:
        to.write(b"%04x" % (len(packet) + 4) + packet)
    to.write(b"0000")
    to.flush()


def content(store: str, given: bytes) -> Iterator[bytes]:
    found = _POINTER.fullmatch(given) if len(given) < 1024 else None
    if found is not None:
        oid = found[1].decode()
        try:
            with open(os.path.join(store, oid[:2], oid[2:4], oid), "rb") as file:
                if os.fstat(file.fileno()).st_size == int(found[2]):
                    yield from iter(lambda: file.read(_PACKET), b"")
                    return
        except OSError:
            pass  # nobody fetched it: the pointer says so to whoever reads it
    yield from (given[start : start + _PACKET] for start in range(0, len(given), _PACKET))


def serve(store: str, source: BinaryIO, to: BinaryIO) -> None:
    """Answer git until it ends."""
    list(read(source))
    write(to, b"git-filter-server\n", b"version=2\n")
    list(read(source))
    write(to, b"capability=smudge\n")
    while True:
        list(read(source))
        given = b"".join(read(source))
        write(to, b"status=success\n")
        write(to, *content(store, given))
        write(to)


if __name__ == "__main__":
    try:
        serve(sys.argv[1], sys.stdin.buffer, sys.stdout.buffer)
    except EOFError:
        sys.exit(0)
