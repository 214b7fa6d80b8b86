"""Commits that are made: candidates, reverts, a few files on main; and refs that keep them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..ports.git import Candidate, Conflict, Message
from . import packing, refs
from .tools import Tools

T = TypeVar("T", Candidate | Conflict, tuple[Candidate, ...] | Conflict, Candidate)


class Building(Tools):
    """What is built for main, and pinned."""

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since `fork`. Same input, same id."""
        return self._held(lambda: self._merger.squash(onto, head, message, began), onto)

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits since `fork` one by one on `onto`, texts kept, with `message`'s trailers. Same ids."""
        return self._held(lambda: self._merger.replay(onto, head, message, began), onto)

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """A commit on `head` that has `onto` as its second parent, and with it all of both. Same input, same id."""
        return self._held(lambda: self._merger.join(onto, head, message), onto)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        return self._held(lambda: self._merger.fold(onto, steps, message), onto)

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        return self._held(lambda: self._merger.revert(commit, onto, message), onto)

    def _held(self, make: Callable[[], T], onto: str) -> T:
        """What is made on `onto`, and no `git gc` takes it before it has a ref."""
        return packing.held(self.place, make, _commits, onto)

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed.

        OnlyByRequest: nothing but a merged request changes main.
        """
        lands = self._lands
        if not lands.is_shared():
            return self._committer.commit_files(files, message)
        from .landing.remote import SharedLander
        from .landing.requests import RequestLander

        assert isinstance(lands, SharedLander | RequestLander), "whoever asks a remote says how a commit gets there"
        return lands.commit(lambda: self._committer.commit_files(files, message))

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, name: str) -> str | None:
        """A commit on `onto` with these contents, kept under refs/nobrakes/<name>; None: nothing differs."""
        return self._committer.write_files(onto, files, message, refs.own_ref(name))

    def came_through(self, base: str, head: str) -> None:
        """What `head` changes was made by a person's own git, and came through its filters already."""
        self.filters.came_through(base, head)

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        refs.update(self.place, {refs.own_ref(name): commit})

    def kept(self) -> dict[str, str]:
        """Everything that refs/nobrakes/ holds: the name below it -> object."""
        below = f"{refs.OWN}/"
        return {ref.removeprefix(below): commit for ref, commit in refs.below(self.place, below)}

    def broken_refs(self) -> list[tuple[str, str]]:
        """The refs below refs/nobrakes/ that lead nowhere, and why."""
        return refs.broken(self.place)

    def pack(self) -> None:
        """Pack refs and objects where many lie in files of their own; every one of them stays."""
        refs.pack(self.place)
        packing.release(self.place)
        if packing.pack_objects(self.place):
            self.close()  # who goes on answering would keep the packs open that are gone


def _commits(made: Candidate | tuple[Candidate, ...] | Conflict) -> list[str]:
    """The commits that were made; those before the last are its parents."""
    if isinstance(made, Conflict):
        return []
    return [made[-1].commit if isinstance(made, tuple) else made.commit]
