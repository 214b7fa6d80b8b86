"""What the parts of a repository work with: its place, objects, history, and makers, imported when first used."""

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Self

from ..core.limits.sizes import DEFAULT, Sizes
from ..core.policy.boundaries import Change
from ..paths import Paths
from ..ports.git import Lands
from . import refs
from .history import History
from .location import Place
from .objects import Objects

if TYPE_CHECKING:
    from .commits import Committer
    from .evidence import Chain
    from .filters import Filters, Rules
    from .landing.local import Lander
    from .landing.remote_questions import Shared
    from .merge import Merger
    from .signing import Signer, Signing
    from .workspaces.make import Workspaces


_OF_MAIN = ("_merger", "_lander", "_lands", "_workspaces", "_committer", "_chain")
"""What is made once, with the place in it."""


class Tools:
    """Of the repository that `places` belong to, and the branch that work lands on; `shared`: a remote decides it."""

    def __init__(
        self,
        places: Paths,
        main: str,
        shared: "Shared | None" = None,
        sizes: Sizes = DEFAULT,
        rules: "Rules | None" = None,
        signing: "Signing | None" = None,
    ) -> None:
        """`rules`: of git's filters; None: what is built has blobs as they are given (open_git has rules)."""
        self.places = places
        self.shared = shared
        self.sizes = sizes
        self.rules = rules
        self.signing = signing
        self.own = ""  # the ref of ours that is main here; empty: main itself is
        self.place = self._found(main)
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)
        self._changes: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._paths: dict[str, frozenset[str]] = {}

    def _found(self, main: str) -> Place:
        if self.shared is None or not self.shared.by_request:
            return Place(self.places.root, main)
        from .landing.requests import followed

        return followed(self.places.root, main, self.shared)

    @cached_property
    def _merger(self) -> "Merger":
        from .merge import Merger

        return Merger(self.place, self.objects, self.history, self.filters, self.signer)

    @cached_property
    def signer(self) -> "Signer":
        """Who commits, and signs."""
        from .signing import Signer

        return Signer(self.place, self.signing)

    @cached_property
    def filters(self) -> "Filters":
        """The filters that git keeps files by."""
        from .filters import Filters

        return Filters(self.place, self.objects, self.rules)

    @cached_property
    def _lander(self) -> "Lander":
        from .landing.local import Lander

        return Lander(self.place, self.history)

    @cached_property
    def _lands(self) -> Lands:
        if self.own:
            from .landing.own import OwnLander

            return OwnLander(self.place, self.history)
        if self.shared is None:
            return self._lander
        from .landing.remote_questions import Remote

        if self.shared.by_request:
            from .landing.requests import DirectLander, RequestLander

            remote = Remote(self.place, self.shared)
            return DirectLander(remote, self.history) if self.shared.direct else RequestLander(remote)
        from .landing.remote import SharedLander

        return SharedLander(self.place, self.history, self._lander, Remote(self.place, self.shared))

    @cached_property
    def _workspaces(self) -> "Workspaces":
        from .workspaces.make import Workspaces

        return Workspaces(self.place, self.objects, self.history, self.places, self.sizes, self.filters)

    @cached_property
    def _committer(self) -> "Committer":
        from .commits import Committer

        return Committer(self.place, self.objects, self._lander, self.filters, self.signer)

    @cached_property
    def _chain(self) -> "Chain":
        from .evidence import Chain

        return Chain(self.place, self.objects)

    def _of_own(self, name: str, words: str) -> Self:
        """The same repository, with all that was read of it, where a branch of ours is main."""
        stand_ins = self.place.ref, *self.place.before
        return self._with_main(self.place.with_main(words, refs.own_ref(name), stand_ins), name, None)

    def _of_base(self, branch: str, shared: "Shared", direct: bool) -> Self:
        """The same where another branch of the remote is main, or none where it is empty."""
        from .landing.requests import of_base

        of = of_base(shared, branch, direct)
        place = self.place.with_main(branch, of.known, of.before) if branch else self.place
        return self._with_main(place, "", of)

    def _with_main(self, place: Place, own: str, shared: "Shared | None") -> Self:
        other = copy.copy(self)
        for made in _OF_MAIN:
            other.__dict__.pop(made, None)
        other.place, other.own, other.shared = place, own, shared
        return other

    def _forget(self) -> None:
        """What was read may be gone, and a process that goes on answering still reads packs that were removed."""
        self.close()
        self.objects.forget()
        self.history.forget()
        self._changes.clear()

    def _hold(self, commit: str, known: str) -> None:
        """Let no `git gc` take what the commit has beyond `known`: it gets a ref. GitFailed: a part of it is gone."""
        from .packing import hold

        hold(self.place, [commit], known)

    @cached_property
    def _settings_files(self) -> tuple[str, ...]:
        from . import protected_paths

        return protected_paths.settings(self.place)

    def close(self) -> None:
        """End the processes that read objects and change refs."""
        self.objects.close()
        self.place.transactions.close()
        self.place.commits.close()
        self.place.trees.close()
