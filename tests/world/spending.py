"""What agents cost and how often they start, counted from the event log alone."""

from collections import Counter

from nobrakes.config.sections import CapsSettings

HOUR = 3600
DAY = 24 * HOUR


class Spending:
    """Sums by hour, by day and by bead; `start` says which caps a new start breaks."""

    def __init__(self) -> None:
        self.caps = CapsSettings()
        self.starts: Counter[int] = Counter()
        self.days: Counter[int] = Counter()  # hundredths of a cent, so that sums are exact
        self.beads: Counter[str] = Counter()

    def start(self, bead: str, at: float) -> list[str]:
        """What is wrong with starting an agent on the bead now."""
        wrong = []
        hour, day = int(at // HOUR), int(at // DAY)
        self.starts[hour] += 1
        most = self.caps.calls_per_hour
        if most is not None and self.starts[hour] > most:
            wrong.append(f"{self.starts[hour]} starts in an hour, {most} allowed")
        for what, cents, cap in (
            ("day", self.days[day], self.caps.day.usd),
            (bead, self.beads[bead], self.caps.bead.usd),
        ):
            if what and cap is not None and cents >= cap * 10_000:
                wrong.append(f"{bead} is started, and {what} has cost {cents / 10_000} of {cap} already")
        return wrong

    def end(self, bead: str, started_at: float, usd: float) -> None:
        """An attempt ended, and its bill is known."""
        self.days[int(started_at // DAY)] += round(usd * 10_000)
        self.beads[bead] += round(usd * 10_000)
