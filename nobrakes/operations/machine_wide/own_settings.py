"""The settings of a person, above all repositories, for who serves that person."""

from ...config.user import UserConfig, load_user
from ...place import require_safe, user_place


def own_settings() -> UserConfig:
    """As the file says; what is not there is as it comes. NotAllowed in a run, PlaceUnusable, ConfigError."""
    place = user_place()
    require_safe(place.settings)
    return load_user(place.config)
