"""`graph`: what waits for what, as text, Mermaid, dot or a picture."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from ..core.errors import NobrakesError, UsageError
from ..wording.text import one_line
from .output import Output, said
from .repository import known, looked_at

FORMATS = ("text", "mermaid", "dot", "svg")


def graph(
    format: Annotated[str, Option("--format", "-f", help="text, mermaid, dot or svg.")] = "text",
    output: Annotated[Path | None, Option("--output", "-o", help="Write it to this file.")] = None,
    epic: Annotated[str | None, Option("--epic", help="Only what belongs to this epic.")] = None,
) -> Output:
    """Draw what waits for what. A drawing (svg) shows at most 500 beads, from those at work and ready on.

    Example: nobrakes graph --format svg -o graph.svg
    """
    from ..operations.views import drawing

    if format not in FORMATS:
        raise UsageError(f"'{one_line(format)[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        drawn = drawing.graph(app.store, format=format, epic=epic)
    data = {"format": format, "beads": drawn.beads, "shown": drawn.shown}
    if output is None:
        if drawn.note:
            sys.stderr.write(f"note: {drawn.note}\n")
        return said({**data, "graph": drawn.text}, drawn.text)
    try:
        output.write_text(drawn.text + ("" if drawn.text.endswith("\n") else "\n"), encoding="utf-8")
    except OSError as error:
        raise NobrakesError(f"{output} cannot be written: {error.strerror}", "Name a file that can be.") from None
    note = f"\n{drawn.note}" if drawn.note else ""
    return said({**data, "path": str(output)}, f"written to {output}{note}")
