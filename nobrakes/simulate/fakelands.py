"""The fake git's way to main where main is decided here."""

from ..ports import Land, Landing


class DecidedHere:
    """What FakeGit answers when it is asked who decides about main."""

    def is_shared(self) -> bool:
        """Main is decided here."""
        return False

    def catch_up(self) -> Land:
        """Nobody else decides."""
        return Land(Landing.MOVED)

    def behind(self) -> tuple[str, ...]:
        """No checkout is: files and main move in one step here."""
        return ()

    def pull(self) -> None:
        """A person brings main to where it is decided: it is there."""
