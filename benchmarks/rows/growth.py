"""Whether a bead costs after thousands of others what the first ones did."""

from typing import Any

from figures import Dose, Figure, Found, Measured
from growth import run

MODE = "no sandbox, so that it comes to an end; else as installed, 4 Doers, one check that does nothing"
DOERS = 4
MOST_SECONDS = 360.0
WALL, CPU = "a bead at the end against one at the beginning", "the daemon's CPU, the same"

FIGURES = (Figure(WALL, 1.1, " x"), Figure(CPU, None, " x"))


def judged(raw: dict[str, Any], beads: int) -> dict[str, Found]:
    """Both figures; where the run was cut short they are told, and not judged."""
    found, part = {}, raw["part"]
    for name, key, scale in ((WALL, "seconds", 1000), (CPU, "cpu_ms", 1)):
        first, last = (value * scale for value in raw[key])
        one = Found(last / first, f"the first {part}: {first:.1f} ms", f"the last {part}: {last:.1f} ms", raw=raw)
        if raw["beads"] < beads:
            one.value, one.why = None, f"{last / first:.2f} x, of {raw['beads']:,} beads alone"
        found[name] = one
    return found


def measured(dose: Dose) -> Measured:
    """One run."""
    beads, part = dose.pick(10_000, 400, 6), dose.pick(100, 50, 3)
    raw = run(beads, DOERS, part, MOST_SECONDS)
    told = f"{raw['beads']:,} of {beads:,} beads in one run of {MOST_SECONDS / 60:g} minutes at most"
    return Measured(told, judged(raw, beads))
