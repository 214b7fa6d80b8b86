"""config.toml as frozen values. An unknown key or a wrong value is an error that names the key.

config/nobrakes.toml holds every setting with its default and one comment; a test compares the two.
"""

import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .core.errors import ConfigError
from .places import resource

if TYPE_CHECKING:
    from .core.board import Limits
    from .core.boundaries import Boundary
    from .core.checks import Check


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_NO_BRANCH = re.compile(r"^-|^/|[/.]$|\.\.|//|@\{|(^|/)\.|\.lock(/|$)|[\x00-\x20\x7f~^:?*\[\\]|^@?$")


def _branch(name: str) -> str:
    """A name that git takes for a branch; ValueError."""
    if _NO_BRANCH.search(name):
        raise ValueError("is no name of a branch")
    return name


class CheckSettings(_Section):
    """One command of the project's contract."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$")
    command: str = Field(min_length=1)
    kind: Literal["test", "lint", "types", "build"] = "test"
    timeout_minutes: float = Field(30.0, gt=0)
    min_tests: int = Field(1, ge=0)


class LimitSettings(_Section):
    """How much at once, how long, how often."""

    doers: int = Field(4, ge=0, le=256)
    max_failures: int = Field(3, ge=1)
    agent_minutes: float = Field(60.0, gt=0)
    idle_minutes: float = Field(10.0, gt=0)
    grace_seconds: float = Field(10.0, ge=0)
    lease_seconds: float = Field(120.0, ge=5)


class BoundarySettings(_Section):
    """What is a test and what is a gate, as globs."""

    tests: tuple[str, ...] = (
        "tests/**",
        "test/**",
        "spec/**",
        "__tests__/**",
        "test_*.py",
        "*_test.py",
        "*_test.go",
        "*.test.*",
        "*.spec.*",
    )
    gates: tuple[str, ...] = (
        ".github/**",
        ".gitlab-ci.yml",
        ".circleci/**",
        ".ci/**",
        ".githooks/**",
        ".husky/**",
        ".pre-commit-config.yaml",
        ".gitattributes",
        ".gitmodules",
        ".claude/**",
        ".codex/**",
        ".gemini/**",
        ".mcp.json",
        "conftest.py",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "noxfile.py",
        "Makefile",
        "justfile",
    )


class ReviewSettings(_Section):
    """How work lands on main."""

    merge: Literal["squash", "rebase"] = "squash"
    after_merge: Literal["cached", "always"] = "cached"


class ScriptSettings(_Section):
    """Any command as an agent. It gets the prompt's path in NOBRAKES_PROMPT and runs in the workspace."""

    command: tuple[str, ...] = ()


class ClaudeSettings(_Section):
    """Claude Code."""

    executable: str = "claude"
    model: str = ""
    max_turns: int = Field(200, ge=1)
    max_budget_usd: float | None = Field(None, gt=0)
    base_url: str = ""


class AgentSettings(_Section):
    """Which agent works in which role, and how each is called."""

    test_writer: str = "claude"
    doer: str = "claude"
    shaper: str = "claude"
    environment: tuple[str, ...] = ()
    script: ScriptSettings = ScriptSettings()
    claude: ClaudeSettings = ClaudeSettings()


class Config(_Section):
    """Every setting of a repository."""

    main: Annotated[str, AfterValidator(_branch)] = "main"
    setup: str = ""
    checks: tuple[CheckSettings, ...] = ()
    limits: LimitSettings = LimitSettings()
    boundaries: BoundarySettings = BoundarySettings()
    review: ReviewSettings = ReviewSettings()
    agents: AgentSettings = AgentSettings()
    names: tuple[str, ...] = ()

    def board_limits(self) -> "Limits":
        """The limits as the deciders read them."""
        from .core.board import Limits

        limits = self.limits
        return Limits(
            doers=limits.doers,
            max_failures=limits.max_failures,
            agent_seconds=limits.agent_minutes * 60,
            idle_seconds=limits.idle_minutes * 60,
            check_seconds=sum(c.timeout_minutes for c in self.checks) * 60 or 1800.0,
            grace_seconds=limits.grace_seconds,
            lease_seconds=limits.lease_seconds,
        )

    def contract(self) -> "tuple[Check, ...]":
        """The checks as core judges them."""
        from .core.checks import Check

        return tuple(Check(c.name, c.command, c.kind, c.timeout_minutes * 60, c.min_tests) for c in self.checks)

    def boundary(self) -> "Boundary":
        """The globs as core reads them."""
        from .core.boundaries import Boundary

        return Boundary(self.boundaries.tests, self.boundaries.gates)

    def worker_names(self) -> tuple[str, ...]:
        """The names in order: the config's own, else those of NAMES.json."""
        if self.names:
            return self.names
        with open(resource("NAMES.json"), encoding="utf-8") as file:
            return tuple(json.load(file))


def parse(text: str, where: str) -> Config:
    """The config in `text`; ConfigError names file, key and what is allowed."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}") from None
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            key = ".".join(str(part) for part in problem["loc"])
            what = (
                "is not a setting"
                if problem["type"] == "extra_forbidden"
                else problem["msg"].removeprefix("Value error, ")
            )
            lines.append(f"{where}: {key}: {what}")
        raise ConfigError("\n".join(lines)) from None
    names = [check.name for check in config.checks]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{where}: two checks are called '{name}'")
    return config


def load(path: str) -> Config:
    """The config in the file; ConfigError when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{os.path.relpath(path)} cannot be read: {error}") from None
    return parse(text, os.path.relpath(path))
