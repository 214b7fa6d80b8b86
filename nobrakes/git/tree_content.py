"""A tree as git stores it: read, compared with another one, and written, for what differs alone.

A folder of ten thousand files is one long piece of bytes of which a change touches forty. So a tree is read from the
one that is most like it: what both begin with and what both end with is taken over, and what lies between is parsed.
"""

import os
import re
import stat
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from ..records import frozen

FOLDER = "040000"
FILE = "100644"
EXECUTABLE = "100755"
LINK = "120000"
MODULE = "160000"


@frozen
class Entry:
    """What a path is in a tree: git's octal mode and the object."""

    mode: str
    id: str


@frozen
class Stored:
    """A tree with its bytes. `starts`: where each entry begins, in order, and where the last one ends.

    `is_plain`: it is what `tree_content` makes of its entries. Git reads others, too.
    """

    raw: bytes
    width: int
    entries: Mapping[str, Entry]
    starts: list[int]
    is_plain: bool


_ENTRIES = {width: re.compile(rb"([0-7]{1,6}) ([^\0]*)\0([\0-\xff]{%d})" % width, re.DOTALL) for width in (20, 32)}
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def _parsed(raw: bytes, width: int) -> tuple[list[tuple[str, Entry]], list[int]]:
    """The entries in order, and where each ends. ValueError: git reads some of such modes, each version in its way."""
    entries, ends, end = [], [], 0
    for mode, name, oid in _ENTRIES[width].findall(raw):
        end += len(mode) + len(name) + 2 + width
        ends.append(end)
        entries.append((name.decode(_ENCODING, _ERRORS), Entry(_MODES.get(mode) or _mode(mode), oid.hex())))
    if end != len(raw):
        raise ValueError(f"{raw[:20]!r} is no tree")
    return entries, ends


def _mode(digits: bytes) -> str:
    return _MODES.setdefault(digits, _plain_mode(int(digits, 8)))


_MODES: dict[bytes, str] = {}
"""At most as many as there are texts of six octal digits; five are in use."""


def _plain_mode(mode: int) -> str:
    """The mode as git reads it: of a file's permissions, old trees hold more than the one bit that counts."""
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & 0o100 else FILE
    return LINK if stat.S_ISLNK(mode) else FOLDER if stat.S_ISDIR(mode) else MODULE


def stored(raw: bytes, width: int, like: Stored | None = None) -> Stored:
    """A tree from its bytes, taken over from one that is `like` it where they are the same. ValueError: it is none."""
    if like is None or like.width != width or not like.is_plain:
        entries, ends = _parsed(raw, width)
        whole = dict(entries)
        return Stored(raw, width, whole, [0, *ends], tree_content(whole) == raw)
    first, last, end = _between(like, raw)
    begin = like.starts[first]
    try:
        fresh, ends = _parsed(raw[begin:end], width)
    except ValueError:  # what both end with begins inside of an entry: a name may end like another entry
        return stored(raw, width)
    gone, _ = _parsed(like.raw[begin : like.starts[last]], width)
    found = dict(like.entries)
    for name, _ in gone:
        del found[name]
    found.update(fresh)
    by = len(raw) - len(like.raw)
    after = like.starts[last + 1 :]
    starts = like.starts[: first + 1] + [begin + one for one in ends] + ([one + by for one in after] if by else after)
    if len(found) != len(starts) - 1:  # a name stands twice, and git takes the later one
        return stored(raw, width)
    is_plain = like.is_plain and tree_content(dict(fresh)) == raw[begin:end]
    made = Stored(raw, width, found, starts, is_plain)
    around = range(max(0, first - 1), min(first + len(fresh) + 1, len(starts) - 1))
    places = [_place_at(made, number) for number in around]
    return made if places == sorted(places) else Stored(raw, width, found, starts, False)


def differing(one: Stored, other: Stored) -> set[str]:
    """The names that are not the same in both trees, or in one of them alone."""
    if one.width != other.width or not (one.is_plain and other.is_plain):
        return {*one.entries, *other.entries}
    first, last, end = _between(one, other.raw)
    before = dict(_parsed(one.raw[one.starts[first] : one.starts[last]], one.width)[0])
    try:
        after = dict(_parsed(other.raw[one.starts[first] : end], one.width)[0])
    except ValueError:  # as in `stored`
        return {*one.entries, *other.entries}
    return {name for name in {**before, **after} if before.get(name) != after.get(name)}


def _between(like: Stored, raw: bytes) -> tuple[int, int, int]:
    """What differs: the number of its first entry in `like` and of the one after its last; where it ends in `raw`."""
    same = _alike(like.raw, raw)
    first = bisect_right(like.starts, same) - 1
    first = min(first, len(like.starts) - 1)
    begin = like.starts[first]
    longest = min(len(like.raw), len(raw)) - begin  # what both begin with is not counted again from the end
    tail = _alike_at_end(like.raw, raw, longest)
    last = bisect_left(like.starts, len(like.raw) - tail)
    return first, last, len(raw) - (len(like.raw) - like.starts[last])


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _alike_at_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes both end with, of so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def tree_content(entries: Mapping[str, Entry]) -> bytes:
    """A tree as git stores it."""
    return b"".join(_content(name, entry) for name, entry in sorted(entries.items(), key=_place))


def _content(name: str, entry: Entry) -> bytes:
    return entry.mode.lstrip("0").encode() + b" " + os.fsencode(name) + b"\0" + bytes.fromhex(entry.id)


def _place(item: tuple[str, Entry]) -> bytes:
    return os.fsencode(item[0]) + (b"/" if item[1].mode == FOLDER else b"")  # git sorts a folder as its paths


def changed(tree: Stored, entries: Mapping[str, Entry]) -> bytes:
    """The tree with these entries in place of its own of the same names, or added, as git stores it."""
    if not tree.is_plain:
        return tree_content({**tree.entries, **entries})
    without: set[int] = set()
    added: dict[int, list[tuple[bytes, bytes]]] = {}
    for name, entry in entries.items():
        if (old := tree.entries.get(name)) is not None:
            without.add(_index_of(tree, _place((name, old))))
        place = _place((name, entry))
        added.setdefault(_index_of(tree, place), []).append((place, _content(name, entry)))
    made, end = [], 0
    for number in sorted({*without, *added}):
        made.append(tree.raw[end : tree.starts[number]])
        made += [content for _, content in sorted(added.get(number, ()))]
        end = tree.starts[number + 1] if number in without else tree.starts[number]
    return b"".join([*made, tree.raw[end:]])


def _index_of(tree: Stored, place: bytes) -> int:
    """The number of the first entry that does not stand before the place."""
    low, high = 0, len(tree.starts) - 1
    while low < high:
        middle = (low + high) // 2
        if _place_at(tree, middle) < place:
            low = middle + 1
        else:
            high = middle
    return low


def _place_at(tree: Stored, number: int) -> bytes:
    mode, _, name = tree.raw[tree.starts[number] : tree.starts[number + 1] - tree.width - 1].partition(b" ")
    return name + (b"/" if mode == b"40000" else b"")
