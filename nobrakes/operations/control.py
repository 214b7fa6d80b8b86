"""The Breaker Box: pause, resume, stop all or one, and limits that a person changes while it runs.

1. What is changed here is a setting of the store, so it holds for every daemon and outlives each of them.
2. A changed limit overrides config.toml until it is changed again; it is checked by the same rules.
3. Whatever is changed wakes the daemon.
4. Stopping one agent starts and pauses nothing: its bead goes on with the next attempt, unless it is held.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from ..core.beads.events import Event, Kind
from ..core.errors import ConfigError, NoMain, NotAllowed
from ..paths import Paths
from .waking import wake

if TYPE_CHECKING:
    from ..config.sections import LimitSettings
    from ..config.settings import Config
    from ..core.beads.attempt import Attempt
    from ..core.board import Limits
    from ..ports.git import Git
    from ..ports.store import Store

PAUSED = "paused"
STOPPING = "stopping"
FROZEN = "frozen"
STOP_ASKED = "stop_asked"
LIMITS = "limits"
RED_MAIN = "red_main"
YES = "yes"


def _switch(store: "Store", paths: Paths, wanted: Mapping[str, str | None], kind: Kind, actor: str) -> bool:
    changes = {key: value for key, value in wanted.items() if store.setting(key) != value}
    with store.together():
        for key, value in changes.items():
            store.set_setting(key, value)
        if changes:
            store.record(Event(kind, actor=actor, data={"settings": changes}))
    wake(paths)
    return bool(changes)


def pause(store: "Store", paths: Paths, actor: str) -> bool:
    """Start nothing new; what runs goes on. Whether that is new."""
    return _switch(store, paths, {PAUSED: YES}, Kind.PAUSED, actor)


def stop(store: "Store", paths: Paths, actor: str) -> bool:
    """Stop the agents too, and keep their work. Whether that is new."""
    return _switch(store, paths, {PAUSED: YES, STOPPING: YES}, Kind.PAUSED, actor)


def allow_red_main(store: "Store", git: "Git", actor: str, paths: Paths) -> bool:
    """Let agents start on main as it stands, whatever its checks say. Whether that is new."""
    try:
        return _switch(store, paths, {RED_MAIN: git.main()}, Kind.RESUMED, actor)
    except NoMain:
        return False  # whoever starts says so


def stop_one(store: "Store", paths: Paths, name_or_bead: str, hold: str | None, actor: str) -> "Attempt":
    """Have the agent of this name or bead stopped, and its work kept; `hold`: why its bead is held, None: it goes on.

    Asked twice, it is asked once. The attempt that is stopped. NoSuchBead, and NotAllowed where nobody is at work.
    """
    from ..core.board import Limits
    from . import beads, sessions

    at_work = sessions.find_session(store, paths, name_or_bead)
    if at_work.turn:
        raise NotAllowed(f"{name_or_bead} is a session", f"`nobrakes session stop {name_or_bead.partition('~')[2]}`")
    found = store.attempt(at_work.attempt)
    if found.outcome is not None:
        now = store.bead(found.bead).status.value
        raise NotAllowed(f"no agent works on bead {found.bead}: it is {now}", "`nobrakes status` names who is at work.")
    with store.together():
        board = store.board(Limits())
        if found.id not in board.stop_asked:
            open_ones = {attempt.id for attempt in board.attempts}
            asked = sorted((board.stop_asked & open_ones) | {found.id})
            store.set_setting(STOP_ASKED, " ".join(map(str, asked)))
            data = {"name": found.name, "number": found.number}
            store.record(Event(Kind.STOP_ASKED, found.bead, found.id, actor, data))
        if hold is not None:
            beads.hold(store, found.bead, hold, actor)
    wake(paths)
    return found


def resume(store: "Store", paths: Paths, actor: str) -> bool:
    """Go on after pause or stop. Whether that is new."""
    return _switch(store, paths, {PAUSED: None, STOPPING: None}, Kind.RESUMED, actor)


def overrides(store: "Store") -> dict[str, Any]:
    """The limits that a person changed while it runs, by name."""
    text = store.setting(LIMITS)
    if not text:
        return {}
    found = json.loads(text)
    assert isinstance(found, dict), "only set_limits writes this setting"
    return found


def _checked(values: Mapping[str, object]) -> "LimitSettings":
    from ..config.sections import LimitSettings
    from ..config.settings import validated

    try:
        return validated(LimitSettings, values, "is not a limit")
    except ConfigError as error:
        raise ConfigError(str(error), f"The limits are: {', '.join(_known())}.") from None


def _known() -> list[str]:
    from ..config.sections import FROM_THE_START, LimitSettings

    return [field.name for field in fields(LimitSettings) if field.name not in FROM_THE_START]


def limits(store: "Store", config: "Config") -> "Limits":
    """The limits in force: config.toml, overridden by what a person changed while it runs."""
    changed = overrides(store)
    if not changed:
        return config.board_limits()
    if not changed.keys() <= set(_known()):  # a nobrakes that knows other limits wrote them
        _checked(changed)
    # set_limits checked them when it wrote them
    return replace(config, limits=replace(config.limits, **changed)).board_limits()


def set_limits(store: "Store", changes: Mapping[str, str], actor: str, paths: Paths | None = None) -> dict[str, object]:
    """Change limits by name until they are changed again; the word `default` gives one back to config.toml.

    Returns all that are changed now. ConfigError: an unknown name or a wrong value, and nothing was changed.
    """
    from ..config.sections import FROM_THE_START

    for name in changes:
        if name in FROM_THE_START:
            raise ConfigError(f"{name} holds from the start of nobrakes on", "Set it in .nobrakes/config.toml.")
    before = overrides(store)
    kept = {name: value for name, value in before.items() if name not in changes}
    given: dict[str, object] = {name: value for name, value in changes.items() if value != "default"}
    names = {name: value for name, value in changes.items() if name not in _known()}
    wanted = {**given, **names}
    checked = asdict(_checked(wanted))
    after = kept | {name: checked[name] for name in given}
    if after != before:
        with store.together():
            store.set_setting(LIMITS, json.dumps(after, sort_keys=True) if after else None)
            store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data={"before": before, "after": after}))
    if paths is not None:
        wake(paths)
    return after
