"""How long a command takes that an agent calls from inside its sandbox, beside `true` in the same one.

The agent is a script that calls both in turn; what it measured is the file that it commits, so it is read from main.
"""

import json
import subprocess
import tempfile

from pipeline import AGENT, NOBRAKES, config, set_up

TIMES = "times.json"
INSIDE = f"""
import json, os, shutil, time
def taken(*argv):
    start = time.perf_counter()
    null = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    _, status = os.waitpid(os.posix_spawn(shutil.which(argv[0]), argv, os.environ, file_actions=null), 0)
    assert status == 0, (argv, status)
    return time.perf_counter() - start
pairs = [(taken("true"), taken("nobrakes", "agent", "log", f"line {{n}}")) for n in range(ROUNDS + 1)]
json.dump(pairs[1:], open("{TIMES}", "w"))
"""


def pairs(rounds: int) -> list[tuple[float, float]]:
    """Seconds of `true` and of `nobrakes agent log`, from each round."""
    with tempfile.TemporaryDirectory() as folder:
        play = f"cat >.play.py <<'END' && python3 .play.py && rm .play.py && {AGENT}\n{INSIDE}\nEND\n"
        play = play.replace("ROUNDS", str(rounds))
        settings = config(1).replace(f"'''{AGENT}'''", json.dumps(play))
        set_up(folder, 1, settings)
        subprocess.run([NOBRAKES, "run"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        argv = ["git", "show", f"main:{TIMES}"]
        shown = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout
        return [(floor, ours) for floor, ours in json.loads(shown)]
