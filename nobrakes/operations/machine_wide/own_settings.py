"""The settings of a person, above all repositories, for who serves that person; and what follows where they fail.

A file that was never made sets nothing. One that cannot be read may set limits, so they count as reached.
"""

from ...config.user import UserConfig, load_user
from ...core.errors import DiskFull, MachineShort, NobrakesError, StoreBusy
from ...core.limits.machine import MachineLimits, MachineRoom
from ...place import CHANGES, ENTERS, UserPlace, require_own, require_safe, user_place

_PASSING = (DiskFull, MachineShort, StoreBusy)


def own_settings() -> UserConfig:
    """As the file says; what is not there is as it comes. NotAllowed in a run, PlaceUnusable, ConfigError."""
    return settings_at(user_place())


def settings_at(place: UserPlace) -> UserConfig:
    """As the file of this place says. PlaceUnusable, ConfigError."""
    require_safe(place.settings)
    require_own(place.config)
    return load_user(place.config)


def require_changeable(place: UserPlace) -> None:
    """PlaceUnusable where what is used of the limits cannot be counted there."""
    if require_safe(place.state, CHANGES | ENTERS):
        require_own(place.database, CHANGES)


def unknown(limits: MachineLimits | None, error: NobrakesError) -> MachineRoom | None:
    """What the machine allows where `error` keeps its limits (None) or what is used of them from being read.

    None: nothing is limited, so nothing is missed.
    """
    if limits is not None and not limits.is_set:
        return None
    passes = isinstance(error, _PASSING)
    return MachineRoom(limits or MachineLimits(), unknown=str(error), mend=error.hint, passes=passes)
