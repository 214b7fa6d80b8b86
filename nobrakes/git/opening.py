"""The repository as its settings say how work lands: on the main here, or on a remote's."""

from typing import TYPE_CHECKING

from ..paths import Paths
from .repository import Repository

if TYPE_CHECKING:
    from ..config.settings import Config


def open_git(paths: Paths, config: "Config") -> Repository:
    """The repository of this .nobrakes."""
    review = config.review
    if review.land == "local":
        return Repository(paths, config.main, sizes=config.sizes())
    from .landing.remote_questions import Shared

    shared = Shared(review.remote, review.remote_branch or config.main, review.remote_seconds)
    return Repository(paths, config.main, shared, config.sizes())
