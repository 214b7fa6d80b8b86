"""What a bead changes, as people read it: the files with their counts, and the patch."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.public.values import plain
from ..wording.text import count, lines, one_line
from .output import Output
from .repository import BeadId, known, looked_at
from .screen import Screen, table

if TYPE_CHECKING:
    from ..operations.views.diff import DiffView, FileDiff

FOUND = {
    "merge": "merged as {head}",
    "branch": "its branch at {head}",
    "handed_in": "handed in as {head}",
    "archive": "archived at {head}",
}
SIGNS = {"added": "A", "removed": "D", "changed": "M", "renamed": "R"}
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    bead: BeadId,
    stat: Annotated[bool, Option("--stat", help="Only the files, with how many lines came and went.")] = False,
) -> Output:
    """What a bead changes. Before its merge: its branch as it is committed now, also while an agent works on it,
    against main where it left it; of a bead that nobody works on, what was kept or archived of it. After: what its
    merge changed on main, all commits of it.

    What is not committed is not shown.

    Example: nobrakes diff nb-7 --stat
    """
    from ..operations.views import diff as operation

    with looked_at() as app:
        known(app.store, bead)
        found = operation.diff(app.store, app.git, bead, 0 if stat else operation.MOST)
    return Output(plain(found), lambda screen: _shown(found, screen, stat))


def _shown(found: "DiffView", screen: Screen, stat: bool) -> str:
    where = FOUND[found.source].format(head=found.head[:12])
    out = [screen.paint(f"{found.bead}: {where}, against {found.base[:12]}", "bold")]
    if found.ref:
        out.append(f"  {one_line(found.ref)}")
    if not found.files:
        return "\n".join([*out, "nothing is committed yet" if found.source == "branch" else "nothing differs"])
    rows = [_row(file) for file in found.files]
    out.append(table(("", "+", "-", "file"), rows, screen))
    out.append(
        f"{count(len(found.files), 'file')}, {screen.paint(f'+{found.added}', 'green')} "
        f"{screen.paint(f'-{found.removed}', 'red')}"
    )
    if not stat:
        out += ["", *(_painted(line, screen) for line in lines(found.patch.rstrip("\n")))]
    if found.is_cut:
        out += ["", f"The rest is left out: git diff {found.base[:12]} {found.head[:12]}"]
    return "\n".join(out)


def _row(file: "FileDiff") -> tuple[str, str, str, str]:
    name = file.path if not file.before else f"{file.before} => {file.path}"
    counts = ("bin", "") if file.is_binary else (str(file.added), str(file.removed))
    return (SIGNS[file.status], *counts, name)


def _painted(line: str, screen: Screen) -> str:
    if line.startswith(("diff ", "+++ ", "--- ")):
        return screen.paint(line, "bold")
    return screen.paint(line, STYLES.get(line[:1], ""))
