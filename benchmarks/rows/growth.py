"""Whether a bead costs after thousands of others what the first ones did."""

from typing import Any

from figures import Dose, Figure, Found, Measured
from growth import run

from rows.pipeline import inside, memory

MODE = "in memory, no sandbox, so that it comes to an end; else as installed, 4 Doers, one check that does nothing"
DOERS = 4
MAX_SECONDS = {False: 900.0, True: 240.0}
WALL, CPU = "a bead at the end against one at the beginning", "the daemon's CPU, the same"
WHERE = {False: "files stay as many", True: "each bead adds a file"}

FIGURES = tuple(
    Figure(f"{name}, {where}", target, " x") for where in WHERE.values() for name, target in ((WALL, 1.1), (CPU, None))
)


def judged(raw: dict[str, Any], beads: int, grows: bool) -> dict[str, Found]:
    """Both figures; where the run was cut short they are told, and not judged."""
    found, part = {}, raw["part"]
    for name, key, scale in ((WALL, "seconds", 1000), (CPU, "cpu_ms", 1)):
        first, last = (value * scale for value in raw[key])
        one = Found(last / first, f"the first {part}: {first:.1f} ms", f"the last {part}: {last:.1f} ms", raw=raw)
        if raw["beads"] < beads:
            one.value, one.why = None, f"{last / first:.2f} x, of {raw['beads']:,} beads alone"
        found[f"{name}, {WHERE[grows]}"] = one
    return found


def measured(dose: Dose) -> Measured:
    """One run in each repository."""
    beads, part = dose.pick(10_000, 400, 6), dose.pick(100, 50, 3)
    found: dict[str, Found] = {}
    told = []
    for grows, most in MAX_SECONDS.items():
        with inside(memory()):
            raw = run(beads, DOERS, part, most, grows)
        found |= judged(raw, beads, grows)
        told.append(f"{raw['beads']:,} of {beads:,} beads in {most / 60:g} minutes at most where {WHERE[grows]}")
    return Measured("; ".join(told), found)
