"""Whether somebody answers at an address: a connection, TLS where it is https, and not a word more. No key is sent.

1. What the proxy variables say holds here as for agents. A certificate that is not trusted counts as no answer: a
   network that puts itself in between (a login page) is not the network.
2. All addresses together take no longer than `seconds`, whatever hangs.
"""

import http.client
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

SECONDS = 15.0
_PORTS = {"https": 443, "http": 80}


def reach(urls: Sequence[str], seconds: float = SECONDS) -> dict[str, str]:
    """By address: why nobody answers there; empty: somebody does."""
    found: dict[str, str] = {}

    def ask(url: str) -> None:
        found[url] = _why_not(url, seconds)

    threads = [threading.Thread(target=ask, args=(url,), daemon=True, name=f"reach {url}") for url in urls]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return {url: found.get(url, f"no answer within {seconds:.0f} seconds") for url in urls}


def _why_not(url: str, seconds: float) -> str:
    try:
        connection = _connection(url, seconds)
    except ValueError as error:
        return f"it is no address: {error}"
    try:
        connection.connect()
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
    return ""


def _connection(url: str, seconds: float) -> http.client.HTTPConnection:
    """Not connected yet. ValueError."""
    from urllib.request import getproxies, proxy_bypass

    found = urlsplit(url)
    if found.scheme not in _PORTS or not found.hostname:
        raise ValueError("it has to begin with https:// or http://")
    port = found.port or _PORTS[found.scheme]
    kind = http.client.HTTPSConnection if found.scheme == "https" else http.client.HTTPConnection
    proxy = "" if proxy_bypass(found.hostname) else getproxies().get(found.scheme, "")
    if not proxy:
        return kind(found.hostname, port, timeout=seconds)
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if not through.hostname:
        raise ValueError("the proxy of this machine is none")
    connection = kind(through.hostname, through.port or 80, timeout=seconds)
    connection.set_tunnel(found.hostname, port, _authorisation(through.username, through.password))
    return connection


def _authorisation(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    word = b64encode(f"{unquote(user)}:{unquote(password or '')}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {word}"}
