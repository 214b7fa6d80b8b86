"""What a command that people type all day loads and asks, in counts: they are the same on every machine.

1. `counts.json` has the most modules (not Python's own, which differ by version), records and SQL statements of each
   command, in a graph of every state. A count may only fall: whoever raises one says why in the commit.
2. A count that fell by more than a twentieth is written down: `python tests/architecture/test_counts.py` prints them.
3. They are the same with twice as many beads, and typer is not loaded.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import open_store

ROOT = Path(__file__).resolve().parents[2]
COUNTS = Path(__file__).with_name("counts.json")
TYPED = {
    "nobrakes": [],
    "status": ["status"],
    "board": ["board"],
    "list": ["list"],
    "escalations": ["escalations"],
    "answer": ["answer", "1", "yes"],
    "add": ["add", "Another"],
    "plan": ["plan", "apply", "one.json"],
    "doctor": ["doctor"],
}
STATUSES = (Status.DONE, Status.NEEDS_DOER, Status.NEEDS_TESTS, Status.CANCELLED, Status.DRAFT, Status.NEEDS_DOER)
PROGRAM = """
import os, sqlite3, sys
asked = []
def connect(*given, connect=sqlite3.connect, **more):
    found = connect(*given, **more)
    found.set_trace_callback(asked.append)
    return found
sqlite3.connect = connect
from nobrakes.cli.entry import main
code = main()
asked = [sql for sql in asked if not sql.startswith("PRAGMA")]  # of those some come by the clock
ours = {name for name in sys.modules if not name.startswith("_")}  # others come with an installation of Python
loaded = {name for name in ours if name.partition(".")[0] not in sys.stdlib_module_names}
own = [module for name, module in sys.modules.items() if name.startswith("nobrakes")]
records = {one for module in own for one in vars(module).values() if "__dataclass_fields__" in getattr(one, "__dict__", ())}
os.write(2, f"COUNTS {code} {len(loaded)} {len(records)} {len(asked)} {'typer' in sys.modules}".encode())
"""


def repository(folder: Path, beads: int) -> None:
    """So many beads in every state with two dependencies each, and questions about ten of them."""
    for argv in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "commit", "-q", "--allow-empty", "-m", "first"],
        [sys.executable, "-m", "nobrakes", "init", "--agent", "script", "--command", "true", "--test", "true"],
    ):
        ran = subprocess.run(argv, cwd=folder, env=environment(folder), capture_output=True, text=True)
        assert ran.returncode == 0, (argv, ran.stdout, ran.stderr)
    (folder / "one.json").write_text(json.dumps({"beads": [{"id": "b1", "title": "Another title"}]}), encoding="utf-8")
    store = open_store(str(folder / ".nobrakes" / "nobrakes.db"))
    made = [Bead("epic", "Epic", type=BeadType.EPIC, status=Status.OPEN, needs_tests=False)]
    for n in range(beads):
        status = STATUSES[n % len(STATUSES)]
        tested = status is Status.NEEDS_TESTS
        made.append(Bead(f"b{n}", f"Bead {n}", status=status, needs_tests=tested, epic="epic", priority=n % 5))
    needs = [Dependency(f"b{n}", f"b{n - back}") for back in (19, 40) for n in range(40, beads)]
    store.put(made, needs, "me")
    for bead in store.ready(10):
        store.escalate(NewEscalation(EscalationType.QUESTION, f"{bead.id}?"), bead.id, None, "me")
    store.close()
    counted(folder, TYPED["board"])  # the first command after many changes computes what they left for later


def environment(folder: Path) -> dict[str, str]:
    who = {f"GIT_{one}_{what}": "a@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    places = {f"XDG_{one}_HOME": str(folder / one) for one in ("CONFIG", "DATA", "STATE", "CACHE")}
    return {"PATH": os.environ["PATH"], **who, **places, "PYTHONPATH": str(ROOT), "HOME": str(folder)}


def counted(folder: Path, words: list[str]) -> dict[str, int]:
    """Of a fresh interpreter that runs the real command."""
    program = f"import sys; sys.argv = {['nobrakes', *words]!r}\n{PROGRAM}"
    argv = [sys.executable, "-P", "-c", program]
    ran = subprocess.run(argv, cwd=folder, env=environment(folder), capture_output=True, text=True)
    code, modules, records, statements, typer = ran.stderr.partition("COUNTS ")[2].split()
    assert (code in "01", typer) == (True, "False"), ran.stderr
    return {"modules": int(modules), "records": int(records), "statements": int(statements)}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folders = tmp_path_factory.mktemp("small"), tmp_path_factory.mktemp("large")
    for folder, beads in zip(folders, (300, 600), strict=True):
        repository(folder, beads)
    return folders


@pytest.mark.parametrize("name", TYPED)
def test_a_command_loads_and_asks_no_more_than_before(graphs: tuple[Path, Path], name: str) -> None:
    small, large = (counted(folder, TYPED[name]) for folder in graphs)
    allowed = json.loads(COUNTS.read_text(encoding="utf-8"))[name]
    more = {what: now for what, now in small.items() if now > allowed[what]}
    assert more == {}, f"`nobrakes {' '.join(TYPED[name])}`: {more}, and {allowed} are allowed"
    fewer = {what: now for what, now in small.items() if now < allowed[what] - max(2, allowed[what] // 20)}
    assert fewer == {}, f"it is less now: write it down in {COUNTS.name}"
    assert large == small, "it depends on the number of beads"


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        repository(Path(made), 300)
        print(json.dumps({name: counted(Path(made), words) for name, words in TYPED.items()}, indent=2))
