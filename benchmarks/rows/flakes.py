"""Repeats of a check that failed, each counted as a whole run."""

import statistics

from figures import Dose, Figure, Found, Measured
from merge_queue import installed, scene

MODE = "as installed, with an empty record of flakes; a repeat runs the check that failed alone, and is counted whole"
SCENES = {"all good": 0.0, "1 % bad": 0.01, "5 % bad": 0.05, "20 % bad": 0.2, "2 % flakes": 0.0}
BASE, SLOPE = 0.06, 2
REFUSED = "good changes sent back at 2 % flakes"

FIGURES = (
    *(Figure(f"{name}, repeats a change", BASE + SLOPE * share, "") for name, share in SCENES.items()),
    Figure(REFUSED, 0),
)


def measured(dose: Dose) -> Measured:
    """On the queues of merge_queue.py."""
    seeds = dose.pick(20, 10, 2)
    found = {}
    for name in SCENES:
        raw = scene(installed, name, seeds)
        found[f"{name}, repeats a change"] = Found(statistics.mean(raw["again"]), "no repeat 0", raw=raw)
    found[REFUSED] = Found(raw["good_refused"], "0")
    return Measured(f"{seeds} queues of 200 changes each", found)
