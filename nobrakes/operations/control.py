"""The Breaker Box: pause, resume, stop, and limits that a person changes while it runs.

1. What is changed here is a setting of the store, so it holds for every daemon and outlives each of them.
2. A changed limit overrides config.toml until it is changed again; it is checked by the same rules.
3. Whatever is changed wakes the daemon.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.errors import ConfigError
from ..core.events import Event, Kind
from ..host.watching import poke
from ..places import Places

if TYPE_CHECKING:
    from ..config import Config, LimitSettings
    from ..core.board import Limits
    from ..ports import Store

PAUSED = "paused"
STOPPING = "stopping"
LIMITS = "limits"
YES = "yes"


def wake(places: Places) -> None:
    """Tell the daemon, if there is one, that something changed."""
    poke(places.wake, "person")


def _switch(store: "Store", places: Places, wanted: Mapping[str, str | None], kind: Kind, actor: str) -> bool:
    changes = {key: value for key, value in wanted.items() if store.setting(key) != value}
    for key, value in changes.items():
        store.set_setting(key, value)
    if changes:
        store.record(Event(kind, actor=actor, data={"settings": changes}))
    wake(places)
    return bool(changes)


def pause(store: "Store", places: Places, actor: str) -> bool:
    """Start nothing new; what runs goes on. Whether that is new."""
    return _switch(store, places, {PAUSED: YES}, Kind.PAUSED, actor)


def stop(store: "Store", places: Places, actor: str) -> bool:
    """Stop the agents too, and keep their work. Whether that is new."""
    return _switch(store, places, {PAUSED: YES, STOPPING: YES}, Kind.PAUSED, actor)


def resume(store: "Store", places: Places, actor: str) -> bool:
    """Go on after pause or stop. Whether that is new."""
    return _switch(store, places, {PAUSED: None, STOPPING: None}, Kind.RESUMED, actor)


def _overrides(store: "Store") -> dict[str, object]:
    text = store.setting(LIMITS)
    if not text:
        return {}
    found = json.loads(text)
    assert isinstance(found, dict), "only set_limits writes this setting"
    return found


def _checked(settings: "LimitSettings", overrides: Mapping[str, object]) -> "LimitSettings":
    from pydantic import ValidationError

    from ..config import LimitSettings

    known = ", ".join(LimitSettings.model_fields)
    try:
        return LimitSettings.model_validate({**settings.model_dump(), **overrides})
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            name = ".".join(str(part) for part in problem["loc"])
            what = "is not a limit" if problem["type"] == "extra_forbidden" else problem["msg"]
            lines.append(f"{name}: {what}")
        raise ConfigError("\n".join(lines), f"The limits are: {known}.") from None


def limits(store: "Store", config: "Config") -> "Limits":
    """The limits in force: config.toml, overridden by what a person changed while it runs."""
    overrides = _overrides(store)
    if not overrides:
        return config.board_limits()
    return config.model_copy(update={"limits": _checked(config.limits, overrides)}).board_limits()


def set_limits(
    store: "Store", changes: Mapping[str, str], actor: str, places: Places | None = None
) -> dict[str, object]:
    """Change limits by name until they are changed again; the word `default` gives one back to config.toml.

    Returns all that are changed now. ConfigError: an unknown name or a wrong value, and nothing was changed.
    """
    from ..config import LimitSettings

    before = _overrides(store)
    kept = {name: value for name, value in before.items() if name not in changes}
    given: dict[str, object] = {name: value for name, value in changes.items() if value != "default"}
    names = {name: value for name, value in changes.items() if name not in LimitSettings.model_fields}
    checked = _checked(LimitSettings(), {**given, **names}).model_dump()
    overrides = kept | {name: checked[name] for name in given}
    if overrides != before:
        store.set_setting(LIMITS, json.dumps(overrides, sort_keys=True) if overrides else None)
        store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data={"before": before, "after": overrides}))
    if places is not None:
        wake(places)
    return overrides
