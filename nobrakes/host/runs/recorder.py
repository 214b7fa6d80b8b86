"""Runs an agent and writes down what it says: `python -I -S recorder.py OUT ERR BYTES -- ARGV…`. A program of its own.

A check has its output and its errors passed on, as they come: `python -I -S recorder.py BYTES -- ARGV…`.

How that is done is in host.runs.recording. Python reads this file again for each run, so it is short.
"""

import os
import sys

if __name__ == "__main__":
    # as a program it finds its own rules, and nothing that lies beside them
    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)))
    from nobrakes.host.runs.recording import Passed, files_of, record

    at = sys.argv.index("--")
    most, paths = int(sys.argv[at - 1]), sys.argv[1 : at - 1]
    files = files_of(paths[0], paths[1], most) if paths else (Passed(most),)
    sys.exit(record(files, sys.argv[at + 1 :]))
