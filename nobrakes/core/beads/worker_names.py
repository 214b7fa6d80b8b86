"""Worker names: one sequence for the whole repository, that wraps; a name in use is skipped."""

from collections.abc import Collection, Sequence


def next_name(names: Sequence[str], cursor: int, in_use: Collection[str]) -> tuple[str, int]:
    """The next free name and the cursor after it. With every name in use, numbered names go on: 'Ada 2'."""
    for round_ in range(1, len(in_use) + 2):
        for step in range(len(names)):
            place = (cursor + step) % len(names)
            name = names[place] if round_ == 1 else f"{names[place]} {round_}"
            if name not in in_use:
                return name, (place + 1) % len(names)
    raise AssertionError("more rounds than names in use always leave one free")
