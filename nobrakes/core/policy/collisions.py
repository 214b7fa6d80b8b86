"""Which beads would change the same files, so that they are better done one after the other.

1. Two globs collide when there can be a path that both cover (core.globs); a path is a glob that covers itself, and a
   bare name is the one at the top, since who says what he will change does not mean all files of that name.
   What is hard to tell is taken for anything: to keep two beads apart for nothing costs little.
2. A bead that would collide with one at work, or with one that is started before it, stands back, but only behind beads
   of its own class, and only while there are such: nobody idles for it, and nothing urgent waits for less urgent.
3. A bead of which nothing is known collides with nobody, and nor does one after so many steps of one turn.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..beads.attempt import Frontier
from ..globs import segments

MOST = 200
"""So many globs of one bead are looked at."""
STEPS = 20_000
"""So much is compared in one turn: about a tenth of a second."""
LONG = 2000
"""Two patterns for names that have more pairs of signs are taken to match one name."""


class _Folder:
    """What busy globs have in one place: the names and patterns that come next."""

    __slots__ = ("is_deep", "is_end", "names", "patterns")

    def __init__(self) -> None:
        self.names: dict[str, _Folder] = {}
        self.patterns: dict[str, _Folder] = {}
        self.is_deep = False  # behind `**`: any folders may lie between
        self.is_end = False  # a glob covers all from here on


class Busy:
    """The globs of all that is at work, for one turn."""

    def __init__(self, globs: Iterable[Sequence[str]] = ()) -> None:
        self._top = _Folder()
        self._left = STEPS
        for some in globs:
            self.add(some)

    def add(self, globs: Sequence[str]) -> None:
        """These are at work, too."""
        for glob in globs[:MOST]:
            place = self._top
            for part in _parts(glob):
                place = (place.patterns if set("*?") & {*part} else place.names).setdefault(part, _Folder())
                place.is_deep |= part == "**"
            place.is_end = True

    def meets(self, globs: Sequence[str]) -> bool:
        """Whether some path may be covered by one of these, and by one that is at work."""
        top = self._top
        if not (top.names or top.patterns or top.is_end):
            return False
        return any(self._meets(_parts(glob)) for glob in globs[:MOST])

    def _meets(self, parts: Sequence[str]) -> bool:
        ways, seen = [(self._top, 0)], set[tuple[int, int]]()
        while ways and self._left > 0:
            place, at = ways.pop()
            if place.is_end or at == len(parts):
                return True  # it covers what is in its folder
            self._left -= 1
            if (id(place), at) in seen:
                continue
            seen.add((id(place), at))
            part = parts[at]
            if place.is_deep or part == "**":
                ways.append((place, at + 1))
            if "**" in place.patterns:
                ways.append((place.patterns["**"], at))
            ways += [(next_, at + (part != "**")) for next_ in self._next(place, part)]
        return False

    def _next(self, place: _Folder, part: str) -> Iterator[_Folder]:
        """Where the part leads to from there; `**` itself leads everywhere."""
        is_plain = not set("*?") & {*part}
        if is_plain:
            if part in place.names:
                yield place.names[part]
        else:
            yield from (found for name, found in place.names.items() if self._same_name(part, name))
        for name, found in place.patterns.items():
            if name != "**" and self._same_name(part, name):
                yield found

    def _same_name(self, one: str, other: str) -> bool:
        """Whether there may be a name that both patterns match."""
        self._left -= 1
        if self._left <= 0:
            return False
        if one == "**" or len(one) * len(other) > LONG:
            return True
        for a, b in ((one[:1], other[:1]), (one[-1:], other[-1:])):
            if a != b and a not in "*?" and b not in "*?":
                return False
        reached, ways = set[tuple[int, int]](), [(0, 0)]
        while ways:
            i, j = way = ways.pop()
            if way == (len(one), len(other)):
                return True
            if way in reached:
                continue
            reached.add(way)
            self._left -= 1
            a, b = one[i : i + 1], other[j : j + 1]
            if a == "*":
                ways += [(i + 1, j), *([(i, j + 1)] if b else [])]
            if b == "*":
                ways += [(i, j + 1), *([(i + 1, j)] if a else [])]
            if a and b and (a == b or "?" in (a, b)) and "*" not in (a, b):
                ways.append((i + 1, j + 1))
        return False


def apart(ready: Sequence[Frontier], busy: Busy) -> Iterator[Frontier]:
    """The beads in the order in which they should be started; the caller adds to `busy` what it starts."""
    for _, group in groupby(ready, key=lambda bead: bead.rank):
        back: list[Frontier] = []
        for bead in group:
            if busy.meets(bead.touches):
                back.append(bead)
            else:
                yield bead
        yield from back


def _parts(glob: str) -> Sequence[str]:
    """The glob's segments, up to one with `**` amid other signs: that is taken for anything."""
    parts = segments(glob if set("/*?") & {*glob} else f"/{glob}")
    odd = (at for at, part in enumerate(parts) if "**" in part and part != "**")
    return parts[: next(odd, len(parts))]
