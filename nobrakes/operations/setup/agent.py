"""`nobrakes init --agent`: who works here, as settings, and what is left to be said."""

import shlex

from ...agents.registry import ADAPTERS
from ...config.settings import Config
from ...core.errors import UsageError
from .changing import Wanted

_BY_COMMAND = ("acp", "script")
"""Agents that are whatever command a person names."""


def wanted_of(agent: str | None, command: str | None) -> tuple[Wanted, ...]:
    """The settings that make it the agent in both roles. UsageError: there is no such agent, or it takes no command."""
    if agent is None:
        if command is not None:
            raise UsageError("--command goes with an agent", f"Add --agent {' or --agent '.join(_BY_COMMAND)}.")
        return ()
    if agent not in ADAPTERS:
        from difflib import get_close_matches

        like = get_close_matches(agent[:40], list(ADAPTERS), n=1)
        meant = f"Did you mean {like[0]}? " if like else ""
        raise UsageError(f"nobrakes knows no agent called '{agent[:40]}'", f"{meant}Use one of: {', '.join(ADAPTERS)}.")
    roles: tuple[Wanted, ...] = (("agents.test_writer", agent), ("agents.doer", agent))
    if command is None:
        return roles
    if agent not in _BY_COMMAND:
        raise UsageError(
            f"the agent {agent} takes no --command",
            f"`nobrakes config set agents.{agent}.executable PATH` says where it is; --command goes with "
            f"{' or '.join(_BY_COMMAND)}.",
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command cannot be split into words: {error}", "Quote it as for a shell.") from None
    if not words:
        raise UsageError("--command is empty", "For example: --command 'python3 agent.py'")
    return (*roles, (f"agents.{agent}.command", command))


def to_do(config: Config) -> list[str]:
    """The step that names the command of an agent that has none."""
    names = config.agents.agent_choice().names()
    return [
        f"name the command that is the agent: nobrakes config set agents.{name}.command 'my-agent --its-options'"
        for name in names
        if name in _BY_COMMAND and not config.agents.command(name)
    ]
