"""Every other way (e-mail, ntfy, Slack, Matrix, …), by the library apprise: an extra of the package.

The address of the service, which holds its password or token, is the channel's `secret`, or else its `url`.
"""

import logging
from collections.abc import Mapping
from typing import Any

from .. import extras
from ..core.errors import ChannelFailed, NotAllowed

_TYPES = {"info": "info", "warning": "warning", "urgent": "failure"}


def missing() -> str:
    """Why it cannot be used; empty: it can."""
    return extras.missing("notify")


def send(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Send it through the service that the address names."""
    extras.need("notify", "a channel of type apprise")
    import apprise

    service = apprise.Apprise()
    if not service.add(secret or channel["url"]):
        raise NotAllowed("apprise does not understand the address of this channel", "Its documentation has the forms.")
    with apprise.LogCapture(level=logging.WARNING) as captured:  # type: ignore[no-untyped-call]
        took = service.notify(
            body=message["text"],
            title=message["title"],
            notify_type=_TYPES[message["severity"]],
            body_format="text",
            interpret_escapes=False,
        )
        said = " ".join(captured.getvalue().split())
    if not took:
        raise ChannelFailed(f"the service did not take it: {said[-400:]}" if said else "the service did not take it")
