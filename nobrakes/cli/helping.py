"""`nobrakes help [COMMAND]`: what `--help` prints, for those who ask in words."""

import io
from contextlib import redirect_stdout
from typing import Annotated

from typer import Argument

from .output import Output, said


def help(
    words: Annotated[list[str] | None, Argument(metavar="COMMAND", help="The command, such as `plan apply`.")] = None,
) -> Output:
    """The help of a command, as its --help prints it; without one, of all commands.

    Example: nobrakes help plan apply
    """
    from .full import before
    from .group import root

    text = io.StringIO()
    with redirect_stdout(text):
        root(before).main(args=[*(words or ()), "--help"], prog_name="nobrakes", standalone_mode=False)
    return said({"command": " ".join(words or ()), "help": text.getvalue()}, text.getvalue().rstrip())
