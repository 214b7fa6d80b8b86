"""Every figure that nobrakes is measured by: floor, peers, measured, target, met or not.

    .venv/bin/python benchmarks/table.py [PART …] [--quick] [--data FOLDER] [--raw FILE]
    .venv/bin/python benchmarks/table.py --kept [--markdown]

PART is one or more of the parts below; without one all are measured, in this order:

    queue       runs of the checks for each change, and how soon it lands
    flakes      repeats of a check that failed
    pipeline    beads through the whole machinery, and their SQL
    growth      whether the last beads cost what the first ones did
    lock        how long one command keeps others from writing
    scheduling  how long plans take
    plans       large plans in, and small ones approved
    idle        what waits, and what it costs
    large       looking at large graphs
    claims      beginning work, alone and in a race
    fleet       one daemon with thousands of Doers

`--quick` measures less of everything: it says which way a figure goes, and is not to be quoted. `--data` is a folder of
the Standard Task Graph Set (`.stg` files in stg50/, and stg50_verified.csv), without which graphs of our own are
scheduled. `--kept` prints what was kept last and measures nothing. Nothing is installed: a peer that is not there, or
a sandbox, is said to be missing. The raw numbers go to raw/table.json, those of a smaller dose to a file beside it.
NOBRAKES_GRAPHS names a folder that keeps the large graphs for the next run of the same schema.

Defaults as installed are measured first: sandbox auto, every_commit_green, two validators, no record of flakes. Every
other mode says so in its row. What is compared runs in turn; of the ratios of all rounds the median is shown.
"""

import argparse
import compileall
import signal
import sys
from pathlib import Path

from figures import FULL, KEPT, QUICK, TINY, Dose, Part, markdown, printed, read, taken, write
from rows import claims, flakes, fleet, growth, idle, large, lock, pipeline, plans, queue, scheduling

PARTS: dict[str, Part] = {
    "queue": queue,
    "flakes": flakes,
    "pipeline": pipeline,
    "growth": growth,
    "lock": lock,
    "scheduling": scheduling,
    "plans": plans,
    "idle": idle,
    "large": large,
    "claims": claims,
    "fleet": fleet,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="hardly more than that everything runs")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="make no graph of more beads")
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit("it was ended")
    )  # what is measured then says so, the rest goes on
    name = TINY if given.tiny else QUICK if given.quick else FULL
    path = given.raw or (KEPT if name == FULL else KEPT.with_name(f"table_{name}.json"))
    records = read(path)
    chosen = {one: PARTS[one] for one in PARTS if one in (given.part or PARTS)}
    if not given.kept:
        compileall.compile_dir(Path(__file__).parent.parent / "nobrakes", quiet=2)  # as pip does it
        if name != FULL:
            print(f"a {name} dose of everything: it says which way a figure goes, and is not to be quoted\n")
        for one, part in chosen.items():
            records[one] = taken(part, Dose(name, given.data, given.most))
            write(path, records)
            print(printed({one: part}, records) + "\n", flush=True)
        print(f"raw numbers: {path}")
        return
    print(markdown(chosen, records) if given.markdown else printed(chosen, records))


if __name__ == "__main__":
    main()
