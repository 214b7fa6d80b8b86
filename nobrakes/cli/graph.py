"""`graph`: what waits for what, as text, Mermaid, dot or a picture."""

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import NobrakesError, UsageError
from .opened import known, opened
from .output import Output, said
from .text import one_line

FORMATS = ("text", "mermaid", "dot", "svg")


def graph(
    format: Annotated[str, typer.Option("--format", "-f", help="text, mermaid, dot or svg.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    epic: Annotated[str | None, typer.Option("--epic", help="Only what belongs to this epic.")] = None,
) -> Output:
    """Draw what waits for what.

    Example: nobrakes graph --format svg -o graph.svg
    """
    from ..operations import drawing

    if format not in FORMATS:
        raise UsageError(f"'{one_line(format)[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    with opened() as app:
        if epic is not None:
            known(app.store, epic)
        drawn = drawing.graph(app.store, format=format, epic=epic)
    if output is None:
        return said({"format": format, "graph": drawn}, drawn)
    try:
        output.write_text(drawn + ("" if drawn.endswith("\n") else "\n"), encoding="utf-8")
    except OSError as error:
        raise NobrakesError(f"{output} cannot be written: {error.strerror}", "Name a file that can be.") from None
    return said({"format": format, "path": str(output)}, f"written to {output}")
