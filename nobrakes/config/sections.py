"""The tables of config.toml: their settings, defaults, and what each value must be. nobrakes.config reads them.

pydantic judges a file that is new; no module here imports it before that.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..beads.branches import is_branch_name, may_be_a_beads
from ..paths import GIT_RULES
from ..records import copied
from .values import (
    BEAD_ID,
    BRANCH,
    EXPORT_PATH,
    FULL_PATH,
    FULL_PATHS,
    HOSTS,
    INSIDE,
    TOOLS,
    OneOrMore,
    Rule,
    Section,
    section,
)

if TYPE_CHECKING:
    from ..checks.contract import Check
    from ..daemon.model import AgentChoice
    from ..notices.model import Rules as NoticesRules
    from ..requests.model import Rules as DeliveryRules
    from ..requests.model import Said
    from ..review.reading import Rules as ReadingRules


@section
class FeatureSettings(Section):
    """One feature, by its epic's id. Unset values come from the epics above, then the repository."""

    unit: Literal["bead", "epic"] | None = None
    branch: Annotated[str, BRANCH] | None = None
    push: bool | None = None
    base: Annotated[str, BRANCH] | None = None
    land: Literal["local", "remote", "pull_request"] | None = None

    def said(self) -> "Said":
        from ..requests.model import Said

        return Said(self.unit, self.branch, self.push, self.base, self.land)


Features = Mapping[Annotated[str, BEAD_ID], FeatureSettings]
MAX_NAME = 200
_PREFIX = re.compile(
    r"refs/(?!(?:heads|tags|remotes|notes|pull|merge-requests|nobrakes)(?:/|\Z))[A-Za-z0-9][A-Za-z0-9_./-]{0,99}"
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*")


def mistakes(
    features: Features, land: str, unit: str, push: bool, base: str, base_setting: str, pattern: str
) -> Iterator[str]:
    """Contradictions, each with its key below `review.features`. `base`: the branch of all work, and its setting;
    `pattern`: of beads' branches."""
    from ..requests.model import default_epic_branch

    taken = {base: base_setting}
    for epic, one in features.items():
        taken |= {one.base: f"review.features.{epic}.base"} if one.base not in (None, base) else {}
    for epic, one in features.items():
        if one.base is not None:
            yield from _wrong_base(f"{epic}.base: '{one.base[:80]}'", one.base, features, pattern)
        if one.land not in (None, land) and (land, one.land) != ("pull_request", "remote"):
            how = f"for all work type `nobrakes config set review.land {one.land}`"
            if (land, one.land) == ("remote", "pull_request"):
                how = f'{how} and set land = "remote" for the features that need no pull request'
            yield (
                f'{epic}.land: "{one.land}" cannot be combined with review.land = "{land}": remove this line, or {how}'
            )
        if (land, one.land) == ("pull_request", "remote") and not (push if one.push is None else one.push):
            yield (
                f'{epic}.land: "remote" pushes work immediately after it passed, and push = false waits for your '
                "command: remove one of the two, or set push = true for this feature"
            )
        if land != "pull_request":
            yield (
                f'{epic}: applies only to pull requests, and review.land = "{land}": remove the table from '
                "config.toml, or type `nobrakes config set review.land pull_request`"
            )
            continue
        if one.branch is None:
            continue
        key = f"{epic}.branch: '{one.branch[:80]}'"
        if (one.unit or unit) != "epic":
            yield f'{key} needs unit = "epic" for {epic}: this branch is for a whole epic. Or remove branch'
        if len(one.branch) > MAX_NAME or one.branch.startswith("refs/"):
            yield f"{key} is not allowed: at most {MAX_NAME} characters, not beginning with refs/"
        if may_be_a_beads(one.branch, pattern):
            yield f'{key} looks like the branch of a bead (git.branch_pattern = "{pattern}"): choose another name'
        other = next((other for other in features if other != epic and one.branch == default_epic_branch(other)), None)
        if other is not None:
            yield f"{key} is the name of another branch, {other}: choose another name"
        for name, whose in taken.items():
            if name == one.branch:
                yield f"{key} is used already ({whose}): choose another name"
            elif f"{name}/".startswith(f"{one.branch}/") or f"{one.branch}/".startswith(f"{name}/"):
                yield f"{key} and {name} ({whose}) cannot both be branches: one would be a folder of the other"
        taken.setdefault(one.branch, f"review.features.{epic}.branch")


def _wrong_base(key: str, base: str, features: Features, pattern: str) -> Iterator[str]:
    from ..requests.model import default_epic_branch

    if len(base) > MAX_NAME or not _PLAIN.fullmatch(base) or base.startswith("refs/"):
        yield f"{key} is not allowed: at most {MAX_NAME} letters, digits, '.', '_', '-' and '/', without refs/ in front"
    elif may_be_a_beads(base, pattern):
        yield f'{key} looks like the branch of a bead (git.branch_pattern = "{pattern}"): choose another branch'
    elif base.startswith(default_epic_branch("")) or any(base == one.branch for one in features.values()):
        yield f"{key} looks like the branch of an epic's pull request, which nobrakes removes: choose another branch"


@section
class LimitSettings(Section):
    """How much at once, how long, how often."""

    doers: Annotated[int, Rule(ge=0, le=10_000)] = 4
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
"""Limits read only at the start: `nobrakes set` does not change them."""


# Lists of dependencies are not gates (git.manifests), and neither is what a product is built of.
GATES: tuple[str, ...] = (
    *GIT_RULES,
    ".github/**", ".gitlab-ci.yml", ".circleci/**", ".ci/**", ".githooks/**", ".husky/**", ".pre-commit-config.yaml",
    ".claude/**", ".codex/**", ".gemini/**", ".mcp.json", "AGENTS.md", "CLAUDE.md",
    "CLAUDE.local.md", "GEMINI.md", ".cursor/**", ".cursorrules", ".envrc", ".vscode/**", ".idea/**", ".zed/**",
    ".devcontainer/**", "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "noxfile.py", "Makefile", "justfile",
    "GNUmakefile", "pytest.toml", ".pytest.*", ".coveragerc", "jest.config.*", "vitest.config.*", "phpunit.xml*",
    ".rspec", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "pyrightconfig.json",
    "sitecustomize.py", "usercustomize.py", "tsconfig*.json", "jsconfig.json", "eslint.config.*", ".eslintrc*",
    ".eslintignore", "biome.json*", ".prettierrc*", "prettier.config.*", "jest.setup.*", "jest-setup.*",
    "vitest.setup.*", "vitest.workspace.*", "vite.config.*", "babel.config.*", ".babelrc*", ".swcrc", "karma.conf.*",
    "playwright.config.*", "cypress.config.*", "ava.config.*", ".mocharc*", ".nycrc*", ".c8rc*", ".taprc", ".npmrc",
    ".yarnrc*", ".pnpmfile.*", "pnpm-workspace.yaml", "deno.json*", "bunfig.toml", ".env", ".env.test", ".golangci.*",
    "go.work", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "**/.cargo/config*", "nextest.toml",
    "rust-toolchain*", "CMakeLists.txt", "CMakePresets.json", "*.cmake", "meson.build", "build.rs",
    "gradle.properties", "**/gradle/wrapper/**", "gradlew*", "**/.mvn/**", "mvnw*", "build.sbt", "Directory.Build.*",
    "Directory.Packages.props", "*.runsettings", "xunit.runner.json", "Rakefile", ".rubocop.yml", "phpstan.neon*",
    ".credo.exs", ".formatter.exs", "analysis_options.yaml", "dart_test.yaml", "Taskfile.y*ml", ".perlcriticrc",
    ".proverc", "setupTests.*", ".bazelrc", ".simplecov", ".node-version", ".nvmrc", ".ruby-version",
    ".python-version", ".tool-versions", ".forgejo/**", ".gitea/**", ".buildkite/**", ".travis.yml", ".drone.yml",
    ".woodpecker.y*ml", ".woodpecker/**", "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml",
    "Jenkinsfile", "lefthook.y*ml", ".lefthook.y*ml", "lint-staged.config.*", ".lintstagedrc*", "mise.toml",
    ".mise.toml", ".env.local", ".env.test.local", ".flaskenv", "tox.toml", ".stestr.conf", ".testr.conf",
    "behave.ini", ".behaverc", "nose2.cfg", "unittest.cfg", "nose.cfg", "pylintrc", ".pydocstyle*", ".bandit",
    ".isort.cfg", "ty.toml", ".jestrc*", "jest.preset.*", "jest.resolver.*", ".pnp.*", "**/.yarn/releases/**",
    "**/.yarn/plugins/**", "pnpmfile.*", "nx.json", "turbo.json", "wdio.conf.*", "nightwatch.conf.*",
    "protractor.conf.*", ".testcaferc*", "web-test-runner.config.*", "stryker.conf*", ".oxlintrc*",
    "stylelint.config.*", ".stylelintrc*", "testng.xml", "*.gradle", "*.gradle.kts", "**/buildSrc/**",
    "**/build-logic/**", ".rspec-local", "*.rake", "**/rakelib/**", "Rakefile.rb", ".minitest*", ".test-unit.yml",
    "test-unit.yml", "**/.bundle/config", ".standard.yml", "phpunit.dist.xml", "phpspec.y*ml", "behat.y*ml",
    "codeception.y*ml", "psalm.xml*", "infection.json*", ".php-cs-fixer*", "**/config/test.exs", "coveralls.json",
    ".dialyzer_ignore.exs", "pubspec_overrides.yaml", "tests.edn", ".hspec", "global.json", "nuget.config",
    "meson.options", "meson_options.txt", "Makefile.am", "Makefile.in", "SConstruct", "wscript",
)  # fmt: skip


@section
class BoundarySettings(Section):
    """Globs of tests and protected files. Without `tests` they are detected (checks.test_paths)."""

    tests: tuple[str, ...] = ()
    gates: tuple[str, ...] = GATES
    dependencies: Literal["allowed", "asked"] = "allowed"
    lock_files: bool = False


@section
class ReviewSettings(Section):
    """How work lands on main."""

    merge: Literal["squash", "rebase"] = "squash"
    revalidate: Literal["cached", "always"] = "cached"
    every_commit_green: bool = False
    validators: Annotated[int, Rule(ge=0, le=64)] = 0
    test_strength: Literal["cheats", "red"] = "cheats"
    confirm: Literal["always", "flaky", "never"] = "always"
    approve: Literal["never", "labelled", "always"] = "labelled"
    mutation_probes: bool = True
    main_check_hours: Annotated[float, Rule(ge=0)] = 24.0
    land: Literal["local", "remote", "pull_request"] = "local"
    unit: Literal["bead", "epic"] = "bead"
    diverged: Literal["merge", "rebase"] = "merge"
    remote: Annotated[str, Rule(min_length=1), BRANCH] = "origin"
    remote_branch: Annotated[str, BRANCH] | None = None
    remote_seconds: Annotated[float, Rule(gt=0, le=3600)] = 120.0
    code_host: Literal["auto", "github", "gitlab", "git"] = "auto"
    code_host_repository: str = ""
    push: bool = True
    features: Features = field(default_factory=dict)
    max_open: Annotated[int, Rule(ge=1, le=1000)] = 5
    poll_seconds: Annotated[float, Rule(ge=1, le=3600)] = 60.0
    pull_draft: bool = False
    pull_auto_merge: bool = False
    pull_labels: tuple[str, ...] = ()
    pull_reviewers: tuple[str, ...] = ()
    pull_names: bool = False
    pull_cost: bool = False
    pull_delete_branch: bool = True
    code_review: Literal["auto", "off", "ask", "send_back"] = "auto"
    code_review_lowest: Annotated[int, Rule(ge=1, le=3)] = 3
    code_review_rounds: Annotated[int, Rule(ge=1, le=3)] = 3
    code_review_usd: Annotated[float, Rule(gt=0)] = 5.0
    code_review_minutes: Annotated[float, Rule(gt=0)] = 10.0
    code_review_agents: Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], OneOrMore()] = ()

    def reading_rules(self) -> "ReadingRules":
        from ..review.reading import Rules as ReadingRules

        own = (self.code_review, self.code_review_rounds, self.code_review_usd, self.code_review_minutes)
        return ReadingRules(*own, self.code_review_agents, self.code_review_lowest)

    @property
    def by_request(self) -> bool:
        return self.land == "pull_request"

    def rules(self, main: str) -> "DeliveryRules":
        """`main`: the local main branch."""
        from ..requests.model import Rules as DeliveryRules

        features = {epic: one.said() for epic, one in self.features.items()}
        return DeliveryRules(self.by_request, self.unit, self.push, features, self.remote_branch or main)

    def mistakes(self, main: str, pattern: str) -> list[str]:
        """Contradictions, each with its key below `review`; `pattern`: of beads' branches."""
        setting = "review.remote_branch" if self.remote_branch else "main"
        found = mistakes(self.features, self.land, self.unit, self.push, self.remote_branch or main, setting, pattern)
        mine = () if self.push or self.by_request else ('push: false needs land = "pull_request": remove push',)
        return [*mine, *(f"features.{mistake}" for mistake in found)]

    @property
    def watch_hours(self) -> float:
        """Interval of main's own checks; 0: never, as when people merge."""
        return 0.0 if self.by_request else self.main_check_hours


@section
class IssueSettings(Section):
    """Issues at GitHub as drafts (`nobrakes sync github`), and what nobrakes writes there."""

    repository: str = ""
    label: Annotated[str, Rule(min_length=1)] = "nobrakes"
    minutes: Annotated[float, Rule(ge=0)] = 0.0
    post: tuple[str, ...] = ()
    close: bool = True


@section
class ScriptSettings(Section):
    """Any command as an agent. It gets the prompt's path in NOBRAKES_PROMPT and runs in the workspace."""

    command: tuple[str, ...] = ()


Agents = Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], Rule(min_length=1), OneOrMore()]
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
class ProfileSettings(Section):
    """An agent of a profile (config.profiles)."""

    executable: str = ""
    model: str = ""
    base_url: str = ""
    permissions: Permissions = "auto"


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
"""Commands that affect others or delete what git lacks: a person confirms them."""


@section
class AgentSettings(Section):
    """Which agent works in which role, and how each is called."""

    test_writer: Agents = ("claude",)
    doer: Agents = ("claude",)
    by_type: Mapping[Workable, RoleAgents] = field(default_factory=dict)
    models: Mapping[str, RoleModels] = field(default_factory=dict)
    profiles: Mapping[str, ProfileSettings] = field(default_factory=dict)
    shaper: Agents = ("claude",)
    environment: tuple[str, ...] = ()
    ask_first: tuple[str, ...] = ASK_FIRST
    script: ScriptSettings = ScriptSettings()
    claude: ClaudeSettings = ClaudeSettings()
    codex: CodexSettings = CodexSettings()
    gemini: GeminiSettings = GeminiSettings()
    acp: AcpSettings = AcpSettings()

    def of(self, agent: str) -> Section:
        """The agent's own settings."""
        found = getattr(self, agent, None)
        return found if isinstance(found, Section) else self.profiles.get(agent, ProfileSettings())

    def command(self, agent: str) -> tuple[str, ...]:
        """Empty: not set, or an unknown agent."""
        own: Any = self.of(agent)
        if not isinstance(own, ProfileSettings):
            return (own.executable,) if hasattr(own, "executable") else own.command
        from .profiles import find  # most run coded agents alone

        profile = find(agent)
        return () if profile is None else (own.executable or profile.program,)

    def bypasses(self, agent: str) -> bool:
        """Whether the agent's own permissions do not restrain it."""
        return getattr(self.of(agent), "permissions", "bypass") == "bypass"

    def is_unbounded(self, agent: str) -> bool:
        """Whether only confinement restrains the agent of a profile, and it may not go without."""
        if not isinstance(self.of(agent), ProfileSettings) or self.bypasses(agent):
            return False
        from .profiles import find

        profile = find(agent)
        return profile is not None and not profile.is_bounded

    def agent_choice(self) -> "AgentChoice":
        from ..daemon.model import AgentChoice

        by_type = {
            str(kind): {role: agents for role, agents in (("test_writer", of.test_writer), ("doer", of.doer)) if agents}
            for kind, of in self.by_type.items()
        }
        return AgentChoice({"test_writer": self.test_writer, "doer": self.doer}, by_type)

    def model_of(self, agent: str, role: str) -> str:
        """Empty: the agent's own choice."""
        own: str = getattr(self.of(agent), "model", "")
        return getattr(self.models.get(agent), role, "") or own

    def seated(self, agent: str, role: str, usd: float | None = None, model: str = "") -> "AgentSettings":
        """The settings for an agent in a role: its model (a session's: `model`) and dollars."""
        section = self.of(agent)
        own = [limit for limit in (usd, getattr(section, "max_budget_usd", None)) if limit is not None]
        values = {"model": model or self.model_of(agent, role), "max_budget_usd": min(own, default=None)}
        known = {name: value for name, value in values.items() if hasattr(section, name)}
        changed: Any = replace(section, **known)  # type: ignore[type-var]
        if isinstance(section, ProfileSettings):
            return replace(self, profiles={**self.profiles, agent: changed})
        return replace(self, **{agent: changed})


@section
class BreakerSettings(Section):
    """When nobrakes no longer starts an agent that gets nowhere on a bead."""

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

    export: Annotated[str, EXPORT_PATH] = ""


@section
class ForgeSettings(Section):
    """Features' plans and reviews: `review_usd`, `shaper_usd` limit each. 0 hours: no expiry; 0 dollars: no limit."""

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


@section
class SandboxSettings(Section):
    """How agents and checks are closed off from the machine."""

    mode: Literal["auto", "bubblewrap", "none"] = "auto"
    wall: Literal["auto", "landlock", "none"] = "auto"
    home: Literal["private", "own"] = "private"
    network: Literal["open", "provider", "none"] = "open"
    hosts: Annotated[tuple[str, ...], HOSTS] = ()
    read: Annotated[tuple[str, ...], FULL_PATHS] = ()
    write: Annotated[tuple[str, ...], FULL_PATHS] = ()
    memory_mb: Annotated[int, Rule(ge=0)] = 8192
    processes: Annotated[int, Rule(ge=0)] = 1024
    file_mb: Annotated[int, Rule(ge=0)] = 2048
    open_files: Annotated[int, Rule(ge=0)] = 4096
    cpu_minutes: Annotated[int, Rule(ge=0)] = 0
    temporary_mb: Annotated[int, Rule(ge=0)] = 2048


@section
class PreviewSettings(Section):
    """The project's server, which a person starts in a bead's workspace."""

    setup: str = ""
    command: str = ""


@section
class FleetSettings(Section):
    """The machines on which agents and checks run."""

    engine: Literal["local", "dask"] = "local"
    scheduler: str = ""
    ca: Annotated[str, FULL_PATH] = ""
    certificate: Annotated[str, FULL_PATH] = ""
    key: Annotated[str, FULL_PATH] = ""
    agent_places: Annotated[int, Rule(ge=1)] = 1
    check_places: Annotated[int, Rule(ge=1)] = 1
    reserved_for_checks: Annotated[int, Rule(ge=0)] = 1
    unconfined: bool = False
    takeover_remote: str = ""
    takeover_prefix: str = ""

    def mistakes(self, review: ReviewSettings) -> list[str]:
        """What does not fit together."""
        found = self._takeover_mistakes(review) if self.takeover_remote or self.takeover_prefix else []
        if self.engine == "local":
            return found
        if not re.fullmatch(r"(tls|tcp)://[^/\s]+:\d+", self.scheduler):
            found.append('scheduler: name the address of the Dask scheduler, such as "tls://10.0.0.1:8786"')
        if self.scheduler.startswith("tls://") and not (self.ca and self.certificate and self.key):
            found.append("ca, certificate and key: name the three TLS files for this scheduler")
        if self.scheduler.startswith("tcp://") and not re.match(r"tcp://(127\.|localhost:|\[::1\])", self.scheduler):
            found.append("scheduler: without TLS, nobrakes talks only to a scheduler on this machine; use tls://")
        return found

    def _takeover_mistakes(self, review: ReviewSettings) -> list[str]:
        remote, prefix = self.takeover_remote[:80], self.takeover_prefix[:80]
        if not prefix:
            return ["takeover_remote: set takeover_prefix first, such as refs/nobrakes-state"]
        found = []
        if not _PREFIX.fullmatch(self.takeover_prefix) or not is_branch_name(self.takeover_prefix):
            found.append(
                f"takeover_prefix: '{prefix}' is not allowed: write it like refs/nobrakes-state, outside of "
                "refs/heads/, refs/tags/, refs/remotes/, refs/notes/ and refs/nobrakes/"
            )
        if not remote:
            return found
        if not is_branch_name(self.takeover_remote):
            found.append(f"takeover_remote: '{remote}' is not the name of a remote: `git remote` lists them")
        elif self.takeover_remote != review.remote and review.land != "local":
            found.append(
                f'takeover_remote: "{remote}" must be review.remote ("{review.remote}"), since one push moves main and '
                "the state"
            )
        return found


# The repository's settings hold no secret: `secret` names an entry of the user's own file (config.user).
DAY = 86_400.0


@section
class ChannelSettings(Section):
    """One way to reach people."""

    type: Literal["command", "desktop", "webhook", "apprise"]
    kinds: Annotated[tuple[str, ...], Rule(min_length=1)] = ("*",)
    severity: Literal["info", "warning", "urgent"] = "info"
    command: tuple[str, ...] = ()
    url: str = ""
    secret: str = ""
    insecure: bool = False

    def mistakes(self) -> list[str]:
        """What does not fit together."""
        from ..notices.model import NoticeKind

        known = {"*", *(kind.value for kind in NoticeKind)} - {NoticeKind.DIGEST.value, NoticeKind.TEST.value}
        found = [f"kinds: unknown kind '{kind[:40]}'" for kind in self.kinds if kind not in known]
        if self.type == "command":
            found += _program_mistakes(self.command)
        elif self.command:
            found.append(f"command: a channel of type {self.type} starts no program: remove this setting")
        if self.type in ("webhook", "apprise") and not self.url and not self.secret:
            found.append("url: set the address in url, or in `secret` the name of a secret with the address")
        if self.type in ("command", "desktop") and self.url:
            found.append(f"url: a channel of type {self.type} has no address: remove url")
        if self.type == "webhook" and self.url:
            from ..notices.model import mistake

            found += [f"url: {wrong}" for wrong in [mistake(self.url, self.insecure)] if wrong]
        return found


def _program_mistakes(command: tuple[str, ...]) -> list[str]:
    if not command or not command[0]:
        return ["command: name the program, with its arguments"]
    program = command[0]
    if "/" in program and not program.startswith(("/", "~/")):
        return ["command: use an absolute path or a name on PATH, because agents can change programs in the repository"]
    return []


@section
class NotifySettings(Section):
    """When people are told of what, and through which channels."""

    quiet_hours: str = ""
    renotify_hours: Annotated[float, Rule(ge=0)] = 4.0
    digest_after: Annotated[int, Rule(ge=1, le=1000)] = 10
    send_seconds: Annotated[float, Rule(gt=0, le=300)] = 30.0
    keep_days: Annotated[float, Rule(gt=0)] = 30.0
    channels: Mapping[Annotated[str, Rule(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")], ChannelSettings] = field(
        default_factory=dict
    )

    def mistakes(self) -> list[str]:
        """Contradictions, each with its key below `notify`."""
        from ..errors import ConfigError
        from ..notices.model import parsed

        found = []
        try:
            parsed(self.quiet_hours)
        except ConfigError as error:
            found.append(error.whole)
        for name, channel in self.channels.items():
            found += [f"notify.channels.{name}.{wrong}" for wrong in channel.mistakes()]
        return found

    def rules(self) -> "NoticesRules":
        from ..notices.model import ChannelRules, Severity, parsed
        from ..notices.model import Rules as NoticesRules

        return NoticesRules(
            tuple(ChannelRules(name, one.kinds, Severity(one.severity)) for name, one in self.channels.items()),
            parsed(self.quiet_hours),
            self.renotify_hours * 3600,
            self.digest_after,
            self.keep_days * DAY,
        )


Kind = Literal["test", "lint", "types", "build"]
Format = Literal[
    "auto", "exit", "junit", "pytest", "unittest", "go", "cargo", "tap", "jest", "vitest", "mocha", "ava", "ctest",
    "phpunit", "ruby", "maven",
]  # fmt: skip


@section
class CheckSettings(Section):
    """One command of the project's contract."""

    name: Annotated[str, Rule(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$")]
    command: Annotated[str, Rule(min_length=1)]
    kind: Kind = "test"
    timeout_minutes: Annotated[float, Rule(gt=0)] = 30.0
    min_tests: Annotated[int, Rule(ge=0)] = 1
    directory: Annotated[str, INSIDE] = ""
    cache: Literal[True, "never"] = True
    retry: Annotated[int, Rule(ge=0, le=10)] = 0
    tools: Annotated[Mapping[str, str], TOOLS] = field(default_factory=dict)
    parallel: bool = False
    format: Format = "auto"
    report: Annotated[str, INSIDE] = ""

    def mistake(self) -> str | None:
        """What does not go together."""
        if self.kind != "test" and (self.report or self.format not in ("auto", "exit")):
            return f"report and format apply only to kind test, but its kind is {self.kind}"
        if self.report and self.format not in ("auto", "junit"):
            return f"report needs format junit or auto, but format is {self.format}"
        if self.kind != "test" and self.min_tests > 1:
            return f"min_tests above 1 applies only to kind test, but its kind is {self.kind}"
        if self.format == "exit" and self.min_tests > 1:
            return 'min_tests above 1 needs a format that counts tests, but format "exit" counts none'
        return None

    @property
    def lacks_format(self) -> bool:
        return self.kind == "test" and self.format == "auto" and not self.report

    def check(self) -> "Check":
        from ..checks.contract import Check  # most commands read settings and run no check

        tools = tuple(sorted(self.tools.items()))
        return copied(Check, self, timeout=self.timeout_minutes * 60, cached=self.cache != "never", tools=tools)


# Pages may set numbers, choices, and these texts: nothing runs them, and they name no file, address, remote or key. A
# stolen login must not become a command, open the sandbox, or send keys or work elsewhere. Patterns of keys.
PAGE_TEXTS = (
    "main", "names", "boundaries.tests", "boundaries.gates", "review.remote_branch", "review.features*",
    "review.pull_labels", "review.pull_reviewers", "review.code_review_agents", "agents.test_writer", "agents.doer",
    "agents.shaper", "agents.by_type*", "agents.models*", "agents.ask_first", "agents.*.model", "forge.reviewers",
    "git.branch_pattern", "notify.quiet_hours", "notify.channels.*.kinds",
)  # fmt: skip
TERMINAL_CHOICES = (
    "sandbox.mode", "sandbox.wall", "sandbox.home", "sandbox.network", "agents.*.permissions", "review.land",
    "review.code_host", "notify.channels.*.type", "notify.channels.*.insecure",
)  # fmt: skip
"""Choices that only a terminal makes."""
