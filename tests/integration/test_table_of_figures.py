"""One command prints every figure with its target, whatever could be measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PARTS = ("queue", "flakes", "pipeline", "growth", "lock", "scheduling", "plans", "idle", "large", "claims", "fleet")
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import table
print(json.dumps({name: [[one.name, one.wanted] for one in part.FIGURES] for name, part in table.PARTS.items()}))
"""


def run(*argv: str) -> str:
    done = subprocess.run([sys.executable, *argv], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures() -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = json.loads(run("-c", PROGRAM, str(BENCHMARKS)))
    return found


def missing(text: str) -> list[str]:
    """The figures that have no row with their target."""
    lines = text.splitlines()
    wanted = [(name, target) for rows in figures().values() for name, target in rows]
    return [name for name, target in wanted if not any(line.startswith(name) and target in line for line in lines)]


def test_every_figure_has_its_row_and_target_before_anything_is_measured(tmp_path: Path) -> None:
    text = run(str(BENCHMARKS / "table.py"), "--kept", "--raw", str(tmp_path / "none.json"))
    assert tuple(figures()) == PARTS
    assert missing(text) == []
    assert "not measured" in text
    assert " yes" not in text


def test_the_page_shows_what_was_kept_last() -> None:
    page = (BENCHMARKS / "README.md").read_text()
    assert run(str(BENCHMARKS / "table.py"), "--kept", "--markdown").strip() in page


@pytest.mark.slow
def test_the_smallest_dose_measures_every_part_and_keeps_its_numbers(tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    text = run(str(BENCHMARKS / "table.py"), "--tiny", "--raw", str(raw))
    assert missing(text) == []
    assert text.startswith("a tiny dose")
    kept = json.loads(raw.read_text())
    assert tuple(kept) == PARTS
    for name, rows in figures().items():
        assert set(kept[name]["found"]) == {figure for figure, _ in rows}
    # what this machine lacks is said; what needs nothing but Python is measured
    for name in ("queue", "flakes", "scheduling", "claims"):
        assert all(one["value"] is not None for one in kept[name]["found"].values()), kept[name]
    assert run(str(BENCHMARKS / "table.py"), "--kept", "--raw", str(raw)).count("(yes)") > 10


def test_a_part_that_fails_says_why_in_each_of_its_rows(tmp_path: Path) -> None:
    program = PROGRAM.split("print")[0] + (
        "import figures\n"
        "class Part:\n"
        "    MODE = 'none'\n"
        "    FIGURES = (figures.Figure('one', 1), figures.Figure('two', 2, ' s', at_least=True))\n"
        "    def measured(dose): raise OSError('no such thing')\n"
        "record = figures.taken(Part, figures.Dose())\n"
        "print(figures.printed({'part': Part}, {'part': record}))\n"
    )
    text = run("-c", program, str(BENCHMARKS))
    assert text.count("no such thing") == 2
    assert ">= 2 s" in text and "<= 1" in text
    assert "yes" not in text and "NO" not in text
