"""config.toml as frozen values. An unknown key or a wrong value is an error that names the key.

1. config/nobrakes.toml holds every setting with its default and one comment; a test compares the two.
2. pydantic judges a file once. What it judged lies beside the file, in .nobrakes/config.checked, with the text that it
   was made of: while that text is the file's, a command reads the values and imports no pydantic.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from .. import __version__
from ..errors import ConfigError
from ..paths import resource
from ..records import copied
from . import sections
from . import values as config_values
from .values import BRANCH, GitSettings, S, Section, Trees, layout_of, section, text_of

if TYPE_CHECKING:
    from ..agents.limits import Sizes
    from ..beads.model import Role
    from ..checks.contract import Check
    from ..checks.policy.boundaries import Boundary
    from ..daemon.model import Limits


@section
class Config(Section):
    """Every setting of a repository."""

    main: Annotated[str, BRANCH] = "main"
    setup: str = ""
    checks: tuple[sections.CheckSettings, ...] = ()
    limits: sections.LimitSettings = sections.LimitSettings()
    boundaries: sections.BoundarySettings = sections.BoundarySettings()
    review: sections.ReviewSettings = sections.ReviewSettings()
    issues: sections.IssueSettings = sections.IssueSettings()
    agents: sections.AgentSettings = sections.AgentSettings()
    forge: sections.ForgeSettings = sections.ForgeSettings()
    breaker: sections.BreakerSettings = sections.BreakerSettings()
    caps: sections.CapsSettings = sections.CapsSettings()
    sandbox: sections.SandboxSettings = sections.SandboxSettings()
    preview: sections.PreviewSettings = sections.PreviewSettings()
    fleet: sections.FleetSettings = sections.FleetSettings()
    git: GitSettings = GitSettings()
    retention: sections.RetentionSettings = sections.RetentionSettings()
    events: sections.EventSettings = sections.EventSettings()
    notify: sections.NotifySettings = sections.NotifySettings()
    names: tuple[str, ...] = ()

    def board_limits(self) -> "Limits":
        """The limits for deciders."""
        from ..agents.limits import Cap, Caps, Thresholds
        from ..daemon.model import Limits, Starts
        from ..review.journal import UNKNOWN_VALIDATORS, Rules

        limits, caps = self.limits, self.caps
        bead, day, run = (Cap(c.usd, c.tokens, c.minutes) for c in (caps.bead, caps.day, caps.run))
        return copied(
            Limits,
            limits,
            agent_seconds=limits.agent_minutes * 60,
            idle_seconds=limits.idle_minutes * 60,
            agent_choice=self.agents.agent_choice(),
            breaker=Thresholds(self.breaker.without_progress, self.breaker.same_error),
            caps=Caps(
                Cap(caps.attempt.usd, caps.attempt.tokens, caps.attempt.minutes), bead, day, run, caps.calls_per_hour
            ),
            approve=self.review.approve,
            starts=Starts.OPEN,
            elsewhere=self.review.rules(self.main).elsewhere,
            queue=Rules(
                validators=self.review.validators or UNKNOWN_VALIDATORS,
                every_commit_green=self.review.every_commit_green,
                is_serial=self.review.merge == "rebase"
                or self.review.revalidate == "always"
                or self.review.by_request,  # each stands on main alone: people merge in any order
            ),
        )

    def sizes(self) -> "Sizes":
        from ..agents.limits import Sizes

        limits = self.limits
        return Sizes(int(limits.max_file_mb * 1e6), int(limits.max_new_mb * 1e6), limits.max_paths, limits.max_depth)

    def contract(self) -> "tuple[Check, ...]":
        return tuple(check.check() for check in self.checks)

    def boundary(self, texts: Mapping[str, str] | None = None, paths: frozenset[str] = frozenset()) -> "Boundary":
        """The globs for deciders; without `tests` those of an empty repository (see `within`). `paths`: the tree where
        work began; `texts`: its files that define the checks."""
        from ..checks.policy.boundaries import Boundary
        from ..checks.policy.protected_files import GIT, LOCK_FILES, OTHER_AGENTS, loaded, named
        from ..checks.policy.shadows import roots, standing
        from ..checks.test_paths import EMPTY

        own, checks, known = self.boundaries, self.contract(), texts or {}
        gates = (*own.gates, *(LOCK_FILES if own.lock_files else ()))
        tests = own.tests or (*EMPTY.tests, *EMPTY.fresh)
        folders = roots(checks, known)
        return Boundary(
            tests,
            gates,
            named(self.setup, checks, known),
            folders,
            standing(paths, folders),
            paths,
            steering=(*OTHER_AGENTS, *GIT),
            asks_dependencies=own.dependencies == "asked",
            loaded=loaded(self.setup, checks, known),
        )

    def boundary_at(self, trees: "Trees", base: str, role: "Role", head: str = "") -> "Boundary":
        """The boundary of a role's work from `base` to `head`, with paths that git, instructions and links name."""
        from ..checks.policy.protected_files import along_links, below, plain, sources, steering_taken_up
        from ..checks.test_paths import PYTEST

        paths = trees.paths(base)
        wanted = {*sources(self.contract()), *PYTEST} & paths
        texts = {path: text_of(trees, base, path) for path in sorted(wanted)}
        found = self.within(trees, base, role, head).boundary(texts, paths)
        by_git, folders = trees.named_by_git()
        named = found.named | by_git | steering_taken_up(paths, lambda path: text_of(trees, base, path))
        on_the_way, _ = along_links(named, paths, partial(trees.link, base))
        protected = [name for name in plain((*found.gates, *found.steering)) if name in paths]
        their_links, ends = along_links(protected, paths, partial(trees.link, base))
        return replace(found, named=named | on_the_way | their_links, gates=(*found.gates, *below((*folders, *ends))))

    def within(self, trees: "Trees", base: str, role: "Role", head: str = "") -> "Config":
        """The settings, with the tests of `base` if none are set; a Test Writer's with those that `head` adds."""
        from ..beads.model import Role

        if self.boundaries.tests:
            return self
        before = layout_of(trees, base)
        tests = before.tests
        if role is Role.TEST_WRITER:
            from ..checks.test_paths import writers

            tests = writers(before, layout_of(trees, head) if head else before, trees.paths(base))
        from ..checks.test_paths import EMPTY

        known = tests or EMPTY.names  # ecosystems whose tests have no name of their own
        return replace(self, boundaries=replace(self.boundaries, tests=known))

    def worker_names(self) -> tuple[str, ...]:
        """The config's own names, else those of NAMES.json."""
        if self.names:
            return self.names
        with open(resource("NAMES.json"), encoding="utf-8") as file:
            return tuple(json.load(file))


RENAMED = {
    "canary_hours": "main_check_hours",
    "decoy": "mutation_probes",
    "fresh_eyes": "code_review",
    **{f"fresh_eyes_{one}": f"code_review_{one}" for one in ("rounds", "usd", "minutes", "agents")},
}
"""Old names of [review] settings, accepted for one more version."""
GONE = {
    **{
        f"review.{old}": f"was renamed to {new}, and both are set: type `nobrakes config unset review.{old}`"
        for old, new in RENAMED.items()
    },
    "review.after_merge": "was renamed to revalidate: write `revalidate`, or remove this line.",
    "review.dependants": "was removed: pull requests no longer stack, and a bead waits until the beads "
    "that it needs are merged. Remove this line.",
}
"""Removed settings, with advice."""


def validated(kind: type[S], values: Mapping[str, Any], unknown: str = "is not a setting") -> S:
    """A section from plain values; ConfigError lists each mistake, `unknown` for an unknown key."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            key = ".".join(str(part) for part in problem["loc"])
            said = problem["msg"].removeprefix("Value error, ")
            if problem["type"] == "unexpected_keyword_argument":
                said = GONE.get(key) or unknown + _meant(kind, problem["loc"])
            lines.append(f"{key}: {said}")
        raise ConfigError("\n".join(lines)) from None


def _rename(review: Any) -> None:
    """Rename old settings unless the new one is set too."""
    for old in RENAMED.keys() & review if isinstance(review, dict) else ():
        if RENAMED[old] not in review:
            review[RENAMED[old]] = review.pop(old)


def _meant(kind: type[S], place: Sequence[Any]) -> str:
    from difflib import get_close_matches

    table: Any = kind
    for name in place[:-1]:
        if isinstance(name, str) and name not in ("checks", *_MAPPED):
            table = type(getattr(table, name, None))
        elif name in ("checks", *_MAPPED):
            table = sections.CheckSettings if name == "checks" else _MAPPED[str(name)]
            break
    like = get_close_matches(str(place[-1]), getattr(table, "__dataclass_fields__", {}), n=1)
    return f"; did you mean {like[0]}?" if like else ""


def parse(text: str, where: str) -> Config:
    """ConfigError names file, key and allowed values."""
    from ..text import toml

    try:
        raw = toml.loads(text)
    except ValueError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}") from None
    try:
        _rename(raw.get("review"))
        config = validated(Config, raw)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None
    names = [check.name for check in config.checks]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{where}: two checks have the name '{name}'")
    wrong = [f"{where}: check '{check.name}': {mistake}" for check in config.checks if (mistake := check.mistake())]
    wrong += [f"{where}: {mistake}" for mistake in config.notify.mistakes()]
    wrong += [f"{where}: fleet.{mistake}" for mistake in config.fleet.mistakes(config.review)]
    review = config.review.mistakes(config.main, config.git.branch_pattern)
    wrong += [f"{where}: review.{mistake}" for mistake in review]
    if wrong:
        raise ConfigError("\n".join(wrong))
    return config


def load(path: str) -> Config:
    """Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{os.path.relpath(path)} cannot be read: {error}") from None
    if (known := _remembered(path, text)) is None:
        known = parse(text, os.path.relpath(path))
        if text.strip():  # an empty one is being written, and is not what holds
            config_values.keep(path, text, _judge(), asdict(known))
    return known


def load_for_reading(path: str) -> tuple[Config, str]:
    """For reading: with an error message the last valid config, or the defaults."""
    try:
        found = load(path)
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            if not file.read().strip():
                raise ConfigError(f"{os.path.relpath(path)} is empty.")
        return found, ""
    except ConfigError as error:
        values = config_values.recall_last(path, _judge())
        last = _made(Config, values) if isinstance(values, dict) else None
        shown = "the previous settings" if last is not None else "every setting's default"
        return last or Config(), f"{' '.join(str(error).split()).rstrip('.')}. This output uses {shown}."


def _remembered(path: str, text: str) -> Config | None:
    try:
        values = config_values.recall(path, text, _judge())
        return None if values is None else _made(Config, values)
    except (LookupError, TypeError, AttributeError):  # somebody changed it
        return None


def _judge() -> str:
    own = [os.stat(file) for file in (__file__, *(str(module.__file__) for module in (sections, config_values)))]
    return " ".join([__version__, *(f"{one.st_mtime_ns} {one.st_size}" for one in own)])


_MAPPED: Mapping[str, type[Section]] = {
    "by_type": sections.RoleAgents,
    "models": sections.RoleModels,
    "profiles": sections.ProfileSettings,
    "features": sections.FeatureSettings,
    "channels": sections.ChannelSettings,
}


def _made(kind: type[S], values: Mapping[str, Any]) -> S:
    made: dict[str, Any] = {}
    for name, value in values.items():
        default = getattr(kind, name, None)
        if isinstance(default, Section):
            made[name] = _made(type(default), value)
        elif name in _MAPPED:
            made[name] = {key: _made(_MAPPED[name], own) for key, own in value.items()}
        elif isinstance(value, list):
            made[name] = tuple(_made(sections.CheckSettings, one) if isinstance(one, dict) else one for one in value)
        else:
            made[name] = value
    return kind(**made)


AGAIN = 0.02
SETTLED = 1.0
"""Seconds that a file must stay unchanged after losing a check: half a file may be valid too."""


class ConfigSource:
    """The present config.toml; while it is empty or broken, the last valid one: both changes are reported once."""

    def __init__(self, path: str | Callable[[], str], first: Config, tell: Callable[[str], None]) -> None:
        self._path = path if callable(path) else lambda: str(path)
        self._config = first
        self._tell = tell
        self._seen = _stamp(self._path())
        self._until = 0.0
        self._wrong = ""
        self._unchanged: tuple[Stamp | None, float] | None = None

    def __call__(self) -> Config:
        if (now := time.monotonic()) < self._until:
            return self._config  # asked for many times in a turn: the file is looked at once for all of them
        self._until = now + AGAIN
        if (stamp := _stamp(self._path())) != self._seen:
            self._look(stamp, now)
        return self._config

    def _look(self, stamp: "Stamp | None", now: float) -> None:
        try:
            if stamp is not None and not stamp[1]:
                raise ConfigError(f"{os.path.relpath(self._path())} is empty (perhaps an editor is saving it).")
            found = load(self._path())
        except ConfigError as error:
            self._seen, self._unchanged = stamp, None
            if str(error) != self._wrong:
                self._wrong = str(error)
                self._tell(f"{error} The previous settings stay in force.")
            return
        if not {one.name for one in self._config.checks} <= {one.name for one in found.checks}:
            if self._unchanged is None or self._unchanged[0] != stamp:
                self._unchanged = stamp, now
            if now < self._unchanged[1] + SETTLED:
                return  # looked at again
        self._seen, self._unchanged, self._config = stamp, None, found
        if self._wrong:
            self._wrong = ""
            self._tell(f"{os.path.relpath(self._path())} is valid again, and its settings are in force.")


Stamp = tuple[int, int, int]


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
