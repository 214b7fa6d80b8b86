"""A channel that is a program of the person: it gets the message as JSON on stdin and ends with 0 when it took it.

The program is found by its whole path or on PATH, never in the repository, where an agent's work could put one.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..core.errors import NotAllowed


def send(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Become the program, which reads the message, and the secret if the channel has one."""
    said = dict(message) | ({"secret": secret} if secret else {})
    become(channel["command"], json.dumps(said).encode())


def found(command: Sequence[str]) -> str | None:
    """The whole path of the program; None: it is not there."""
    program = os.path.expanduser(command[0])
    if "/" in program and not os.path.isabs(program):
        return None
    return shutil.which(program)


def become(command: Sequence[str], stdin: bytes) -> NoReturn:
    """Run the program in this process's place, with these bytes on its stdin; they fit into a pipe."""
    program = found(command)
    if program is None:
        raise NotAllowed(f"the program `{command[0]}` is not there", "Give its whole path, or put it on PATH.")
    reading, writing = os.pipe()
    os.write(writing, stdin)
    os.close(writing)
    os.dup2(reading, 0)
    sys.stderr.flush()
    os.execv(program, [program, *command[1:]])
