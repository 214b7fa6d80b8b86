"""`python -m tests.world --seed N`: one run, its event log, and the promise that it broke, if any."""

import argparse
import faulthandler
import os
import signal
import sys
from dataclasses import fields

from . import sentback
from .rates import Rates
from .world import Broken, World


def give_up(replay: str, seconds: int) -> None:
    """Another end than this one is not left to a program that goes round in circles: it may catch what is raised."""

    def end(*_: object) -> None:
        print(f"it does not end within {seconds} s of the machine's time; again with: {replay}", flush=True)
        faulthandler.dump_traceback()
        os._exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)


def sent_back(good: int, seed: int, rates: Rates) -> int:
    """Print what flakes cost; 1 when a good change was sent back or taken off main."""
    for world, count in sentback.worlds(good, seed, rates):
        print(f"seed {world}: {count}", flush=True)
    return 1 if count.sent_back or count.taken_back else 0


def main() -> int:
    """Run one seed and print its log; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=250, help="steps in which things go wrong")
    for one in fields(Rates):
        parser.add_argument(f"--{one.name}", type=float, default=one.default, help=one.metadata["told"])
    parser.add_argument("--runs", type=int, default=1, help="so many seeds, from --seed on, until a promise is broken")
    parser.add_argument("--seconds", type=int, default=300, help="a seed that takes longer is a broken promise")
    parser.add_argument("--only", default="", help="look at this promise alone, by its name")
    told = "until so many good changes were reviewed, as installed and without other trouble: what --flake costs"
    parser.add_argument("--good", type=int, default=0, help=told)
    parser.add_argument("--quiet", action="store_true", help="print the end only")
    given = parser.parse_args()
    rates = Rates(**{one.name: getattr(given, one.name) for one in fields(Rates)})
    if given.good:
        return sent_back(given.good, given.seed, rates)
    for seed in range(given.seed, given.seed + given.runs):
        world = World(seed, given.beads, rates, only=given.only)
        broken = None
        give_up(world.replay, given.seconds)
        try:
            world.run(given.steps)
        except Broken as error:
            broken = error
        if not given.quiet:
            print("\n".join(world.log))
        print(f"seed {seed}:", broken or f"every promise was kept; {world.tally}, {world.dice}")
        if broken is not None:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
