"""Commands that were given with a key of their own, so that giving them again does nothing again."""

from ..records import frozen


@frozen
class Request:
    """A command under its key. `result` is what it came to; None: it was cut off after it changed something."""

    key: str
    command: str
    actor: str
    at: float = 0.0
    result: str | None = None
