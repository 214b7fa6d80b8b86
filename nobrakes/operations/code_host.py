"""The code host of a repository, as its settings and its remote's address say."""

import time
from typing import TYPE_CHECKING

from ..codehosts.registry import code_host
from ..environ import process_environment
from ..git.landing.remote_questions import redacted
from ..git.opening import publisher
from ..host.asking import Asking
from ..paths import own_path
from ..ports.codehosts import PullPorts

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..paths import Paths

_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "NO_COLOR": "1",
    "NO_PROMPT": "1",
    "GLAB_CHECK_UPDATE": "false",
    "GLAB_SEND_TELEMETRY": "false",
}


def ports_of(paths: "Paths", config: "Config") -> PullPorts:
    """What a review needs to land by requests. ConfigError."""
    review = config.review
    publish = publisher(paths, config)

    def asking(host: str) -> Asking:  # who asks: a login from the environment is for this host alone
        return Asking(
            {**process_environment(), **_QUIET, "PATH": own_path(paths.root), "GH_HOST": host, "GITLAB_HOST": host},
            review.remote_seconds,
        )

    address = publish.remote.address()
    host = code_host(
        review.code_host, review.code_host_repository, address, redacted(address), asking=asking, clock=time.time
    )
    return PullPorts(host, publish, publish.remove, publish.branches, publish.remote.shared.branch)
