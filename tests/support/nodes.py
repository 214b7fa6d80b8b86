"""Nodes without a cluster: the file that the program that talks to the nodes would write.

The program itself is kept from starting by its lock, so that nothing else writes the file.
"""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

from nobrakes import __version__

SCHEDULER = "tcp://127.0.0.1:9"
SETTINGS = f'[fleet]\nengine = "dask"\nscheduler = "{SCHEDULER}"\n'


class Nodes:
    """The nodes of the repository in `root`, as its state file says."""

    def __init__(self, root: Path) -> None:
        self.folder = root / ".nobrakes" / "fleet"
        (self.folder / "own").mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self.folder / "own" / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        os.close(self._lock)

    def are(
        self, *nodes: dict[str, Any], trouble: str = "", lost: tuple[dict[str, Any], ...] = (), at: float = 0
    ) -> None:
        """What is known of them from now on."""
        state = {"at": at or time.time() + 10, "trouble": trouble, "nodes": nodes, "losses": lost}
        (self.folder / "own" / "state.json").write_text(json.dumps(state))


def node(
    name: str,
    places: int = 4,
    why: str = "",
    runs: dict[str, int] | None = None,
    load: dict[str, float] | None = None,
    asked: bool = True,
) -> dict[str, Any]:
    about = {"nobrakes": __version__, "python": "3.11.9"}
    return {
        "address": f"tcp://{name}:1",
        "name": name,
        "places": places,
        "runs": runs or {},
        "load": load or {},
        "why": why,
        "asked": asked,
        "about": about,
    }
