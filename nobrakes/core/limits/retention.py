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


def turn_of(run: str) -> int | None:
    """The turn of a session that a run's folder is named after; None: it belongs to none."""
    return attempt_of(run[1:]) if run[:1] == "s" else None


def let_turns_go(runs: Sequence[str], ended: Mapping[int, float], now: float, days: float) -> list[str]:
    """The runs of turns that may go; `ended`: when the session of a turn was ended, of those that were.

    The newest turn's folder stays: turns are numbered on from it when the database is lost.
    """
    numbered = sorted((number, run) for run in runs if (number := turn_of(run)) is not None)
    return [run for number, run in numbered[:-1] if number in ended and now - ended[number] >= days * DAY]


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
