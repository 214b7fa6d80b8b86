"""An agent that does all that agents do wrong, drawn from a seed, the bead, the role and the turn.

usage: chaos_agent.py SEED FOLDER   (FOLDER: where it counts its turns)

A bead's test says which content src/<bead> must have. Some beads also change one line of a shared file, so that two
of them conflict; after a conflict they leave that line alone.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

SEED, COUNTS = sys.argv[1], Path(sys.argv[2])
BEAD, ROLE = os.environ["NOBRAKES_BEAD"], os.environ["NOBRAKES_ROLE"]
PROMPT = Path(os.environ["NOBRAKES_PROMPT"])


def turn() -> int:
    path = COUNTS / f"{BEAD}-{ROLE}"
    with path.open("a+") as file:
        file.write("x")
        file.flush()
        file.seek(0)
        return len(file.read())


def commit(subject: str) -> None:
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-q", "-m", f"{subject}\n\nBead: {BEAD}"], check=True)


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def work() -> None:
    if ROLE == "test_writer":
        write(f"tests/test_{BEAD}.sh", f'[ "$(cat src/{BEAD} 2>/dev/null)" = "{BEAD} works" ]\n')
        return
    write(f"src/{BEAD}", f"{BEAD} works\n")
    if "conflict" not in PROMPT.read_text() and int(hashlib.sha256(BEAD.encode()).hexdigest(), 16) % 4 == 0:
        write("shared", f"{BEAD} was here\n")


def main() -> None:
    number = turn()
    draw = random.Random(f"{SEED} {BEAD} {ROLE} {number}").random()
    if number > 2 or draw < 0.6:
        work()
        commit(f"{ROLE} of {BEAD}")
    elif draw < 0.68:
        write(f"src/{BEAD}", "half\n")
        os.kill(os.getpid(), signal.SIGKILL)
    elif draw < 0.74:
        write(f"src/{BEAD}" if ROLE == "test_writer" else f"tests/test_{BEAD}.sh", "true\n")
        commit("what this role may not do")
    elif draw < 0.80:
        write(f"src/{BEAD}" if ROLE == "doer" else f"tests/test_{BEAD}.sh", "wrong (\n" if ROLE == "doer" else "true\n")
        commit("work that is wrong")
    elif draw < 0.86:
        print("NOBRAKES: CONTEXT_EXHAUSTED")
    elif draw < 0.90:
        write("left-behind", "uncommitted\n")
        sys.exit(1)
    elif draw < 0.94:
        subprocess.Popen(["sleep", "300"], start_new_session=True)
        work()
        commit(f"{ROLE} of {BEAD}, and a process that stays")
    else:
        print("nothing done, but it says so")


main()
