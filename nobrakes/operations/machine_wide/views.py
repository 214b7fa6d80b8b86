"""What the repositories of this machine share, for people: limits, places, what today cost. And setting the limits."""

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from ...config.user import HINT, edited, limits_of
from ...core.errors import ConfigError, DiskFull, NobrakesError, NotAllowed, PlaceUnusable
from ...core.limits.caps import DAY_SECONDS, day_start
from ...core.limits.machine import MachineLimits, unknown_text
from ...host.files import write_atomic
from ...host.living import lives
from ...place import UserPlace, make, require_own, require_safe, user_place
from ...store.conditions import now
from ...store.user.database import UserStore
from .own_settings import require_changeable, settings_at, unknown
from .registry import known, wake_all


@dataclass(frozen=True, slots=True)
class Share:
    """One repository's part. `path` is empty where the repository is known no more."""

    path: str
    agents: int
    usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class MachineView:
    """One moment. Of the limits None says that there is none.

    `trouble`: why limits, or what is used of them, cannot be read, so that no agent starts; `mend`: what helps.
    """

    agents: int | None
    usd_per_day: float | None
    tokens_per_day: int | None
    taken: int
    usd: float
    tokens: int
    day_ends_at: float
    repositories: tuple[Share, ...]
    trouble: str = ""
    mend: str = ""
    passes: bool = False

    @property
    def is_limited(self) -> bool:
        """Whether anything is limited, or should be."""
        return bool(self.trouble) or (self.agents, self.usd_per_day, self.tokens_per_day) != (None, None, None)


def view() -> MachineView:
    """The machine now. NotAllowed in a run; PlaceUnusable where this account has no place."""
    limits, shares, error = _looked(user_place())
    found = _view(limits or MachineLimits(), shares)
    room = unknown(limits, error) if error is not None else None
    return found if room is None else replace(found, trouble=room.unknown, mend=room.mend, passes=room.passes)


def _looked(place: UserPlace) -> tuple[MachineLimits | None, tuple[Share, ...], NobrakesError | None]:
    """The limits (None: they cannot be read), what is used of them, and what keeps from reading or counting."""
    limits = None
    try:
        limits = settings_at(place).machine.limits()
        require_changeable(place)
        store = known(place)
        if store is None:
            return limits, (), None
        try:
            shares = _shares(store, place)
            store.require_writable()
            if shutil.disk_usage(place.state).free == 0:
                raise DiskFull(f"no space is left for {place.database}")
        finally:
            store.close()
    except NobrakesError as error:
        return limits, (), error
    return limits, shares, None


def shown() -> MachineView | None:
    """The machine for a picture of one repository: None where nothing is limited, or this account has no place."""
    try:
        found = view()
    except NobrakesError:  # in a run; or no place was ever made, and then nothing is limited
        return None
    return found if found.is_limited else None


def _view(limits: MachineLimits, shares: tuple[Share, ...]) -> MachineView:
    return MachineView(
        limits.agents,
        limits.usd_per_day,
        limits.tokens_per_day,
        sum(one.agents for one in shares),
        round(sum(one.usd for one in shares), 6),
        sum(one.tokens for one in shares),
        day_start(now()) + DAY_SECONDS,
        shares,
    )


def _shares(store: UserStore, place: UserPlace) -> tuple[Share, ...]:
    paths = {one.identity: one.path for one in store.repositories()}
    places = store.places(partial(lives, place.daemons))
    spent = {one.repository: one for one in store.spent(day_start(now()))}
    names = dict.fromkeys([*(one.repository for one in places), *spent])
    found = [
        Share(
            paths.get(name, ""),
            sum(one.repository == name for one in places),
            spent[name].usd if name in spent else 0.0,
            spent[name].tokens if name in spent else 0,
        )
        for name in names
    ]
    return tuple(sorted((one for one in found if one.agents or one.usd or one.tokens), key=lambda one: one.path))


def set_limits(words: Mapping[str, str]) -> MachineView:
    """Set limits of the machine by name; the word `default` takes one out. Every daemon hears of it. ConfigError."""
    place = user_place()
    changes = limits_of(words)
    if not require_safe(place.settings):
        make(place.settings)
    require_own(place.config)
    text = ""
    try:
        with suppress(FileNotFoundError), open(place.config, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{place.config} cannot be read: {error}", HINT) from None
    write_atomic(place.config, edited(text, changes, place.config).encode())
    with suppress(NobrakesError):  # who cannot be told looks again by itself
        wake_all(place)
    return view()


def trouble() -> tuple[str, bool]:
    """Why what repositories share cannot be used, and whether no agent starts for it; empty: it can be."""
    try:
        limits, _, error = _looked(user_place())
    except NotAllowed:
        return "", False
    except PlaceUnusable as none:
        return f"{none}: repositories share nothing. {none.hint}", False
    if error is None:
        return "", False
    room = unknown(limits, error)
    return (f"{error}. {error.hint}", False) if room is None else (unknown_text(room), True)
