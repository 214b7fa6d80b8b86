"""What of a person belongs to no repository: their own sessions, and the daemon that runs them (the user daemon).

1. It is a repository like any other, made in the person's place when it is first needed, so that sessions, notices,
   caps, sandbox, recovery and the share of the machine work there as everywhere, by the same code.
2. It has no work in it and takes none: `limits.doers` is 0, so its daemon decides no bead.
3. Its daemon is started by whoever needs it, and ended like any other (`nobrakes daemon stop --user`).
"""

import os
from typing import TYPE_CHECKING

from ...core.errors import PlaceUnusable
from ...git import scratch
from ...paths import FOLDER, Paths
from ...place import make, require_safe, user_place
from .. import daemons

if TYPE_CHECKING:
    from ...ports.store import Store

_README = """This repository belongs to nobrakes. It holds no work: it is where your own sessions run,
those that belong to no other repository (`nobrakes session start --user`).
"""
_SETTINGS = """# The settings of your own sessions. docs/reference/settings.md has every setting there is.
main = "main"

[limits]
# Nobody works on beads here.
doers = 0
"""


def paths() -> Paths | None:
    """Where it is; None: it was not needed yet. NotAllowed in a run, PlaceUnusable."""
    home = user_place().home
    found = Paths(os.path.join(home, FOLDER))
    return found if require_safe(home) and os.path.exists(found.config) else None


def made() -> Paths:
    """Where it is, made where it is missing. NotAllowed in a run, PlaceUnusable."""
    known = paths()
    if known is not None:
        return known
    place = user_place()
    make(place.state)
    make(place.home)
    scratch.begin(place.home, _README)
    from ..setup.init import init

    found = Paths(os.path.join(place.home, FOLDER))
    try:
        os.makedirs(found.folder, mode=0o700, exist_ok=True)
        with open(found.config, "w", encoding="utf-8") as file:
            file.write(_SETTINGS)
    except OSError as error:
        raise PlaceUnusable(f"{found.folder} cannot be made: {error.strerror}") from None
    init(place.home)
    return found


def daemon(found: Paths, store: "Store") -> tuple[int, bool]:
    """The pid of its daemon, which is started where there is none; and whether it was."""
    pid = daemons.running(found)
    return (pid, False) if pid is not None else (daemons.start(found, store), True)
