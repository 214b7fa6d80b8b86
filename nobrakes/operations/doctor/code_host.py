"""What doctor says of the code host that pull requests are opened at, and of requests that nobody waits for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.beads.bead import CLOSED
from ...core.errors import NobrakesError
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...paths import Paths
    from ...ports import Store

_NAME = "code host"


def examine(store: "Store | None", paths: "Paths", config: "Config") -> Iterator[Finding]:
    """Nothing, where work does not land by requests."""
    if config.review.land != "pull_request":
        return
    from ..code_host import ports_of

    try:
        host = ports_of(paths, config).host
        host.ready()
        yield Finding(_NAME, OK, f"pull requests are opened with {host.about()}")
    except NobrakesError as error:
        yield Finding(_NAME, ERROR, f"{str(error).rstrip('.')}. {error.hint}")
    if store is None:
        return
    for pull in store.pulls():
        if store.bead(pull.bead).status in CLOSED:
            left = f"pull request {pull.name} is open, and its bead {pull.bead} is over: close it there ({pull.url})"
            yield Finding(_NAME, WARNING, left)
