"""The config's section `agents`, as far as adapters read it (config.sections)."""

from typing import Protocol


class ScriptSection(Protocol):
    """`agents.script` of the config."""

    @property
    def command(self) -> tuple[str, ...]:
        """The argv."""
        ...


class CliSection(Protocol):
    """What the sections of all agent CLIs have."""

    @property
    def executable(self) -> str:
        """The command, by name or path."""
        ...

    @property
    def model(self) -> str:
        """The model's name; empty: the CLI's own choice."""
        ...


class ClaudeSection(CliSection, Protocol):
    """`agents.claude` of the config."""

    @property
    def max_turns(self) -> int:
        """How many turns one run may take."""
        ...

    @property
    def max_budget_usd(self) -> float | None:
        """How much one run may cost."""
        ...

    @property
    def context_tokens(self) -> int:
        """How many tokens the model's context holds."""
        ...

    @property
    def base_url(self) -> str:
        """Where the API is; empty: where the environment says."""
        ...


class CodexSection(CliSection, Protocol):
    """`agents.codex` of the config."""

    @property
    def base_url(self) -> str:
        """Where the API is; empty: the provider's own."""
        ...


class GeminiSection(CliSection, Protocol):
    """`agents.gemini` of the config."""

    @property
    def max_turns(self) -> int:
        """How many turns one run may take."""
        ...

    @property
    def context_tokens(self) -> int:
        """How many tokens the model's context holds."""
        ...

    @property
    def base_url(self) -> str:
        """Where the API is; empty: the provider's own."""
        ...


class AcpSection(Protocol):
    """`agents.acp` of the config."""

    @property
    def command(self) -> tuple[str, ...]:
        """The argv of the agent."""
        ...

    @property
    def auth(self) -> str:
        """How to log in, by the agent's name for it; empty: not at all."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables with keys that it is given."""
        ...


class Settings(Protocol):
    """The config's section `agents`, as far as adapters read it (config.sections.AgentSettings)."""

    @property
    def environment(self) -> tuple[str, ...]:
        """Names of further variables that agents may see."""
        ...

    @property
    def script(self) -> ScriptSection:
        """Any command."""
        ...

    @property
    def claude(self) -> ClaudeSection:
        """Claude Code."""
        ...

    @property
    def codex(self) -> CodexSection:
        """Codex."""
        ...

    @property
    def gemini(self) -> GeminiSection:
        """Gemini CLI."""
        ...

    @property
    def acp(self) -> AcpSection:
        """Any agent that speaks the Agent Client Protocol."""
        ...
