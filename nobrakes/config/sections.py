"""The tables of config.toml: their settings, defaults, and what each value must be. nobrakes.config reads them.

pydantic judges a file that is new; no module here imports it before that.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..core.policy.usual_protected import GATES
from .features import Features, mistakes
from .values import Branch, ExportPath, Hosts, OneOrMore, Rule, Section, WholePaths, section

if TYPE_CHECKING:
    from ..core.forge.rules import Rules as ForgeRules
    from ..core.policy.agent_choice import AgentChoice
    from ..core.pulls.delivery import Rules as DeliveryRules
    from ..core.review.reading import Rules as ReadingRules


@section
class LimitSettings(Section):
    """How much at once, how long, how often."""

    doers: Annotated[int, Rule(ge=0, le=256)] = 4
    sessions: Annotated[int, Rule(ge=0, le=64)] = 2
    agents_mb: Annotated[int, Rule(ge=0)] = 0
    max_failures: Annotated[int, Rule(ge=1)] = 3
    agent_minutes: Annotated[float, Rule(gt=0)] = 60.0
    idle_minutes: Annotated[float, Rule(gt=0)] = 10.0
    context_share: Annotated[float, Rule(gt=0, le=1)] = 0.8
    failed_rounds: Annotated[int, Rule(ge=0)] = 3
    grace_seconds: Annotated[float, Rule(ge=0)] = 10.0
    linger_seconds: Annotated[float, Rule(ge=0)] = 10.0
    lease_seconds: Annotated[float, Rule(ge=5)] = 120.0
    max_file_mb: Annotated[float, Rule(gt=0)] = 50.0
    max_new_mb: Annotated[float, Rule(gt=0)] = 200.0
    max_paths: Annotated[int, Rule(ge=1)] = 20_000
    max_depth: Annotated[int, Rule(ge=1, le=1000)] = 100


FROM_THE_START = ("max_file_mb", "max_new_mb", "max_paths", "max_depth")
"""The limits that are read once: `nobrakes set` does not change them."""


@section
class BoundarySettings(Section):
    """What is a test and what is a protected file, as globs.

    No `tests`: they are read off the repository (core.checks.test_layout).
    """

    tests: tuple[str, ...] = ()
    gates: tuple[str, ...] = GATES
    dependencies: Literal["allowed", "asked"] = "allowed"
    lock_files: bool = False


@section
class ReviewSettings(Section):
    """How work lands on main."""

    merge: Literal["squash", "rebase"] = "squash"
    revalidate: Literal["cached", "always"] = "cached"
    every_commit_green: bool = True
    validators: Annotated[int, Rule(ge=1, le=64)] = 2
    test_strength: Literal["cheats", "red"] = "cheats"
    confirm: Literal["always", "flaky", "never"] = "always"
    approve: Literal["never", "labelled", "always"] = "labelled"
    decoy: bool = True
    canary_hours: Annotated[float, Rule(ge=0)] = 24.0
    land: Literal["local", "remote", "pull_request"] = "local"
    unit: Literal["bead", "epic"] = "bead"
    diverged: Literal["merge", "rebase"] = "merge"
    remote: Annotated[str, Rule(min_length=1), Branch()] = "origin"
    remote_branch: Annotated[str, Branch()] | None = None
    remote_seconds: Annotated[float, Rule(gt=0, le=3600)] = 120.0
    code_host: Literal["auto", "github", "gitlab", "git"] = "auto"
    code_host_repository: str = ""
    push: bool = True
    features: Features = field(default_factory=dict)
    dependants: Literal["wait", "stack"] = "wait"
    max_open: Annotated[int, Rule(ge=1, le=1000)] = 5
    poll_seconds: Annotated[float, Rule(ge=1, le=3600)] = 60.0
    pull_draft: bool = False
    pull_auto_merge: bool = False
    pull_labels: tuple[str, ...] = ()
    pull_reviewers: tuple[str, ...] = ()
    pull_names: bool = False
    pull_cost: bool = False
    pull_delete_branch: bool = True
    fresh_eyes: Literal["off", "ask", "send_back"] = "off"
    fresh_eyes_rounds: Annotated[int, Rule(ge=1, le=3)] = 3
    fresh_eyes_usd: Annotated[float, Rule(gt=0)] = 5.0
    fresh_eyes_minutes: Annotated[float, Rule(gt=0)] = 10.0
    fresh_eyes_agents: Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], OneOrMore()] = ()

    def reading_rules(self) -> "ReadingRules":
        """The settings of review by fresh eyes, as its decider reads them."""
        from ..core.review.reading import Rules as ReadingRules

        own = (self.fresh_eyes, self.fresh_eyes_rounds, self.fresh_eyes_usd, self.fresh_eyes_minutes)
        return ReadingRules(*own, self.fresh_eyes_agents)

    @property
    def by_request(self) -> bool:
        """Whether people merge what is done, by pull requests."""
        return self.land == "pull_request"

    def rules(self, main: str) -> "DeliveryRules":
        """How work gets to people, as core reads it; `main`: the branch here that is main."""
        from ..core.pulls.delivery import Rules as DeliveryRules

        features = {epic: one.said() for epic, one in self.features.items()}
        return DeliveryRules(self.by_request, self.unit, self.push, features, self.remote_branch or main)

    def mistakes(self, main: str, pattern: str) -> list[str]:
        """What does not fit together, each with its key below `review`; `pattern`: how branches of beads are named."""
        setting = "review.remote_branch" if self.remote_branch else "main"
        base = self.remote_branch or main
        found = mistakes(self.features, self.land, self.unit, self.push, base, setting, pattern)
        mine = () if self.push or self.by_request else ('push: false is for land = "pull_request": take it out',)
        return [*mine, *(f"features.{mistake}" for mistake in found)]

    @property
    def stacks(self) -> bool:
        """Whether a bead may be worked on on top of the open request of one that it needs."""
        return self.by_request and self.dependants == "stack"

    @property
    def watch_hours(self) -> float:
        """So often main is looked at by itself; 0: never, as where what people merged is theirs to mend."""
        return 0.0 if self.by_request else self.canary_hours


@section
class ScriptSettings(Section):
    """Any command as an agent. It gets the prompt's path in NOBRAKES_PROMPT and runs in the workspace."""

    command: tuple[str, ...] = ()


Agents = Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], Rule(min_length=1), OneOrMore()]
"""One name, or several in order of preference."""
Workable = Literal["feature", "fix", "task", "chore", "docs", "test", "refactor", "repair"]


@section
class RoleAgents(Section):
    """Which agents work in which role on beads of one type; None: those that work on any other."""

    test_writer: Agents | None = None
    doer: Agents | None = None


Permissions = Literal["auto", "bypass"]


@section
class ClaudeSettings(Section):
    """Claude Code."""

    executable: str = "claude"
    model: str = ""
    max_turns: Annotated[int, Rule(ge=1)] = 200
    max_budget_usd: Annotated[float, Rule(gt=0)] | None = None
    context_tokens: Annotated[int, Rule(ge=1)] = 200_000
    base_url: str = ""
    permissions: Permissions = "auto"


@section
class CodexSettings(Section):
    """Codex."""

    executable: str = "codex"
    model: str = ""
    base_url: str = ""
    permissions: Permissions = "auto"


@section
class GeminiSettings(Section):
    """Gemini CLI."""

    executable: str = "gemini"
    model: str = ""
    max_turns: Annotated[int, Rule(ge=1)] = 200
    context_tokens: Annotated[int, Rule(ge=1)] = 1_048_576
    base_url: str = ""
    permissions: Permissions = "auto"


@section
class AcpSettings(Section):
    """Any agent that speaks the Agent Client Protocol on its stdin and stdout."""

    command: tuple[str, ...] = ()
    auth: str = ""
    keys: tuple[str, ...] = ()


@section
class RoleModels(Section):
    """The model that an agent uses in each role; empty: the one of the agent's own section."""

    test_writer: str = ""
    doer: str = ""
    reviewer: str = ""


ASK_FIRST = (
    "terraform apply",
    "terraform destroy",
    "kubectl apply",
    "kubectl delete",
    "helm upgrade",
    "npm publish",
    "twine upload",
    "cargo publish",
    "docker push",
    "gh release create",
    "fly deploy",
    "vercel deploy",
    "dropdb",
    "aws s3 rm",
)
"""What reaches others, or removes what no git brings back: a person says yes to it first."""


@section
class AgentSettings(Section):
    """Which agent works in which role, and how each is called."""

    test_writer: Agents = ("claude",)
    doer: Agents = ("claude",)
    by_type: Mapping[Workable, RoleAgents] = field(default_factory=dict)
    models: Mapping[str, RoleModels] = field(default_factory=dict)
    shaper: Agents = ("claude",)
    environment: tuple[str, ...] = ()
    ask_first: tuple[str, ...] = ASK_FIRST
    script: ScriptSettings = ScriptSettings()
    claude: ClaudeSettings = ClaudeSettings()
    codex: CodexSettings = CodexSettings()
    gemini: GeminiSettings = GeminiSettings()
    acp: AcpSettings = AcpSettings()

    def executable(self, agent: str) -> str:
        """The command of an agent CLI, by the agent's name."""
        of = {"claude": self.claude.executable, "codex": self.codex.executable, "gemini": self.gemini.executable}
        return of[agent]

    def command(self, agent: str) -> tuple[str, ...]:
        """What begins an agent's command line; empty where none is set, or nothing is known of such an agent."""
        if agent in ("script", "acp"):
            return self.script.command if agent == "script" else self.acp.command
        return (self.executable(agent),) if agent in ("claude", "codex", "gemini") else ()

    def bypasses(self, agent: str) -> bool:
        """Whether nothing of its own restrains the agent where nothing else does: by its setting, or it has nothing."""
        settings = {
            "claude": self.claude.permissions,
            "codex": self.codex.permissions,
            "gemini": self.gemini.permissions,
        }
        return settings.get(agent, "bypass") == "bypass"

    def agent_choice(self) -> "AgentChoice":
        """Who may work in which role, as the Assigner reads it."""
        from ..core.policy.agent_choice import AgentChoice

        by_type = {
            str(kind): {role: agents for role, agents in (("test_writer", of.test_writer), ("doer", of.doer)) if agents}
            for kind, of in self.by_type.items()
        }
        return AgentChoice({"test_writer": self.test_writer, "doer": self.doer}, by_type)

    def model_of(self, agent: str, role: str) -> str:
        """The model that this agent uses in the role; empty: its own choice."""
        own: str = getattr(getattr(self, agent, None), "model", "")
        return getattr(self.models.get(agent), role, "") or own

    def seated(self, agent: str, role: str, usd: float | None = None, model: str = "") -> "AgentSettings":
        """The settings as the agent's adapter reads them in the role: model (a session's: `model`), dollars."""
        section = getattr(self, agent, None)
        if not isinstance(section, Section):
            return self
        own = [limit for limit in (usd, getattr(section, "max_budget_usd", None)) if limit is not None]
        values = {"model": model or self.model_of(agent, role), "max_budget_usd": min(own, default=None)}
        own_fields = getattr(section, "__dataclass_fields__", {})
        known = {name: value for name, value in values.items() if name in own_fields}
        changed: dict[str, Any] = {agent: replace(section, **known)}  # type: ignore[type-var]
        return replace(self, **changed)


@section
class BreakerSettings(Section):
    """When an agent that gets nowhere on a bead is not started on it any more."""

    without_progress: Annotated[int, Rule(ge=1)] = 3
    same_error: Annotated[int, Rule(ge=1)] = 5


@section
class CapSettings(Section):
    """What agents may cost. Unset: no cap."""

    usd: Annotated[float, Rule(gt=0)] | None = None
    tokens: Annotated[int, Rule(gt=0)] | None = None
    minutes: Annotated[float, Rule(gt=0)] | None = None


@section
class AttemptCapSettings(Section):
    """What one attempt may cost. Unset: no cap."""

    usd: Annotated[float, Rule(gt=0)] | None = None
    tokens: Annotated[int, Rule(gt=0)] | None = None
    minutes: Annotated[float, Rule(gt=0)] | None = None


@section
class CapsSettings(Section):
    """What agents may cost, and how often they may start."""

    calls_per_hour: Annotated[int, Rule(ge=1)] | None = None
    attempt: AttemptCapSettings = AttemptCapSettings()
    bead: CapSettings = CapSettings()
    day: CapSettings = CapSettings()
    run: CapSettings = CapSettings()


@section
class RetentionSettings(Section):
    """What may go, and when."""

    archive_days: Annotated[float, Rule(ge=0)] | None = None
    run_days: Annotated[float, Rule(ge=0)] = 30.0
    run_beads: Annotated[int, Rule(ge=0)] = 200


@section
class EventSettings(Section):
    """Where other programs read what happens."""

    export: Annotated[str, ExportPath()] = ""


@section
class ForgeSettings(Section):
    """How features are planned and reviewed. 0 hours: a session never expires; 0 dollars: it may cost what it costs."""

    expire_hours: Annotated[float, Rule(ge=0)] = 24.0
    warn_hours: Annotated[float, Rule(ge=0)] = 2.0
    reviewers: Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], OneOrMore()] = ()
    review_minutes: Annotated[float, Rule(gt=0)] = 5.0
    most_rounds: Annotated[int, Rule(ge=1, le=100)] = 10
    clean_rounds: Annotated[int, Rule(ge=1, le=100)] = 2
    most_domains: Annotated[int, Rule(ge=1, le=5)] = 4
    review_usd: Annotated[float, Rule(gt=0)] = 5.0
    shaper_usd: Annotated[float, Rule(ge=0)] = 10.0
    collect: Annotated[int, Rule(ge=1)] = 10
    turn_minutes: Annotated[float, Rule(gt=0)] = 15.0
    own_instructions: str = ""

    def rules(self) -> "ForgeRules":
        """The settings as the Forge's deciders read them."""
        from ..core.forge.rules import Rules

        names = Rules.__dataclass_fields__
        return Rules(**{name: getattr(self, name) for name in names})


@section
class SandboxSettings(Section):
    """How agents and checks are closed off from the machine."""

    mode: Literal["auto", "bubblewrap", "none"] = "auto"
    wall: Literal["auto", "landlock", "none"] = "auto"
    home: Literal["private", "own"] = "private"
    network: Literal["open", "provider", "none"] = "open"
    hosts: Annotated[tuple[str, ...], Hosts()] = ()
    read: Annotated[tuple[str, ...], WholePaths()] = ()
    write: Annotated[tuple[str, ...], WholePaths()] = ()
    memory_mb: Annotated[int, Rule(ge=0)] = 8192
    processes: Annotated[int, Rule(ge=0)] = 1024
    file_mb: Annotated[int, Rule(ge=0)] = 2048
    open_files: Annotated[int, Rule(ge=0)] = 4096
    cpu_minutes: Annotated[int, Rule(ge=0)] = 0
    temporary_mb: Annotated[int, Rule(ge=0)] = 2048
