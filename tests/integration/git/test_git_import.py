"""GitPython is imported once, whichever threads ask git at the same moment."""

import subprocess
import sys

TWO = """
import os, threading
from nobrakes.git import command_line
os.environ["GIT_PYTHON_REFRESH"] = "loud"
start, wrong = threading.Barrier(8), []

def ask():
    start.wait()
    try:
        for _ in range(50):
            command_line._import_gitpython()
    except Exception as error:
        wrong.append(repr(error))

threads = [threading.Thread(target=ask) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(wrong, os.environ["GIT_PYTHON_REFRESH"], "GIT_PYTHON_GIT_EXECUTABLE" in os.environ)
"""


def test_threads_that_ask_git_first_at_once_do_not_disturb_each_other() -> None:
    said = subprocess.run([sys.executable, "-c", TWO], capture_output=True, text=True, timeout=120, check=True).stdout
    assert said.split("\n")[0] == "[] loud False"
