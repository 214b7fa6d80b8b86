"""Commits that are made: candidates, reverts, a few files on main; and refs that keep them."""

from collections.abc import Mapping, Sequence

from ..ports import Candidate, Conflict, Message
from . import refs
from .tools import Tools


class Building(Tools):
    """What is built for main, and pinned."""

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since `fork`. Same input, same id."""
        return self._merger.squash(onto, head, message, began)

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits since `fork` one by one on `onto`, texts kept, with `message`'s trailers. Same ids."""
        return self._merger.replay(onto, head, message, began)

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """A commit on `head` that has `onto` as its second parent, and with it all of both. Same input, same id."""
        return self._merger.join(onto, head, message)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        return self._merger.fold(onto, steps, message)

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        return self._merger.revert(commit, onto, message)

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

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        refs.update(self.place, {refs.own_ref(name): commit})

    def kept(self) -> dict[str, str]:
        """Everything that refs/nobrakes/ holds: the name below it -> object."""
        below = f"{refs.OWN}/"
        return {ref.removeprefix(below): commit for ref, commit in refs.below(self.place, below)}

    def pack(self) -> None:
        """Pack refs and objects where many lie in files of their own; every one of them stays."""
        from .packing import pack_objects

        refs.pack(self.place)
        if pack_objects(self.place):
            self.close()  # who goes on answering would keep the packs open that are gone
