"""A small repository: to try something out in, or a person's own, for what belongs to no other."""

import os

from . import commands

_WHO = (("user.name", "nobrakes"), ("user.email", "nobrakes@nobrakes.invalid"), ("commit.gpgsign", "false"))


def begin(folder: str, text: str) -> None:
    """Make a repository in the folder, with one commit that says what it is for. Begun before, it is finished."""
    commands.run(["init", "-q", "-b", "main"], cwd=folder)
    for name, value in _WHO:
        commands.run(["config", name, value], cwd=folder)
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as file:
        file.write(text)
    commands.run(["add", "README"], cwd=folder)
    commands.run(["commit", "-q", "-m", "Begin"], cwd=folder, expect=(0, 1))  # 1: it is committed


def make(folder: str, branch: str) -> None:
    """Make it in the empty folder, with one commit, and check the branch out."""
    begin(folder, "A place to try agents out.\n")
    commands.run(["checkout", "-q", "-b", branch], cwd=folder)


def committed(folder: str, path: str) -> str:
    """The file's text in the last commit; empty where it is not there."""
    answer = commands.run(["cat-file", "blob", f"HEAD:{path}"], cwd=folder, expect=(0, 128))
    return answer.text if answer.code == 0 else ""
