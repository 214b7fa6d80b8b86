"""The board that stays on the terminal, over operations.

`show` is its door; the library that draws it (Textual) is an extra of the package and imported behind it.
"""


def show(start: str | None, actor: str) -> None:
    """Show the repository around the folder until the person quits; what they decide is signed with `actor`."""
    from .board import Board

    Board(start, actor).run()
