"""Which beads would change the same files, so that they are better done one after the other.

1. Two globs collide when there can be a path that both cover (core.globs); a path is a glob that covers itself, and a
   bare name is the one at the top, since who says what he will change does not mean all files of that name.
   A segment with `**` amid other signs is taken for anything: to keep two beads apart for nothing costs little.
2. A bead that would collide with one at work, or with one that is started before it, stands back, but only behind beads
   of its own class, and only while there are such: nobody idles for it, and nothing urgent waits for less urgent.
3. A bead of which nothing is known collides with nobody.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from ..beads.attempt import Frontier
from ..globs import segments

MOST = 200
"""So many globs of one bead are looked at."""


def apart(ready: Sequence[Frontier], taken: Mapping[str, Sequence[str]]) -> Iterator[Frontier]:
    """The beads in the order in which they should be started. `taken`: by bead at work, the globs that it may change.

    What has been yielded counts as started.
    """
    if not any(bead.touches for bead in ready):
        yield from ready
        return
    busy = [glob for globs in taken.values() for glob in globs[:MOST]]
    for _, group in groupby(ready, key=lambda bead: bead.rank):
        back: list[Frontier] = []
        for bead in group:
            if collide(bead.touches, busy):
                back.append(bead)
            else:
                busy += bead.touches[:MOST]
                yield bead
        for bead in back:
            busy += bead.touches[:MOST]
            yield bead


def collide(these: Sequence[str], those: Sequence[str]) -> bool:
    """Whether some path may be covered by both."""
    return any(meet(one, other) for one in these[:MOST] for other in those)


@lru_cache(maxsize=4096)
def meet(one: str, other: str) -> bool:
    """Whether there can be a path that both globs cover."""
    a, b = (segments(glob if set("/*?") & {*glob} else f"/{glob}") for glob in (one, other))
    ways, seen = [(0, 0)], set[tuple[int, int]]()
    while ways:
        i, j = way = ways.pop()
        if i == len(a) or j == len(b):
            return True  # it covers what is in its folder
        if way in seen:
            continue
        seen.add(way)
        if a[i] == "**":
            ways += [(i + 1, j), (i, j + 1)]
        elif b[j] == "**":
            ways += [(i, j + 1), (i + 1, j)]
        elif "**" in a[i] or "**" in b[j]:
            return True
        elif _same_name(a[i], b[j]):
            ways.append((i + 1, j + 1))
    return False


def _same_name(one: str, other: str) -> bool:
    """Whether there is a name that both patterns match."""
    if not set("*?") & {*one, *other}:
        return one == other
    reached, ways = set[tuple[int, int]](), [(0, 0)]
    while ways:
        i, j = way = ways.pop()
        if way == (len(one), len(other)):
            return True
        if way in reached:
            continue
        reached.add(way)
        a, b = one[i : i + 1], other[j : j + 1]
        if a == "*":
            ways += [(i + 1, j), *([(i, j + 1)] if b else [])]
        if b == "*":
            ways += [(i, j + 1), *([(i + 1, j)] if a else [])]
        if a and b and (a == b or "?" in (a, b)) and "*" not in (a, b):
            ways.append((i + 1, j + 1))
    return False
