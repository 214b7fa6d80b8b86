"""How an agent CLI starts nobrakes' MCP server: one command, and the names of the variables that it needs.

Only names are told: a token on a command line could be read by everybody on the machine. A CLI that does not hand its
own environment on has to be told these names in its own way (Claude: inherited; Codex: `env_vars`; Gemini: `$NAME`).
"""

import os
from dataclasses import dataclass

from .adapter import Assignment

NAME = "nobrakes"
VARIABLES = ("NOBRAKES_HOME", "NOBRAKES_TOKEN", "NOBRAKES_WORKSPACE", "NOBRAKES_DOOR", "NOBRAKES_CHECKS")
TOOL_SECONDS = 3900
"""What a CLI lets one call take, where it has a limit of its own: longer than an agent may wait for a person."""


@dataclass(frozen=True, slots=True)
class StdioServer:
    """An MCP server on stdin and stdout: `argv` with these variables of the agent's own environment."""

    name: str
    argv: tuple[str, ...]
    variables: tuple[str, ...]


def mcp_server(a: Assignment) -> StdioServer:
    """The server of one attempt: the `nobrakes` that runs now, by its link in .nobrakes/bin."""
    command = os.path.join(a.env["NOBRAKES_HOME"], "bin", "nobrakes")
    return StdioServer(NAME, (command, "mcp"), VARIABLES)
