"""`python -I -m nobrakes.conformance AGENT FOLDER AUTH COMMAND...`: try one CLI out, and print what was found as JSON.

A process of its own, so that it can be given a network without a way out, and adopts what a CLI leaves behind.
"""

import json
import os
import sys
from dataclasses import asdict

from ..host.runs.trees import become_subreaper
from . import suite
from .suite import Ground


def main(arguments: list[str]) -> int:
    """Try it; 0, whatever was found."""
    name, folder, auth, *command = arguments
    become_subreaper()
    ground = Ground(name, command, folder, os.environ.get("PATH", os.defpath), auth)
    try:
        checks = suite.run(ground)
    finally:
        ground.close()
    sys.stdout.write(json.dumps({"about": ground.about, "checks": [asdict(check) for check in checks]}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
