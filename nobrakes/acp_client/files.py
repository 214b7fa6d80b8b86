"""The files that an agent reads and writes by way of its client: those of the workspace, and no others."""

import os


class Outside(Exception):
    """The path leads out of the workspace."""


def inside(path: str, workspace: str) -> str:
    """The file as it really is; Outside where that is not in the workspace, by a link or otherwise."""
    home = os.path.realpath(workspace)
    full = os.path.realpath(os.path.join(home, path))
    if full == home or not full.startswith(home + os.sep):
        raise Outside(f"{path} lies outside the workspace")
    return full


def read(path: str, workspace: str, line: int | None, limit: int | None) -> str:
    """The file's text, or `limit` of its lines from `line` on, the first being 1."""
    with open(inside(path, workspace), encoding="utf-8", errors="replace", newline="") as file:
        if line is None and limit is None:
            return file.read()
        lines = file.read().splitlines(keepends=True)
    start = max(0, (line or 1) - 1)
    return "".join(lines[start : None if limit is None else start + limit])


def write(path: str, workspace: str, content: str) -> None:
    """Make the file, with its folders, or replace what is in it."""
    full = inside(path, workspace)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8", newline="") as file:
        file.write(content)
