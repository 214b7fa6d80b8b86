"""The time zone of this machine, as its C library knows it (TZ, /etc/localtime, the registry), with every change; and
those that have names.
"""

from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo


class LocalZone(tzinfo):
    """Local time on any day: `datetime.astimezone` alone gives today's offset for all days."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """How far local time is ahead at this local moment."""
        if moment is None:
            return None
        return moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Nobody asks."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """The zone's short name at this moment."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """The local moment of a UTC one."""
        utc = moment.replace(tzinfo=None)
        seconds = (utc - datetime(1970, 1, 1)).total_seconds()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)


def local_zone() -> tzinfo:
    """The zone of the person's clock."""
    return LocalZone()


def named_zone(name: str) -> tzinfo | None:
    """The zone of this name, as Europe/Berlin; None: it is empty, or this machine knows none of that name."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, OSError, ValueError):
        return None
