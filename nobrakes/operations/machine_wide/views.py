"""What the repositories of this machine share, for people: limits, places, what today cost. And setting the limits."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from ...config.user import edited, limits_of, load_user
from ...core.errors import ConfigError, NobrakesError, NotAllowed
from ...core.limits.caps import DAY_SECONDS, day_start
from ...core.limits.machine import MachineLimits
from ...host.files import write_atomic
from ...host.living import lives
from ...place import UserPlace, make, require_safe, user_place
from ...store.conditions import now
from ...store.user.database import UserStore
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
    """One moment. Of the limits None says that there is none; `trouble`: why they are not known."""

    agents: int | None
    usd_per_day: float | None
    tokens_per_day: int | None
    taken: int
    usd: float
    tokens: int
    day_ends_at: float
    repositories: tuple[Share, ...]
    trouble: str = ""

    @property
    def is_limited(self) -> bool:
        """Whether anything is limited, or should be."""
        return bool(self.trouble) or (self.agents, self.usd_per_day, self.tokens_per_day) != (None, None, None)


def view() -> MachineView:
    """The machine now. NotAllowed in a run, PlaceUnusable, ConfigError."""
    place = user_place()
    require_safe(place.settings)
    limits = load_user(place.config).machine.limits()
    store = known(place)
    if store is None:
        return _view(limits, ())
    try:
        return _view(limits, _shares(store, place))
    finally:
        store.close()


def shown() -> MachineView | None:
    """The machine for a picture of one repository: None where nothing is limited, or nothing can be shared."""
    try:
        found = view()
    except ConfigError as error:
        found = _view(MachineLimits(), (), str(error))
    except NobrakesError:
        return None  # in a run; or the place cannot be used, and then nothing is limited: the doctor says why
    return found if found.is_limited else None


def _view(limits: MachineLimits, shares: tuple[Share, ...], trouble: str = "") -> MachineView:
    return MachineView(
        limits.agents,
        limits.usd_per_day,
        limits.tokens_per_day,
        sum(one.agents for one in shares),
        round(sum(one.usd for one in shares), 6),
        sum(one.tokens for one in shares),
        day_start(now()) + DAY_SECONDS,
        shares,
        trouble,
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
    text = ""
    with suppress(FileNotFoundError), open(place.config, encoding="utf-8") as file:
        text = file.read()
    write_atomic(place.config, edited(text, changes, place.config).encode())
    wake_all(place)
    return view()


def trouble() -> tuple[str, bool]:
    """Why what repositories share cannot be used, and whether that keeps a daemon from starting; empty: it can be."""
    try:
        view()
    except NotAllowed:
        return "", False
    except ConfigError as error:
        return f"{error} {error.hint}", True
    except NobrakesError as error:
        return f"machine-wide limits are off: {error}. {error.hint}".strip(), False
    return "", False
