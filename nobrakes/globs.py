"""Which paths a glob covers: `**` crosses folders, `*` and `?` do not, a pattern without `/` matches in any folder (one
that begins with it at the top only), and one that names a folder covers what is in it. Pure, and the only such rule.

It imports nothing: the guard, which is started before each tool call, matches by it too.
"""

TYPE_CHECKING = False  # importing `typing` or `collections` would cost more than deciding
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_READ: "dict[str, tuple[str, ...]]" = {}
MAX_READ = 4096
_LISTS: "dict[tuple[str, ...], Globs]" = {}
_FOLDED: "dict[tuple[str, ...], tuple[str, ...]]" = {}
MAX_LISTS = 64
"""Cached lists of globs: the same few are used for every path."""


def matches(path: str, globs: "Iterable[str]") -> bool:
    return _sorted(tuple(globs)).cover(path)


def matching(paths: "Iterable[str]", globs: "Iterable[str]") -> "list[str]":
    """Those of the paths that the globs cover, in their order."""
    known = _sorted(tuple(globs))
    return [path for path in paths if known.cover(path)]


def folded(globs: "tuple[str, ...]") -> "tuple[str, ...]":
    if (found := _FOLDED.get(globs)) is None:
        if len(_FOLDED) >= MAX_LISTS:
            _FOLDED.clear()
        found = _FOLDED[globs] = tuple(glob.casefold() for glob in globs)
    return found


class Globs:
    """Globs by kind: plain paths, names, prefixes or endings in any folder, other names with stars, below a folder, the
    rest."""

    def __init__(self, globs: "Iterable[str]") -> None:
        self.plain: set[str] = set()
        self.names: set[str] = set()
        self.begins: tuple[str, ...] = ()
        self.ends: tuple[str, ...] = ()
        self.stars: list[str] = []
        self.below: dict[str, list[tuple[str, ...]]] = {}
        self.others: list[tuple[str, ...]] = []
        for glob in globs:
            self.add(glob)

    def add(self, glob: str) -> None:
        """To the kind that it is of."""
        one = segments(glob)
        last = one[-1]
        has_star = "*" in last or "?" in last
        if (path := plain(glob)) is not None:
            self.plain.add(path)
        elif len(one) != 2 or one[0] != "**" or "**" in last:
            if "*" in one[0] or "?" in one[0]:
                self.others.append(one)
            else:
                self.below.setdefault(one[0], []).append(one)
        elif not has_star:
            self.names.add(last)
        elif last.count("*") == 1 and "?" not in last and last.endswith("*"):
            self.begins += (last[:-1],)
        elif last.count("*") == 1 and "?" not in last and last.startswith("*"):
            self.ends += (last[1:],)
        else:
            self.stars.append(last)

    def cover(self, path: str) -> bool:
        parts = path.split("/")
        return (
            not self.names.isdisjoint(parts)
            or any(part.startswith(self.begins) or part.endswith(self.ends) for part in parts)
            or any(_same(star, part, False) for star in self.stars for part in parts)
            or not self.plain.isdisjoint(upwards(path))
            or any(_covers(one, 0, parts, 0) for one in self.below.get(parts[0], ()))
            or any(_covers(one, 0, parts, 0) for one in self.others)
        )


def upwards(path: str) -> "Iterator[str]":
    """The path and the folders above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def plain(glob: str) -> str | None:
    """The one path that the glob covers with what is in it; None: it is a pattern."""
    path = "/".join(segments(glob))
    return None if "*" in path or "?" in path else path


def _sorted(globs: "tuple[str, ...]") -> Globs:
    if (found := _LISTS.get(globs)) is None:
        if len(_LISTS) >= MAX_LISTS:
            _LISTS.clear()
        found = _LISTS[globs] = Globs(globs)
    return found


def segments(glob: str) -> "tuple[str, ...]":
    if (found := _READ.get(glob)) is None:
        text = glob.strip("/") if "/" in glob.rstrip("/") else f"**/{glob.strip('/')}"
        text = text.removesuffix("/**")  # the folder itself too, lest somebody puts a link in its place
        if len(_READ) >= MAX_READ:
            _READ.clear()
        found = _READ[glob] = tuple(text.split("/"))
    return found


def _covers(segments: "tuple[str, ...]", at: int, parts: "list[str]", place: int) -> bool:
    while at < len(segments):
        segment = segments[at]
        if "**" in segment:
            if segment == "**" and at < len(segments) - 1:  # any folders, or none
                return any(_covers(segments, at + 1, parts, start) for start in range(place, len(parts)))
            rest = "/".join(segments[at:])
            return any(_same(rest, "/".join(parts[place:end]), True) for end in range(place + 1, len(parts) + 1))
        if place >= len(parts) or not _same(segment, parts[place], False):
            return False
        at, place = at + 1, place + 1
    return True


def _same(pattern: str, text: str, is_crossing: bool) -> bool:
    """Whether the pattern matches all of the text. `is_crossing`: `**` and `**/` may occur, and `/` in the text."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == text
    if pattern.count("*") == 1 and "?" not in pattern:  # nearly all of them
        before, _, after = pattern.partition("*")
        return len(text) >= len(pattern) - 1 and text.startswith(before) and text.endswith(after) and "/" not in text
    ends = {0}
    place = 0
    while place < len(pattern) and ends:
        if is_crossing and pattern.startswith("**", place):
            is_folders = pattern.startswith("**/", place)
            ends = _folders(text, ends) if is_folders else set(range(min(ends), len(text) + 1))
            place += 3 if is_folders else 2
        elif pattern[place] == "*":
            ends = {end for start in ends for end in range(start, _line(text, start) + 1)}
            place += 1
        else:
            one = pattern[place]
            ends = {s + 1 for s in ends if s < len(text) and (text[s] == one or (one == "?" and text[s] != "/"))}
            place += 1
    return len(text) in ends


def _folders(text: str, starts: "set[int]") -> "set[int]":
    found = set(starts)
    for start in starts:
        if text[start : start + 1] != "/":
            found.update(place + 1 for place in range(start, len(text)) if text[place] == "/")
    return found


def _line(text: str, start: int) -> int:
    slash = text.find("/", start)
    return slash if slash >= 0 else len(text)
