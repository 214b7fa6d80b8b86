"""`python -m nobrakes.simulate --seed N`: one run, its event log, and the promise that it broke, if any."""

import argparse
import faulthandler
import os
import signal
import sys

from .agents import Rates
from .world import Broken, World


def give_up(seed: int, seconds: int) -> None:
    """Another end than this one is not left to a program that goes round in circles: it may catch what is raised."""

    def end(*_: object) -> None:
        again = f"again with: python -m nobrakes.simulate --seed {seed}"
        print(f"seed {seed}: it does not end within {seconds} s of the machine's time; {again}", flush=True)
        faulthandler.dump_traceback()
        os._exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)


def main() -> int:
    """Run one seed and print its log; 1 when a promise was broken."""
    usual = Rates()
    parser = argparse.ArgumentParser(prog="python -m nobrakes.simulate", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=250, help="steps in which things go wrong")
    parser.add_argument("--crash", type=float, default=usual.crash, help="chance that a call kills the daemon")
    parser.add_argument("--fail", type=float, default=usual.fail, help="chance that an agent does no good work")
    parser.add_argument("--conflict", type=float, default=usual.conflict, help="chance that a Doer touches all's file")
    parser.add_argument("--machine", type=float, default=usual.machine, help="chance that the machine breaks a check")
    parser.add_argument("--cut", type=float, default=usual.cut, help="chance that the wrapper of a run is killed")
    stops = "chance that the daemon is stopped in order; below 0: half of --crash"
    parser.add_argument("--stop", type=float, default=usual.stop, help=stops)
    parser.add_argument("--refuse", type=float, default=usual.refuse, help="chance that a provider begins to refuse")
    parser.add_argument("--edits", type=float, default=usual.edits, help="how often people edit the checks")
    parser.add_argument("--slow", type=float, default=usual.slow, help="how many times longer checks take; 0: drawn")
    parser.add_argument("--mute", type=float, default=usual.mute, help="chance that a test command counts no tests")
    parser.add_argument("--people", type=float, default=usual.people, help="chance that a person acts in a step")
    often = "how often people use git on the repository, in every world; 0: as usual, in some worlds"
    parser.add_argument("--rewrites", type=float, default=usual.rewrites, help=often)
    parser.add_argument("--runs", type=int, default=1, help="so many seeds, from --seed on, until a promise is broken")
    parser.add_argument("--seconds", type=int, default=300, help="a seed that takes longer is a broken promise")
    parser.add_argument("--only", default="", help="look at this promise alone, by its name")
    parser.add_argument("--quiet", action="store_true", help="print the end only")
    given = parser.parse_args()
    drawn = (
        "fail",
        "conflict",
        "crash",
        "machine",
        "refuse",
        "cut",
        "edits",
        "slow",
        "stop",
        "mute",
        "people",
        "rewrites",
    )
    rates = Rates(**{name: getattr(given, name) for name in drawn})
    for seed in range(given.seed, given.seed + given.runs):
        world = World(seed, given.beads, rates, only=given.only)
        broken = None
        give_up(seed, given.seconds)
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
