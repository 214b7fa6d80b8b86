"""What doctor finds."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]
OK: Level = "ok"
WARNING: Level = "warning"
ERROR: Level = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `repair` is the name of what mends it, where something here can."""

    name: str
    level: Level
    text: str
    repair: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it works as it is; warnings do."""
        return self.level != ERROR
