"""Runs of the checks for each change, the worst queue that a search finds, and the time until changes land."""

import statistics

from figures import Dose, Figure, Found, Measured
from landing_time import landed, mean
from merge_queue import POLICIES, SCENES, bors, drawn, scene, worst

MODE = "the shipped decider on made queues of 200 changes; batches: every_commit_green = false, 1 validator"
SHARES = ("1 % bad", "5 % bad", "20 % bad")
INSTALLED = dict(zip(SHARES, (1.02, 1.07, 1.25), strict=True))
BATCHES = dict(zip(SHARES, (0.125, 0.33, 0.81), strict=True))
WORST = "worst found, in batches"
MANY = 8
LENGTHS = (1, 2, 4, 8, 12, 16, 24, 32, 48)
AT_ANY = f"1 to 48 waiting, 1, 2 or {MANY} validators, in batches: the most runs"
WAITS = {
    f"time to land, {MANY} validators, {share}, {'as installed but for them' if every else 'in batches'}": (
        share,
        every,
    )
    for every in (True, False)
    for share in SHARES
}

FIGURES = (
    *(Figure(f"{share}, as installed", target, " runs") for share, target in INSTALLED.items()),
    *(Figure(f"{share}, in batches", target, " runs") for share, target in BATCHES.items()),
    Figure(WORST, 1.17, " runs"),
    Figure(AT_ANY, 1.0, " of bors'"),
    *(Figure(name, 0.6, " of one's") for name in WAITS),
)


def of_bors(seeds: int) -> dict[str, float]:
    """Our runs as a share of bors', on queues so long, with so many validators; bors has one."""
    found = {}
    for share in ("all good", *SHARES):
        for length in LENGTHS:
            queues = [drawn(*SCENES[share], seed, length) for seed in range(seeds)]
            theirs = sum(bors(queue).runs for queue in queues)
            for validators in (1, 2, MANY):
                ours = sum(landed(queue, validators, every=False)[1] for queue in queues)
                found[f"{share}, {length} waiting, {validators} validators"] = ours / theirs
    return found


def measured(dose: Dose) -> Measured:
    """On the same queues for all."""
    seeds, steps = dose.pick(60, 10, 2), dose.pick(4000, 400, 16)
    found = {}
    for share in SHARES:
        costs = {name: scene(policy, share, seeds)["runs"] for name, policy in POLICIES.items()}
        peers = f"bors {statistics.mean(costs['bors, 16']):.3f}"
        floor = f"one by one {statistics.mean(costs['serial']):.3g}"
        for ours, name in (("as installed", f"{share}, as installed"), ("batches", f"{share}, in batches")):
            found[name] = Found(statistics.mean(costs[ours]), floor, peers, raw=costs)
    most = {name: worst(POLICIES[name], steps)[0] for name in ("batches", "bors, 16")}
    found[WORST] = Found(most["batches"], "one by one 1", f"bors {most['bors, 16']:.3f}", raw=most)
    shares = of_bors(seeds)
    found[AT_ANY] = Found(max(shares.values()), "", f"median {statistics.median(shares.values()):.3f}", raw=shares)
    for name, (share, every) in WAITS.items():
        queues = [drawn(*SCENES[share], seed) for seed in range(seeds)]
        one, many = mean(queues, 1, every), mean(queues, MANY, every)
        ratio = statistics.median(ours / alone for ours, alone in zip(many, one, strict=True))
        floor = f"one validator: {statistics.mean(one):.1f} runs long"
        found[name] = Found(ratio, floor, raw={"1": one, str(MANY): many})
    return Measured(f"{seeds} queues a share, {steps} steps of the search", found)
