"""A filter of git that no setting lets nobrakes run: one path of main is kept through it, and agents see what git keeps.

The promise: main never gets a plain blob where it has a filtered one.
"""

from typing import TYPE_CHECKING

from .project import Tree

if TYPE_CHECKING:
    from .scene import Scene

SECRET = "src/base.secret"
SEALED = "sealed by a filter: "


def unfiltered(after: Tree, path: str) -> str:
    """Why what a change brings to the path cannot come to main; empty: it can."""
    is_plain = path == SECRET and not after.get(path, SEALED).startswith(SEALED)
    return "git keeps it through the filter 'seal', which nobrakes may not run" if is_plain else ""


def a_secret_stays_sealed(scene: "Scene") -> list[str]:
    """Where main has a filtered blob, no merge brings a plain one."""
    kept = scene.git.objects.tree_of(scene.git.head).get(SECRET, SEALED)
    return [] if kept.startswith(SEALED) else [f"{SECRET} is in clear on main: {kept}"]
