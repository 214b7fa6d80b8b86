"""Where a file of events may lie: nowhere inside of git's folders or of nobrakes' own."""

OURS = frozenset((".git", ".nobrakes"))


def path_mistake(path: str) -> str:
    """What is wrong with the path as a place for events; empty: nothing, or it is no path at all."""
    parts = path.split("/")
    if "\0" in path or any(not (part.isprintable()) for part in parts):
        return "holds characters that nobody sees"
    if path and (not parts[-1] or parts[-1] == "."):
        return "names a folder, and not a file"
    if ".." in parts:
        return "leads upward with '..'"
    inside = next((part for part in parts if part.casefold() in OURS), None)
    return f"lies inside of {inside}, which nothing else may write to" if inside is not None else ""
