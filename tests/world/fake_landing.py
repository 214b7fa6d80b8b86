"""The fake git's way to main where main is decided here."""

from nobrakes.review.waits import Land, Landing

from .checkout import Checkout


class DecidedHere:
    """What FakeGit answers when it is asked who decides about main."""

    head: str
    checkout: Checkout
    edited: set[str]
    locked: bool

    def is_shared(self) -> bool:
        """Main is decided here."""
        return False

    def catch_up(self) -> Land:
        """Nobody else decides."""
        return Land(Landing.MOVED)

    def bring_along(self) -> tuple[str, ...]:
        """Bring the checkout along that came to main while it moved."""
        if not self.locked:
            self.checkout.bring_along(self.head, self.edited)
        return self.behind()

    def elsewhere(self) -> str | None:
        """It has main."""
        return None

    def behind(self) -> tuple[str, ...]:
        """The checkout that a kill left behind main, with edits in the way ever since."""
        lost = self.checkout.behind(self.head)
        return (f"a plain commit would take back {', '.join(lost)}",) if lost else ()

    def pull(self) -> None:
        """A person brings main to where it is decided: it is there."""
