"""The file of packed refs, looked into without reading it: there is a line for each bead that was ever done.

git sorts it by name and says so in its first line; where it does not, the whole file is looked through. A line that
begins with `^` says what the tag before it points to, and is passed over.
"""

import mmap
import os

Found = list[tuple[str, str]]


def below(git_dir: str, prefix: str) -> Found | None:
    """(ref, object id) of the packed refs whose names begin so, in order; None: refs are kept in another way."""
    if os.path.isdir(os.path.join(git_dir, "reftable")):
        return None
    wanted = os.fsencode(prefix)
    try:
        with open(os.path.join(git_dir, "packed-refs"), "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return []
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
                return _found(lines, wanted)
    except FileNotFoundError:
        return []


def at(git_dir: str, ref: str) -> str | None:
    """The object id in the packed ref of this name; None: there is none, or refs are kept in another way."""
    return dict(below(git_dir, ref) or ()).get(ref)


def _found(lines: mmap.mmap, wanted: bytes) -> Found:
    head = lines[: lines.find(b"\n") + 1]
    is_sorted = head.startswith(b"#") and b" sorted " in head.replace(b"\n", b" ")
    place = _first(lines, len(head), wanted) if is_sorted else 0
    found: Found = []
    while place < len(lines):
        line, place = _line(lines, place)
        oid, _, name = line.partition(b" ")
        if name.startswith(wanted) and not line.startswith(b"#"):
            found.append((os.fsdecode(name), oid.decode("ascii", "replace")))
        elif is_sorted and name > wanted:
            break
    return sorted(found)


def _first(lines: mmap.mmap, low: int, wanted: bytes) -> int:
    """Where the first line begins whose name does not stand before the wanted one; they begin at `low`."""
    high = len(lines)
    while low < high:
        begin = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        while begin > low and lines[begin] == ord("^"):
            begin = lines.rfind(b"\n", low, begin - 1) + 1 or low
        line, end = _line(lines, begin)
        if line.partition(b" ")[2] < wanted and not line.startswith(b"^"):
            low = end
        elif line.startswith(b"^"):
            low = end  # what it belongs to stands before all that is left
        else:
            high = begin
    return low


def _line(lines: mmap.mmap, begin: int) -> tuple[bytes, int]:
    """The line that begins there, without its end, and where the next one begins."""
    end = lines.find(b"\n", begin)
    end = len(lines) if end < 0 else end
    return lines[begin:end], end + 1
