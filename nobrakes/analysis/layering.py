"""A graph of numbers, each with the numbers before it: in which generation each can stand, whatever circles there are.

Numbers stand for boxes in the order of their ids, so that the smaller number is the smaller id.
"""

from collections.abc import Collection, Sequence

Rows = list[list[int]]


def turned(before: Sequence[Sequence[int]]) -> Rows:
    """Who comes after each."""
    after: Rows = [[] for _ in before]
    for number, row in enumerate(before):
        for earlier in row:
            after[earlier].append(number)
    return after


def generations(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> Rows:
    """Each in the first generation after all that come before it; those in or behind a circle are left out."""
    missing = [len(row) for row in before]
    found: Rows = []
    front = [number for number, count in enumerate(missing) if not count]
    while front:
        found.append(front)
        following = []
        for number in front:
            for later in after[number]:
                missing[later] -= 1
                if not missing[later]:
                    following.append(later)
        front = following
    return found


def break_circles(before: Rows, left: Collection[int]) -> None:
    """Take edges out of `before` until no circle is left; all circles are among `left`."""
    while True:
        knots = _knots(before, left)
        if not knots:
            return
        for knot in knots:
            inside = {number: [n for n in before[number] if n in knot] for number in knot}
            balance = {number: len(row) for number, row in inside.items()}
            for row in inside.values():
                for earlier in row:
                    balance[earlier] -= 1
            # the one that least waits for the others begins
            first = min(knot, key=lambda number: (balance[number], number))
            before[first] = [n for n in before[first] if n not in knot]
        left = set().union(*knots)


def _knots(before: Rows, left: Collection[int]) -> list[set[int]]:
    """The strongly connected parts of more than one (Tarjan's algorithm with its own stack)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    done: set[int] = set()
    knots: list[set[int]] = []
    inside = {number: [n for n in before[number] if n in left] for number in left}
    for root in inside:
        if root in index:
            continue
        path = [(root, iter(inside[root]))]
        index[root] = low[root] = len(index)
        open_.append(root)
        while path:
            number, rest = path[-1]
            step = next(rest, None)
            if step is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[number])
                if low[number] == index[number]:
                    knot: set[int] = set()
                    while number not in knot:
                        knot.add(open_.pop())
                    done |= knot
                    if len(knot) > 1:
                        knots.append(knot)
            elif step not in index:
                index[step] = low[step] = len(index)
                open_.append(step)
                path.append((step, iter(inside[step])))
            elif step not in done:
                low[number] = min(low[number], index[step])
    return knots
