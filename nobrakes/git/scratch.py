"""A small repository to try something out in, and what was committed there."""

import os

from . import commands

_WHO = (("user.name", "Conformance"), ("user.email", "conformance@nobrakes.invalid"), ("commit.gpgsign", "false"))


def make(folder: str, branch: str) -> None:
    """Make it in the empty folder, with one commit, and check the branch out."""
    commands.run(["init", "-q", "-b", "main"], cwd=folder)
    for name, value in _WHO:
        commands.run(["config", name, value], cwd=folder)
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as file:
        file.write("A place to try agents out.\n")
    commands.run(["add", "-A"], cwd=folder)
    commands.run(["commit", "-q", "-m", "Begin"], cwd=folder)
    commands.run(["checkout", "-q", "-b", branch], cwd=folder)


def committed(folder: str, path: str) -> str:
    """The file's text in the last commit; empty where it is not there."""
    answer = commands.run(["cat-file", "blob", f"HEAD:{path}"], cwd=folder, expect=(0, 128))
    return answer.text if answer.code == 0 else ""
