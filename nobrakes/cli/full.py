"""The command line, read by typer."""

from typing import Annotated, Any

import typer

from .asking import BEFORE, As, Asked, RequestKey
from .group import root
from .output import write


def before(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when nobrakes itself fails.")] = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Without a command: the overview as JSON.")] = False,
    act_as: As = None,
    request_key: RequestKey = None,
) -> Any:
    """Coding agents build software in your repository, unattended, and cannot break it.

    Run `nobrakes` alone to see what the sensible next step is. Every command has --help and --json.
    Shell completion: nobrakes --install-completion
    """
    if version:
        from .. import __version__

        write(f"nobrakes {__version__}")
        raise typer.Exit()
    BEFORE.set(Asked(act_as, request_key))
    if ctx.invoked_subcommand is None:
        from . import overview

        return overview.overview()
    return None


def run(argv: list[str]) -> Any:
    """What the command gave back (a Result), the overview's Output, or an exit code. typer's complaints pass."""
    return root(before).main(args=argv, prog_name="nobrakes", standalone_mode=False)
