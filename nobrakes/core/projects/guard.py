"""Where a coding tool may run: in the project that its session confirmed, and nowhere else. Decided on resolved paths.

1. Both paths are resolved by the caller: no link, no `.` or `..` is left in them.
2. Git's folder and nobrakes' own are no place to work in, wherever they lie in the project.
3. The folder of projects itself, what lies outside of it, and another project than the confirmed one are refused alike.
"""

from ..errors import NoProject

REFUSED = (
    "No project has been confirmed for this session. Before using coding tools, you must select a project. "
    "Read the project-setup skill at SKILLS/project-setup.md and follow its instructions to confirm a project with the "
    "user, then call set_project."
)
NOT_HERE = "a working directory lies in the project that this session confirmed"


def set_message(name: str, is_new: bool) -> str:
    """What is said when a project was set."""
    if is_new:
        return (
            f"New project '{name}' created and set as active project. "
            "Initialized git repo and copied CLAUDE.md template."
        )
    return f"Project set to '{name}' (existing project). All coding tools will now operate in this directory."


_NOT_FOR_WORK = frozenset((".git", ".nobrakes"))


def require(projects: str, path: str, confirmed: str | None) -> None:
    """NoProject unless `path` is the confirmed project's folder in `projects`, or below it. Both are resolved."""
    if confirmed is None:
        raise NoProject(REFUSED, "")
    root = projects.rstrip("/") + "/"
    inside = path[len(root) :] if path.startswith(root) else ""
    if not inside or ".." in inside.split("/"):
        raise NoProject(REFUSED, f"{path} is not in {projects}: {NOT_HERE}")
    if any(part.lower() in _NOT_FOR_WORK for part in inside.split("/")):
        raise NoProject(REFUSED, f"{path} is git's or nobrakes' own: {NOT_HERE}")
    if inside.split("/")[0] != confirmed:
        raise NoProject(REFUSED, f"{path} is not in project '{confirmed}': {NOT_HERE}")
