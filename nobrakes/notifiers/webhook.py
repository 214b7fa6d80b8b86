"""A channel that is an address: the message as JSON by POST.

1. https, or http on this machine, unless the channel says `insecure`. A redirect is followed nowhere.
2. A secret beside a `url` is sent as a bearer token; a secret alone is the address. Neither is in an error.
"""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import urlsplit

from ..core.errors import ChannelFailed, NotAllowed
from ..core.notices.addresses import is_loopback, mistake

SECONDS = 15.0
"""For each answer of the network; how long all of it may take is the caller's."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def send(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Post it; an answer of 2xx is taken for yes."""
    url = channel["url"] or secret
    wrong = mistake(url, channel["insecure"])
    if wrong:
        raise NotAllowed(f"the address of the webhook: {wrong}")
    headers = {"Content-Type": "application/json", "User-Agent": "nobrakes"}
    if channel["url"] and secret:
        headers["Authorization"] = f"Bearer {secret}"
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if is_loopback(urlsplit(url).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, json.dumps(dict(message)).encode(), headers, method="POST")
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=SECONDS):
            return
    except urllib.error.HTTPError as error:
        redirect = " (a redirect, which is not followed: write the last address)" if 300 <= error.code < 400 else ""
        raise ChannelFailed(f"the webhook answered {error.code}{redirect}") from None
    except urllib.error.URLError as error:
        raise ChannelFailed(f"the webhook cannot be reached: {_reason(error.reason)}") from None
    except (http.client.HTTPException, OSError) as error:
        raise ChannelFailed(f"the webhook broke off: {_reason(error)}") from None


def _reason(error: object) -> str:
    """What went wrong, without the address."""
    said = getattr(error, "strerror", None)
    return str(said) if said else type(error).__name__
