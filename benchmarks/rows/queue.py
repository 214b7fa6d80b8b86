"""Runs of the checks for each change, confirming ones included, the worst queue that a search finds, and the time."""

import statistics

from figures import Dose, Figure, Found, Measured
from merge_queue import INSTALLED, POLICIES, SCENES, decided, drawn, scene, worst

from nobrakes.review.journal import Rules

MODE = (
    "the shipped decider on made queues of 200 changes, as installed with 2 validators; what confirms a red is counted"
)
SHARES = ("1 % bad", "5 % bad", "20 % bad")
TARGETS = {
    "under load": ("as installed", (0.2, 0.5, 1.35)),
    "one at a time": ("one at a time", (1.02, 1.15, 1.5)),
    "every_commit_green": ("each alone", (None, None, None)),
}
WORST = "worst found, under load"
FEW = "{} waiting, {}"
LENGTHS = (48,)
MANY = 8
WAITS = {f"time to land, {MANY} validators, {share}": share for share in SHARES}

FIGURES = (
    *(
        Figure(f"{share}, {how}", target, " runs")
        for how, (_, targets) in TARGETS.items()
        for share, target in zip(SHARES, targets, strict=True)
    ),
    *(Figure(FEW.format(length, share), None, " runs") for length in LENGTHS for share in SHARES),
    Figure(WORST, None, " runs"),
    *(Figure(name, 0.6, " of one's") for name in WAITS),
)


def measured(dose: Dose) -> Measured:
    """On the same queues for all."""
    seeds, steps = dose.pick(20, 10, 2), dose.pick(400, 100, 16)
    found = {}
    for share in SHARES:
        raw = {name: scene(policy, share, seeds) for name, policy in POLICIES.items()}
        costs = {
            name: statistics.mean(map(sum, zip(one["runs"], one["again"], strict=True))) for name, one in raw.items()
        }
        peers, floor = f"bors {costs['bors, 16']:.3f}", f"one by one {costs['serial']:.3g}"
        for how, (policy, _) in TARGETS.items():
            found[f"{share}, {how}"] = Found(costs[policy], floor, peers, raw=raw[policy])
        for length in LENGTHS:
            ends = [decided(drawn(*SCENES[share], seed, length), INSTALLED) for seed in range(seeds)]
            runs = [(end.runs + end.again) / length for end in ends]
            found[FEW.format(length, share)] = Found(statistics.mean(runs), raw=runs)
    most = {name: worst(POLICIES[name], steps)[0] for name in ("as installed", "bors, 16")}
    found[WORST] = Found(most["as installed"], "one by one 1", f"bors {most['bors, 16']:.3f}", raw=most)
    for name, share in WAITS.items():
        queues = [drawn(*SCENES[share], seed) for seed in range(seeds)]
        one, many = ([decided(queue, Rules(validators=n)).waited for queue in queues] for n in (1, MANY))
        ratio = statistics.median(ours / alone for ours, alone in zip(many, one, strict=True))
        floor = f"one validator: {statistics.mean(one):.1f} runs long"
        found[name] = Found(ratio, floor, raw={"1": one, str(MANY): many})
    return Measured(f"{seeds} queues a share, {steps} steps of the search", found)
