"""Which folders of runs may go: the logs of work that is on main, when they are old or many newer ones are there. Pure.

1. Only a bead that was merged lets its runs go; what was not merged keeps them for ever.
2. The newest attempt's folders stay whatever they are: attempts are numbered on from them when the database is lost.
"""

from collections.abc import Mapping, Sequence

DAY = 86_400.0


def attempt_of(run: str) -> int | None:
    """The attempt that a run's folder is named after; None: it belongs to none."""
    number = run.partition("-")[0]
    return int(number) if number.isascii() and number.isdigit() else None


def let_go(
    runs: Sequence[str], beads: Mapping[int, str], merged: Mapping[str, float], now: float, days: float, most: int
) -> list[str]:
    """The runs that may go, in the order of their attempts.

    `beads`: attempt to bead, of the attempts that are known. `merged`: when each bead was merged, of those that are on
    main. `days`, `most`: for so long, and for so many merged beads, logs are kept.
    """
    newest_first = sorted(merged, key=lambda bead: (-merged[bead], bead))
    kept = {bead for bead in newest_first[:most] if now - merged[bead] < days * DAY}
    numbered = sorted((number, run) for run in runs if (number := attempt_of(run)) is not None)
    last = numbered[-1][0] if numbered else None
    return [
        run
        for number, run in numbered
        if number != last and (bead := beads.get(number)) is not None and bead in merged and bead not in kept
    ]
