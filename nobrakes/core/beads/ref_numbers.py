"""The numbers that refs and folders bear: a database that is older than these counts on from them."""

from collections.abc import Iterable


def fences(refs: Iterable[str]) -> dict[str, int]:
    """The highest fence of each bead in names below refs/nobrakes/: the next attempt's refs must not be theirs."""
    found: dict[str, int] = {}
    for name in refs:
        kind, _, rest = name.partition("/")
        bead, _, last = rest.partition("/")
        number = last.partition("-")[0]
        if kind in ("incoming", "archive") and number.isdigit():
            found[bead] = max(found.get(bead, 0), int(number))
    return found


def last_attempt(runs: Iterable[str]) -> int:
    """The highest attempt that a folder of a run bears; 0: none does."""
    return max(map(int, _numbers(runs, "")), default=0)


def last_turn(runs: Iterable[str]) -> int:
    """The highest turn of a session that a folder of a run bears; 0: none does."""
    return max(map(int, _numbers(runs, "s")), default=0)


def last_clone(clones: Iterable[str]) -> int:
    """The highest session that a clone in .nobrakes/relays bears; 0: none does."""
    return max((int(name) for name in clones if name.isascii() and name.isdigit()), default=0)


def _numbers(runs: Iterable[str], begin: str) -> list[str]:
    words = (name.partition("-")[0] for name in runs)
    numbers = (word.removeprefix(begin) for word in words if word.startswith(begin))
    return [number for number in numbers if number.isascii() and number.isdigit()]
