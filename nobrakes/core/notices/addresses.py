"""Which addresses a webhook may have: https, or http on this machine."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether the host is this machine itself, by its name or address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def mistake(url: str, insecure: bool) -> str:
    """What is wrong with the address of a webhook; empty: nothing. It is not quoted, since it may hold a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "it is no address"
    if parts.scheme not in ("https", "http") or not host or not url.isprintable() or " " in url:
        return "it begins with https:// and names a host"
    if parts.scheme == "http" and not insecure and not is_loopback(host):
        return "http is for this machine alone: use https, or say `insecure = true`"
    return ""
