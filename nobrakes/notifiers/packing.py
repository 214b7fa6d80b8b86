"""What a sending process is given on its stdin: the channel's settings, the secret and the message, as one JSON object.

It is small enough for a pipe that nobody reads yet, so writing it never waits.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..core.notices.notice import Message
from ..core.text.cleaning import shorten

MOST_BYTES = 60_000


def packed(settings: Mapping[str, Any], secret: str, message: Message) -> bytes:
    """The object as bytes. A text that makes it too long is cut further."""
    for most in (len(message.text), 4000, 1000, 100):
        said = asdict(message) | {"text": shorten(message.text, most)}
        whole = json.dumps({"channel": dict(settings), "secret": secret, "message": said}).encode()
        if len(whole) <= MOST_BYTES:
            break
    return whole
