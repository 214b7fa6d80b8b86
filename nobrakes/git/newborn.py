"""A repository for a new project: its first commits, made by nobrakes, whatever the person has configured."""

from collections.abc import Sequence

from . import commands


def begin(folder: str, subject: str) -> None:
    """Make a repository in the folder, with all that lies there as its first commit on main."""
    commands.run(["init", "-q", "-b", "main", "--template="], cwd=folder)
    commands.run(["add", "-A", "--force"], cwd=folder)
    commands.run(["commit", "-q", "--allow-empty", "-m", subject], cwd=folder)


def commit(folder: str, paths: Sequence[str], subject: str) -> bool:
    """Commit these paths of the folder, and nothing else that lies there; whether there was anything to commit."""
    commands.run(["add", "--", *paths], cwd=folder)
    staged = commands.run(["diff", "--cached", "--quiet", "--", *paths], cwd=folder, expect=(0, 1))
    if staged.code == 0:
        return False
    commands.run(["commit", "-q", "-m", subject, "--", *paths], cwd=folder)
    return True


def has_commit(folder: str) -> bool:
    """Whether anything is committed there."""
    return commands.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"], cwd=folder, expect=(0, 1)).code == 0


def subjects(folder: str, most: int = 1000) -> list[str]:
    """The subjects of the commits that are checked out there, newest first; none where nothing is committed."""
    if not has_commit(folder):
        return []
    asked = ["log", "-z", "--format=%s", f"--max-count={most}", "HEAD", "--"]
    return commands.run(asked, cwd=folder).records
