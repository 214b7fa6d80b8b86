"""Who may reach the workspace by HTTP: named clients, each with a token of its own of which only the hash is kept.

1. A token is shown once, and opens these tools alone: it is no session of the pages, and none of theirs is one here.
2. A revoked name may get a new token; the old one stays good for nothing.
"""

import hashlib
import secrets
from contextlib import closing

from ...core.errors import NotAllowed, UsageError
from ...store.user.clients import Client, ClientStore
from ..machine_wide.own_database import opened
from .confirming import require_chat

PREFIX = "nbc_"


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def add(name: str) -> str:
    """A new client's token. NotAllowed: the name has one that is good."""
    plain = require_chat(name)
    if ":" in plain:
        raise UsageError(f"'{plain}' is no name of a client", "A name without a colon.")
    token = PREFIX + secrets.token_urlsafe(32)
    with closing(opened(ClientStore)) as store:
        if not store.add(plain, _hashed(token)):
            raise NotAllowed(f"client '{plain}' has a token already", f"`nobrakes mcp client revoke {plain}` ends it.")
    return token


def revoke(name: str) -> None:
    """End the client's token. UsageError: there is none."""
    with closing(opened(ClientStore)) as store:
        if not store.revoke(name.strip()):
            raise UsageError("no client of this name has a token", "`nobrakes mcp client` lists them.")


def listed() -> list[Client]:
    """All clients, those that were revoked as well."""
    with closing(opened(ClientStore)) as store:
        return store.clients()


def of_token(token: str) -> str:
    """The client whose token this is; empty: nobody's."""
    if not token.startswith(PREFIX) or len(token) > 200:
        return ""
    with closing(opened(ClientStore)) as store:
        return store.use(_hashed(token))
