"""core.boundaries.matches again, without `re`, for the guard. A property test holds the two together."""

TYPE_CHECKING = False  # importing `typing` or `collections` would cost more than deciding
if TYPE_CHECKING:
    from collections.abc import Iterable

_ANY_FOLDERS, _ANYTHING, _ANY_NAME, _ONE = "**/", "**", "*", "?"


def _tokens(glob: str) -> list[str]:
    text = glob.strip("/")
    if "/" not in text:
        text = "**/" + text
    text = text.removesuffix("/**")
    found = []
    place = 0
    while place < len(text):
        token = next((t for t in (_ANY_FOLDERS, _ANYTHING) if text.startswith(t, place)), text[place])
        found.append(token)
        place += len(token)
    return found


def _after(token: str, path: str, start: int) -> list[int]:
    """Where in the path a match of the token that begins at `start` can end."""
    if token == _ANY_FOLDERS:
        ends = [start]
        slash = path.find("/", start)
        while slash > ends[-1]:
            ends.append(slash + 1)
            slash = path.find("/", slash + 1)
        return ends
    if token == _ANYTHING:
        return list(range(start, len(path) + 1))
    if token == _ANY_NAME:
        slash = path.find("/", start)
        return list(range(start, (slash if slash >= 0 else len(path)) + 1))
    if start < len(path) and (path[start] == token or (token == _ONE and path[start] != "/")):
        return [start + 1]
    return []


def _covers(glob: str, path: str) -> bool:
    places = {0}
    for token in _tokens(glob):
        places = {end for start in places for end in _after(token, path, start)}
    return any(place == len(path) or path[place] == "/" for place in places)


def matches(path: str, globs: "Iterable[str]") -> bool:
    """Whether one of the globs covers the path; a glob that names a folder covers what is in it."""
    return any(_covers(glob, path) for glob in globs)
