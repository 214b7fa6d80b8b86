"""A clock for tests that set the time themselves."""

DAY = 20_000 * 86_400.0
"""The beginning of a day."""


class Hand:
    """A clock that is set by hand; it begins at five in the morning."""

    def __init__(self) -> None:
        self.time = DAY + 3600 * 5
