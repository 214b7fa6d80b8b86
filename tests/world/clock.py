"""A clock that moves when it is told to. Its wall time may be set, forwards and backwards; what passes only goes on."""


class FakeClock:
    """Seconds since 1970 UTC, as the simulated machine sees them, and a steady clock below."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._steady = start
        self.apart = 0.0
        """How far the wall clock stands from the steady one."""

    def now(self) -> float:
        """The present time of the day."""
        return self._steady + self.apart

    def steady(self) -> float:
        """What passes, whatever the wall clock shows."""
        return self._steady

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock, or the machine sleeps."""
        self.apart += seconds

    def advance_to(self, moment: float) -> None:
        """Let time pass until `moment` of the day; nothing happens when it is over already."""
        self.pass_to(moment - self.apart)

    def pass_to(self, moment: float) -> None:
        """The same, for a moment of the steady clock."""
        self._steady = max(self._steady, moment)
