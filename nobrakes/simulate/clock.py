"""A clock that moves when it is told to, and never backwards."""


class FakeClock:
    """Seconds since 1970 UTC, as the simulated machine sees them."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """The present time."""
        return self._now

    def advance_to(self, moment: float) -> None:
        """Let time pass until `moment`; nothing happens when it is over already."""
        self._now = max(self._now, moment)
