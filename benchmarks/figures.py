"""What a figure is, how it is judged, how the table is printed, and where the raw numbers are kept.

1. A part says its figures with their targets before anything is measured, so each has its row, whatever comes of it.
2. A figure that could not be measured says why, and is neither met nor missed.
3. What one part measured is kept under its name, with the time, the commit, the load and the dose; a later run of
   another part leaves it there.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from measure import RAW, table

Value = TypeVar("Value")
FULL, QUICK, TINY = "full", "quick", "tiny"
KEPT = RAW / "table.json"
HEAD = ("figure", "floor", "peers", "measured", "target", "met")


@dataclass(frozen=True)
class Figure:
    """One row. `target` is the most that it may be, or with `at_least` the least; without one it is only reported."""

    name: str
    target: float | None
    unit: str = ""
    at_least: bool = False

    @property
    def wanted(self) -> str:
        """The target as text."""
        if self.target is None:
            return "reported"
        return f"{'>=' if self.at_least else '<='} {plain(self.target)}{self.unit}"

    def met(self, value: float | None) -> str:
        """Whether this value meets it."""
        if value is None or self.target is None:
            return "-"
        return "yes" if (value >= self.target if self.at_least else value <= self.target) else "NO"


class Skipped(Exception):
    """What was not asked for."""


@dataclass
class Found:
    """What was measured. `why`: the reason for having no value. `raw`: the numbers that it was made of."""

    value: float | None = None
    floor: str = ""
    peers: str = ""
    why: str = ""
    raw: Any = None


@dataclass(frozen=True)
class Dose:
    """How much is measured."""

    name: str = FULL
    data: Path | None = None
    most: int = 1_000_000  # graphs of more beads are not made

    def made(self, beads: int) -> int:
        """That many, where graphs of so many are made; Skipped else."""
        if beads > self.most:
            raise Skipped(f"no graphs of more than {self.most:,} beads were made")
        return beads

    def pick(self, full: Value, quick: Value, tiny: Value) -> Value:
        """What belongs to this dose."""
        return {FULL: full, QUICK: quick, TINY: tiny}[self.name]


class Part(Protocol):
    """A module of rows/."""

    MODE: str
    FIGURES: Sequence[Figure]
    measured: Callable[[Dose], "Measured"]


@dataclass
class Measured:
    """What a part found, by the names of its figures; `dose` says of how much."""

    dose: str
    found: Mapping[str, Found]


@dataclass
class Record:
    """A part as it is kept."""

    dose: str
    found: dict[str, Found] = field(default_factory=dict)
    is_whole: bool = True  # the full dose, which alone says whether a target is met
    when: str = ""
    commit: str = ""
    machine: str = ""
    load: tuple[float, float] = (0.0, 0.0)
    seconds: float = 0.0

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Record":
        """The record that was kept."""
        made = Record(**data)
        made.found = {name: Found(**one) for name, one in data["found"].items()}
        return made


def plain(value: float) -> str:
    """A number with as many digits as it needs."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@contextmanager
def told(found: dict[str, Found], *names: str) -> Iterator[None]:
    """What fails inside is the reason of these figures, and the others are measured all the same."""
    try:
        yield
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, Skipped | SystemExit) else f"{type(error).__name__}: "
        reason = f"{kind}{' '.join(str(error).split())[-160:]}"
        found |= {name: Found(why=reason) for name in names}


def taken(part: Part, dose: Dose) -> Record:
    """The part measured, with what the machine did meanwhile."""
    before, start = os.getloadavg()[0], time.monotonic()
    failed: dict[str, Found] = {}
    measured = Measured("nothing", failed)
    with told(failed, *(figure.name for figure in part.FIGURES)):
        measured = part.measured(dose)
    return Record(
        measured.dose,
        dict(measured.found),
        dose.name == FULL,
        time.strftime("%Y-%m-%d %H:%M"),
        commit(),
        f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        (round(before, 1), round(os.getloadavg()[0], 1)),
        round(time.monotonic() - start, 1),
    )


def commit() -> str:
    """What was measured, as git names it."""
    argv = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(argv, capture_output=True, text=True).stdout.strip()


def rows(name: str, part: Part, record: Record | None) -> list[tuple[str, ...]]:
    """A part's rows."""
    made = []
    for figure in part.FIGURES:
        one = (record.found.get(figure.name) if record else None) or Found(why="not measured")
        value = one.why if one.value is None else f"{plain(one.value)}{figure.unit}"
        met = figure.met(one.value)
        met = met if record is None or record.is_whole or met == "-" else f"({met})"
        made.append((figure.name, one.floor or "-", one.peers or "-", value, figure.wanted, met))
    return made


def printed(parts: Mapping[str, Part], records: Mapping[str, Record]) -> str:
    """The whole table."""
    blocks = []
    for name, part in parts.items():
        record = records.get(name)
        head = f"{name}: {part.MODE}"
        if record:
            head += f"\n{record.dose}; {record.when}, load {record.load[0]} to {record.load[1]}, {record.seconds} s"
        blocks.append(f"{head}\n{table([HEAD, *rows(name, part, record)])}")
    return "\n\n".join(blocks)


def markdown(parts: Mapping[str, Part], records: Mapping[str, Record]) -> str:
    """The whole table for a page, what misses its target first, and below it what was measured when, how busy the
    machine was.
    """
    every = [(name, *row) for name, part in parts.items() for row in rows(name, part, records.get(name))]
    every.sort(key=lambda row: row[-1] != "NO")
    lines = ["| part | " + " | ".join(HEAD) + " |", "|---" * (len(HEAD) + 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in every] + [""]
    for name, part in parts.items():
        if record := records.get(name):
            when = (
                f"{record.when} at {record.commit}, load {record.load[0]} to {record.load[1]}, {record.seconds:.0f} s"
            )
            lines.append(f"- `{name}`: {part.MODE}. {record.dose}. {when}.")
    machines = {record.machine for record in records.values()}
    lines += [f"- The machine: {machine}." for machine in sorted(machines)]
    return "\n".join(lines)


def read(path: Path) -> dict[str, Record]:
    """What was kept; nothing where there is no such file."""
    return {name: Record.of(data) for name, data in json.loads(path.read_text()).items()} if path.exists() else {}


def write(path: Path, records: Mapping[str, Record]) -> None:
    """Keep what was measured."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({name: asdict(record) for name, record in records.items()}, indent=1) + "\n")
