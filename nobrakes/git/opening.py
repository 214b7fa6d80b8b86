"""The repository as its settings say how work lands: on the main here, on a remote's, or by people's merges."""

from typing import TYPE_CHECKING

from ..paths import Paths
from .filters import Rules
from .repository import Repository
from .signing import Signing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..config.settings import Config
    from ..ports.git import Argv
    from .landing.remote_questions import Shared
    from .landing.requests import Publisher


def open_git(paths: Paths, config: "Config", confine: "Callable[[Argv], Argv] | None" = None) -> Repository:
    """The repository of this .nobrakes. `confine`: what closes a filter of git off; None: none is run."""
    shared = None if config.review.land == "local" else _shared(config)
    rules = Rules(config.git.filters, config.git.clear_text, *([confine] if confine is not None else []))
    return Repository(paths, config.main, shared, config.sizes(), rules, Signing(config.git.sign, config.git.committer))


def publisher(paths: Paths, config: "Config") -> "Publisher":
    """What pushes the branches of requests."""
    from .landing.remote_questions import Remote
    from .landing.requests import BRANCHES, Publisher, followed

    shared = _shared(config)
    named = [one.branch for one in config.review.features.values() if one.branch is not None]
    bases = [one.base for one in config.review.features.values() if one.base is not None]
    return Publisher(Remote(followed(paths.root, config.main, shared), shared), (*BRANCHES, *named), bases)


def _shared(config: "Config") -> "Shared":
    from .landing.remote_questions import Shared

    review = config.review
    branch = review.remote_branch or config.main
    return Shared(review.remote, branch, review.remote_seconds, review.by_request)
