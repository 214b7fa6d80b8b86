"""An error of a channel without its secret: services quote the address that they were given, whole or in parts."""

import re
from urllib.parse import unquote

from ..text.cleaning import clean, redacted, shorten

_PARTS = re.compile(r"[/:@?&=,\s]+")
SHORTEST = 6
"""Shorter parts of a secret (a port, `mailto`) are words that an error may need."""
MOST = 300
HIDDEN = "…"


def scrubbed(text: str, secret: str) -> str:
    """The text as one short line, in which neither the secret nor a long part of it is left."""
    parts = {secret, unquote(secret), *_PARTS.split(secret), *_PARTS.split(unquote(secret))}
    for part in sorted((one for one in parts if len(one) >= SHORTEST), key=len, reverse=True):
        text = text.replace(part, HIDDEN)
    return shorten(" ".join(redacted(clean(text)).split()), MOST)
