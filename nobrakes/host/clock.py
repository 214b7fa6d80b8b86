"""The machine's clock."""

import time


class SystemClock:
    """Clock by the operating system."""

    def now(self) -> float:
        """Seconds since 1970 UTC."""
        return time.time()
