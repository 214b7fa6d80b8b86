"""How much longer plans take than the best that is known, on a virtual clock."""

from figures import Dose, Figure, Found, Measured
from scheduling import POLICIES, SHARES, above, collisions, made, read

MODE = "the shipped Assigner on a virtual clock, 2 to 16 Doers"
TARGETS = dict(zip(SHARES, (0.42, 1.25, 2.0), strict=True))
APART = "beads that say their files: time against the same without"
FEWER = "conflicts against the same without"

FIGURES = (
    *(Figure(name, target, " %") for name, target in TARGETS.items()),
    Figure(APART, 1.02, " x"),
    Figure(FEWER, 1.0, " x"),
)


def measured(dose: Dose) -> Measured:
    """With `dose.data` on the Standard Task Graph Set, else on graphs of our own."""
    most, seeds = dose.pick(180, 20, 2), dose.pick(3, 1, 1)
    if dose.data:
        graphs, best = read(dose.data / "stg50", dose.data / "stg50_verified.csv")[:most], "proven optimum"
    else:
        graphs, best = [made(seed) for seed in range(min(most, 60))], "lower bound, which no order need reach"
    found = {}
    for name, share in SHARES.items():
        raw = {policy: above(graphs, POLICIES[policy], share, seeds) for policy in POLICIES}
        peers = f"first in {raw['first in']:.2f}, one minute {raw['one minute']:.2f}"
        found[name] = Found(raw["shipped"], best, peers, raw=raw)
    apart = collisions(graphs)
    found[APART] = Found(apart["mean time"], "1", f"worst graph {apart['most time']:.2f}", raw=apart)
    found[FEWER] = Found(apart["with"] / apart["without"], f"{apart['without']:.0f} conflicts")
    return Measured(f"{len(graphs)} graphs of 50 tasks, against the {best}; {seeds} draws of estimates", found)
