"""The agents that nobrakes knows, by the name that the config uses: those with an adapter of their own, then profiles.
Each is imported when it is asked for."""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import NoAgent

if TYPE_CHECKING:
    from ..config.profiles import Profile
    from ..config.settings import Config
    from .adapter import Adapter

_CLASSES = {"acp": "Acp", "claude": "Claude", "codex": "Codex", "gemini": "Gemini", "script": "Script"}
STEERING = {
    "claude": ("**/.claude/**", "CLAUDE.md", "CLAUDE.local.md", ".mcp.json", "**/.claude-plugin/**", "SKILL.md"),
    "codex": ("**/.codex/**", "**/.agents/**", "AGENTS.md", "AGENTS.override.md", "SKILL.md"),
    "gemini": ("**/.gemini/**", "**/.agents/**", "GEMINI.md", ".geminiignore", "gemini-extension.json", "SKILL.md"),
}
"""Globs of each agent's instructions and settings in a repository: a person's, whichever agents run."""


class _Adapters(Mapping[str, "Adapter"]):
    def __getitem__(self, name: str) -> "Adapter":
        if name in _CLASSES:
            return _made(name)
        if (found := _profiles().find(name)) is None:
            raise KeyError(name)
        return _by_profile(name, found)

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES or (isinstance(name, str) and name in _profiles().files())

    def __iter__(self) -> Iterator[str]:
        return iter((*_CLASSES, *_profiles().files()))

    def __len__(self) -> int:
        return len(_CLASSES) + len(_profiles().files())


ADAPTERS: Mapping[str, "Adapter"] = _Adapters()


@cache
def _made(name: str) -> "Adapter":
    if name == "claude":
        from .claude import Claude

        return Claude(root=hasattr(os, "geteuid") and os.geteuid() == 0)
    made: Adapter = getattr(import_module(f".{name}", __package__), _CLASSES[name])()
    return made


def _profiles() -> Any:
    from ..config import profiles  # most commands ask of coded agents alone

    return profiles


@cache
def _by_profile(name: str, profile: "Profile") -> "Adapter":
    from .profile import ByProfile

    return ByProfile(name, profile)


def adapter(name: str) -> "Adapter":
    """Raises NoAgent."""
    if name not in ADAPTERS:
        known = ", ".join(ADAPTERS)
        raise NoAgent(
            f"unknown agent '{name[:40]}'",
            f"Set agents.doer and agents.test_writer in .nobrakes/config.toml to one of: {known}.",
        )
    return ADAPTERS[name]


def steering() -> tuple[str, ...]:
    own = (found.instructions for name in _profiles().own() if (found := _profiles().find(name)) is not None)
    return tuple(dict.fromkeys(glob for globs in (*STEERING.values(), *own) for glob in globs))


def named_agents(config: "Config") -> list[tuple[str, str]]:
    """(setting, agent) for each agent in the settings, also unknown ones."""
    settings = config.agents
    named = [("test_writer", settings.test_writer), ("doer", settings.doer), ("shaper", settings.shaper)]
    for kind, of in settings.by_type.items():
        named += [(f"by_type.{kind}.test_writer", of.test_writer or ()), (f"by_type.{kind}.doer", of.doer or ())]
    named.append(("models", tuple(settings.models)))
    found = [(f"agents.{key}", name) for key, names in named for name in names]
    found += [("forge.reviewers", name) for name in config.forge.reviewers]
    return found + [("review.code_review_agents", name) for name in config.review.code_review_agents]


def unknown_agents(config: "Config") -> list[tuple[str, str]]:
    return [(key, name) for key, name in named_agents(config) if name not in ADAPTERS]
