"""A filter of git that no setting lets nobrakes run: one path of main is kept through it, and agents see what git keeps.

The promise: main never gets a plain blob where it has a filtered one.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from nobrakes.git.port import Change

from .project import Tree

if TYPE_CHECKING:
    from .scene import Scene

SECRET = "src/base.secret"
SEALED = "sealed by a filter: "


def filtered(after: Tree, change: Change) -> Change:
    """The change, with why what it brings to its path cannot come to main."""
    if change.path != SECRET or after.get(SECRET, SEALED).startswith(SEALED):
        return change
    why = "git stores the file through the filter 'seal', which nobrakes may not run"
    return replace(change, unfiltered=why, barred=("seal", "nobrakes config set git.filters +seal"))


def a_secret_stays_sealed(scene: "Scene") -> list[str]:
    """Where main has a filtered blob, no merge brings a plain one."""
    kept = scene.git.objects.tree_of(scene.git.head).get(SECRET, SEALED)
    return [] if kept.startswith(SEALED) else [f"{SECRET} is in clear on main: {kept}"]
