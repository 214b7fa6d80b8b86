"""How long commands take as whole processes, against `python -c pass`, with 10,000 beads in the store.

    .venv/bin/python benchmarks/startup.py [ROUNDS]

Targets: what agents call in a loop at most 2 times the floor, every other command at most 0.4 s or 40 times, whichever
is more, and what goes through the whole graph at most 1.2 s.

1. Every command of command_table is here, or in LEFT_OUT with the reason; commands that change something come in pairs
   that undo each other, so that each round does the same work.
2. Python's files are compiled first, as pip does it. The store is open in this process, as it is in a daemon's while
   agents work. What agents write is measured without that, too: then each command is the last to close the database,
   and moves the log into it.
3. Agents find the command in .nobrakes/bin, so theirs are measured with that one, and people's with pip's.
"""

import compileall
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from measure import keep, ratios, seconds, table

from nobrakes.agents.adapter import guard_argv
from nobrakes.beads.model import Bead, Dependency, Role, Status
from nobrakes.checks.policy.ownership import LABEL
from nobrakes.command_table import COMMANDS, Entry
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.host.command import install
from nobrakes.paths import Paths
from nobrakes.store import Store, open_store

BEADS = 10_000
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
FLOOR = "python -c pass"
AGENTS = os.path.join(".nobrakes", "bin", "nobrakes")
DRAFTS = 10
HOT = ("ready --json", "ready", "show b5000 --json", "show b5000")
AGENT = (
    "agent log hello",
    "agent progress 50",
    "agent notify look",
    "agent answer",
    "agent done completed --summary done",
    "agent ask Why-{q}?",
    "agent escalate Split-{q}",
    "agent bead",
    "agent bead --json",
    "agent attempts",
    "agent whats-next",
    "agent request-review Plan-{q}",
)
PEOPLE = (
    "",
    "--help",
    "version",
    "config",
    "config get limits",
    "config set limits.doers 3",
    "config unset limits.doers",
    "help list",
    "init",
    "status",
    "board",
    "list",
    "list --status done",
    "ready --explain b9999",
    "history b5000",
    "verify",
    "flakes",
    "quarantine",
    "providers",
    "sessions",
    "forge list",
    "notify list",
    "pr list",
    "archive",
    "history b5000 --transcript",
    "events --after 9990",
    "escalations",
    "escalation 1",
    "answer {n} yes",
    "resolve {m} --retry",
    "prompt b5000",
    "shape --print",
    "reshape --print",
    "add Another",
    "edit b5000 --priority {p}",
    "depend b9998 b5",
    "undepend b9998 b5",
    "hold b5001",
    "release b5001",
    "defer b5002 2099-01-01",
    "undo",
    "cancel b9997",
    "reopen b9997",
    "done b9996",
    "reopen b9996",
    "set doers=3",
    "pause",
    "stop",
    "resume",
    "daemon status",
    "plan example",
    "plan apply plan.yaml --dry-run",
    "plan apply plan.yaml",
    "propose plan.yaml",
    "commit-strategy --yes",
)


def _is(group: str, entry: Entry) -> bool:
    return entry.words.startswith(f"{group} ") and entry.words not in PEOPLE


WHOLE = ("ready --explain", "list --all", "graph", "graph --format svg", "doctor")
"""They print 10,000 beads, or compute them anew."""
LEFT_OUT = {
    "run": "it works: benchmarks/pipeline.py",
    "watch": "it follows an agent that works",
    "daemon start": "it waits for a daemon",
    "daemon stop": "it waits for a daemon",
    "daemon restart": "it waits for a daemon",
    "daemon run": "it is the daemon",
    "web": "it serves: benchmarks/web.py",
    "mcp": "it serves",
    "mcp client": "it writes to your own place",
    "agent test": "it runs the project's checks",
    "review": "it reads one record of git's, however many beads there are",
    "diff": "it asks git, however many beads there are",
    "retry": "it needs what was escalated, as `reopen` what is closed",
    "take": "it makes a worktree",
    "hand-in": "it hands a worktree in",
    "relay": "it starts an agent",
    "pr show": "it needs a pull request",
    "pr open": "it opens a browser",
    "pr sync": "it asks a code host",
    "daemon install": "it writes to your own place",
    "daemon uninstall": "it writes to your own place",
    "daemon watch": "it asks the network",
    "repositories": "it reads your own place, and no bead",
    "machine": "it reads your own place, and no bead",
    "notify test": "it sends",
    "notify secret": "it stores a secret",
    **dict.fromkeys(("gates", "reviews", "log"), "an old name"),
    **{entry.words: "it is about a feature, however many beads there are" for entry in COMMANDS if _is("forge", entry)},
    **{entry.words: "it is about projects, and no bead" for entry in COMMANDS if _is("project", entry)},
    **{entry.words: "it is about one conversation" for entry in COMMANDS if _is("session", entry)},
    **dict.fromkeys(
        ("agent plan", "agent plan-ready", "agent propose", "agent finding", "agent document", "agent blocked"),
        "only an agent of a feature or a sprint may, or its attempt ends by it",
    ),
}
GUARD = "the guard"
ALONE = "<= 2, alone"


def covered() -> set[str]:
    """The words of every command that is measured or left out."""
    lines = [*HOT, *AGENT, *PEOPLE, *WHOLE]
    known = {entry.words for entry in COMMANDS}
    return {words for line in lines for words in (" ".join(line.split()[:2]), line.split(" ")[0])} & known | set(
        LEFT_OUT
    )


def repository(folder: str, rounds: int = 0) -> tuple[Store, str]:
    """The open store of a repository with 10,000 beads, two dependencies each; an agent's token."""
    for argv in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", *argv], cwd=folder, check=True)
    subprocess.run([NOBRAKES, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    Path(folder, "plan.yaml").write_text("beads:\n  - {id: extra, title: One more, needs: [b5000]}\n")
    Path(folder, "call.json").write_text(
        '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls -l src"}}'
    )
    install(Paths(os.path.join(folder, ".nobrakes")))
    store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
    rng = random.Random(1)
    beads = [
        Bead(f"b{i}", f"Bead {i}", status=Status.NEEDS_DOER, needs_tests=False, priority=i % 5, description="x" * 200)
        for i in range(BEADS)
    ]
    needs = {(i, j) for i in range(1000, BEADS) for j in rng.sample(range(i - 1000, i), 2)}
    store.put(beads, [Dependency(f"b{i}", f"b{j}") for i, j in sorted(needs)], "benchmark")
    first = store.ready(1)[0].id
    store.change(first, {"labels": (LABEL,)}, "benchmark")
    attempt = store.open_attempt(first, Role.DOER, "script", ("Ada",), 3600.0, None)
    assert attempt is not None
    store.escalate(NewEscalation(EscalationType.QUESTION, "Why?"), first, attempt.id, "Ada")
    for number in range(2 * rounds):
        question = NewEscalation(EscalationType.QUESTION, f"Question {number}?")
        store.escalate(question, f"b{BEADS - 200 + number}", None, "benchmark")
    return store, attempt.token


def command(line: str, round_: int, rounds: int) -> list[str]:
    """The line as argv, with this round's numbers in it."""
    numbers = {"{n}": round_ + 2, "{m}": rounds + round_ + 2, "{p}": round_ % 5}
    program = AGENTS if line in (*HOT, *AGENT) else NOBRAKES
    return [program, *(str(numbers.get(word, word)).replace("{q}", str(os.getpid() + round_)) for word in line.split())]


def prepare(line: str, round_: int, folder: str) -> None:
    """What a line needs to have something to do, not counted."""
    database = os.path.join(folder, ".nobrakes", "nobrakes.db")
    if "{q}" in line:  # one attempt asks twenty times at most
        with closing(sqlite3.connect(database, timeout=30)) as db, db:
            db.execute("DELETE FROM events WHERE kind IN ('escalated', 'suggested')")
    if line != "commit-strategy --yes":
        return
    with closing(open_store(database)) as store:
        store.put([Bead(f"draft-{round_}-{n}", "A draft", status=Status.DRAFT) for n in range(DRAFTS)], [], "benchmark")


def measured(lines: tuple[str, ...], rounds: int, folder: str, env: Mapping[str, str]) -> dict[str, list[float]]:
    """The times of each line, the floor among them; one warm-up round is not counted."""
    times: dict[str, list[float]] = {line: [] for line in (FLOOR, *lines)}
    for round_ in range(rounds + 1):
        for line, own in times.items():
            argv, stdin = command(line, round_, rounds + 1), os.devnull
            if line == FLOOR:
                argv = [sys.executable, "-c", "pass"]
            elif line == GUARD:
                argv, stdin = list(guard_argv()), os.path.join(folder, "call.json")
            prepare(line, round_, folder)
            taken = seconds(argv, folder, env, stdin=stdin)
            if round_:
                own.append(taken)
    return times


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    missing = {entry.words for entry in COMMANDS} - covered()
    assert not missing, f"not measured: {', '.join(sorted(missing))}"
    compileall.compile_dir(Path(__file__).parent.parent / "nobrakes", quiet=2)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NOBRAKES_", "PYTHON"))}
    rows: list[list[object]] = [["command", "median ms", "x floor", "target"]]
    raw = {}
    with tempfile.TemporaryDirectory() as folder:
        store, token = repository(folder, rounds + 1)
        place = {"ROLE": "doer", "WORKSPACE": folder, "TESTS": "tests/**", "GATES": "justfile"}
        agent = {**env, "NOBRAKES_TOKEN": token, "NOBRAKES_HOME": os.path.join(folder, ".nobrakes")}
        agent |= {f"NOBRAKES_{name}": value for name, value in place.items()}
        groups: tuple[tuple[tuple[str, ...], Mapping[str, str], str], ...] = (
            (HOT, env, "<= 2"),
            ((*AGENT, GUARD), agent, "<= 2"),
            (PEOPLE, env, "<= 40"),
            (WHOLE, env, "<= 1.2 s"),
            (AGENT, agent, ALONE),
        )
        for lines, environment, target in groups:
            if target == ALONE:
                store.close()
            times = measured(lines, rounds, folder, environment)
            found = ratios(times, FLOOR)
            for line, own in times.items():
                rows.append(
                    [line or "(no command)", f"{statistics.median(own) * 1000:.1f}", f"{found[line]:.2f}", target]
                )
                raw[f"{line} ({target})" if line == FLOOR or target == ALONE else line] = own
    print(table(rows))
    keep("startup", raw)


if __name__ == "__main__":
    main()
