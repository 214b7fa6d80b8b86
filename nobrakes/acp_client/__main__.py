"""`python -I -m nobrakes.acp_client RUN.json [--greet]`: one prompt to one agent; its exit code says how that ended.

1. RUN.json is what nobrakes.agents.acp wrote: command, guard, workspace, prompt, the session to go on with.
2. stdout gets a JSON object a line, as nobrakes.agents.acp reads them; the agent's own stderr is ours.
3. With `--greet` the agent is started, asked for its hello (`initialize`), and ended; it is given no prompt.
4. 0: the agent ended its turn. 126 and 127: it could not be started. 130: it was stopped. 1: anything else.
"""

import asyncio
import json
import sys

from .turn import Run, turn


def main(arguments: list[str]) -> int:
    """Run what the file says."""
    with open(arguments[0], encoding="utf-8") as file:
        run = Run(**json.load(file), greets="--greet" in arguments[1:])
    return asyncio.run(turn(run))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
