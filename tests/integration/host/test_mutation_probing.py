"""The step that alters tests once a check has passed: what its run sees, and what it finds nowhere."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nobrakes.host.runs.probing import MAX_PROBES, PLAN, PUT, draw

NAMES = [f"test_number_{number}" for number in range(9)]
TEXT = "".join(f"def {name}():\n    assert f() == 9{place}\n\n\n" for place, name in enumerate(NAMES))
LOOKS = """ls -AR "$1" >"$2/seen"; tr '\\0' '\\n' </proc/$$/environ >"$2/told"; tr '\\0' '\\n' </proc/$PPID/cmdline >>"$2/told"
cp tests/*.py "$2"; stat -c %Y tests/*.py >"$2/times"; exit 3"""


def run(tmp_path: Path, command: list[str], put: tuple[str, ...] = PUT, **more: Any) -> tuple[int, Path]:
    """The exit code of the step with this command, and the run's folder."""
    checkout, folder, out = (tmp_path / name for name in ("checkout", "run", "out"))
    for path in (checkout / "tests", folder, out):
        path.mkdir(parents=True, exist_ok=True)
    for name in ("test_a.py", "test_b.py", "test_c.py"):
        (checkout / "tests" / name).write_text(TEXT)
    git = ["git", "-C", str(checkout), "-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *words], check=True)
    (checkout / "tests" / "test_a.py").write_text("the check wrote this")
    words = {
        "folder": str(folder), "name": "test@probe", "repository": str(checkout / ".git"), "commit": "HEAD",
        "paths": [f"tests/test_{one}.py" for one in "abc"], "put": put, "report": (), "run": command, **more,
    }  # fmt: skip
    argv = [sys.executable, "-I", "-m", "nobrakes.host.runs.probing", json.dumps(words)]
    return subprocess.run(argv, cwd=checkout, check=False).returncode, folder


def test_what_it_runs_sees_altered_tests_and_nothing_that_tells_which(tmp_path: Path) -> None:
    code, folder = run(tmp_path, ["sh", "-c", LOOKS, "sh", str(tmp_path / "run"), str(tmp_path / "out")])
    out, checkout = tmp_path / "out", tmp_path / "checkout"
    altered = json.loads((folder / f"test@probe{PLAN}").read_text())
    assert code == 3 and len(altered) == MAX_PROBES
    for name in ("a", "b", "c"):
        rows = (out / f"test_{name}.py").read_text().splitlines()
        differing = [place for place, row in enumerate(rows) if row != TEXT.splitlines()[place]]
        names = [rows[place - 1].split()[1].removesuffix("():") for place in differing]
        assert names == [test for path, test, _ in altered if path == f"tests/test_{name}.py"]
        assert (checkout / "tests" / f"test_{name}.py").read_text() == TEXT, "and it is as it was committed again"
    said = (out / "seen").read_text() + (out / "told").read_text()
    assert PLAN not in (out / "seen").read_text() and not any(name in said for name in NAMES)
    assert len(set((out / "times").read_text().split())) == 1


def test_where_the_altered_test_cannot_be_written_nothing_is_run_and_the_plan_tells_what_was_meant(
    tmp_path: Path,
) -> None:
    code, folder = run(tmp_path, ["touch", str(tmp_path / "ran")], put=("false",))
    assert code == 1 and not (tmp_path / "ran").exists() and json.loads((folder / f"test@probe{PLAN}").read_text())


def test_where_nothing_can_be_altered_nothing_is_run(tmp_path: Path) -> None:
    code, folder = run(tmp_path, ["touch", str(tmp_path / "ran")], paths=["tests/gone.py"])
    assert code == 0 and not (tmp_path / "ran").exists() and (folder / f"test@probe{PLAN}").read_text() == "[]"


def test_tests_whose_value_is_altered_come_first() -> None:
    texts = {"test_a.py": "def test_a():\n    f()\n", "test_b.py": TEXT, "test_c.py": TEXT}
    drawn = {one.test for seed in range(40) for one in draw(texts, random.Random(seed))}
    assert "test_a" not in drawn and len(drawn) > 5


def test_of_each_group_tests_are_altered_that_can_be_told_apart(tmp_path: Path) -> None:
    groups = [["tests/test_a.py"], ["tests/test_b.py", "tests/test_c.py"], ["tests/gone.py"]]
    _, folder = run(tmp_path, ["true"], groups=groups)
    rows = json.loads((folder / f"test@probe{PLAN}").read_text())
    assert [(path in groups[number], number) for path, _, number in rows] == [(True, 0), (True, 1), (True, 1)]
    assert rows[0][1] not in (rows[1][1], rows[2][1])


def test_a_name_that_another_group_has_is_not_drawn() -> None:
    one = "def test_{}():\n    assert f() == 1\n"
    for taken, other in (("test_a", "test_ab"), ("adds", "adds-two"), ("adds two", "adds")):
        texts = {"a.test.js": f"it('{taken}', () => {{\n}})\n", "test_b.py": one.format("b")}
        assert {found.test for found in draw(texts, random.Random(1), {other})} == {"test_b"} | (
            {taken} if other == "test_ab" else set()
        )


@pytest.mark.parametrize("count", [1, 3])
def test_each_file_has_one_altered_test_at_most(count: int) -> None:
    texts = {f"test_{number}.py": TEXT for number in range(count)}
    found = draw(texts, random.Random(1))
    assert len({one.path for one in found}) == len(found) == min(count, MAX_PROBES)


def test_no_program_of_the_machine_is_needed_to_write_altered_tests(tmp_path: Path) -> None:
    code, folder = run(tmp_path, ["true"], put=("/usr/bin/env", "-i", f"PATH={tmp_path / 'nothing'}", *PUT))
    assert code == 0 and len(json.loads((folder / f"test@probe{PLAN}").read_text())) == MAX_PROBES
    assert (tmp_path / "checkout" / "tests" / "test_a.py").read_text() == TEXT


def test_a_link_in_the_place_of_a_test_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    link = f"rm tests/test_b.py && ln -s {tmp_path / 'kept'} tests/test_b.py"
    run(tmp_path, ["sh", "-c", link])
    assert (tmp_path / "kept").read_text() == "mine" and (tmp_path / "checkout/tests/test_b.py").read_text() == TEXT
