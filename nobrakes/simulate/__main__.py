"""`python -m nobrakes.simulate --seed N`: one run, its event log, and the promise that it broke, if any."""

import argparse
import sys

from .agents import Rates
from .world import Broken, World


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
    parser.add_argument("--runs", type=int, default=1, help="so many seeds, from --seed on, until a promise is broken")
    parser.add_argument("--quiet", action="store_true", help="print the end only")
    given = parser.parse_args()
    rates = Rates(fail=given.fail, conflict=given.conflict, crash=given.crash, machine=given.machine)
    for seed in range(given.seed, given.seed + given.runs):
        world = World(seed, given.beads, rates)
        broken = None
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
