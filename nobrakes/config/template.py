"""config/nobrakes.toml, or the person's own user.toml: each setting with its table, its default and its comment."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..paths import resource

TEMPLATE = "config/nobrakes.toml"
USER = "config/user.toml"
_SETTING = re.compile(r"(?:# )?([a-z_]+) = (.*)")
_SECTION = re.compile(r"(?:# )?\[\[?([a-z.]+)\]\]?")
EXAMPLES = ("checks", "notify.channels.phone")
"""Tables that stand there as an example, commented out."""


class Setting(NamedTuple):
    """One setting of config/nobrakes.toml: section (empty: the top), name, default as TOML, comment."""

    section: str
    name: str
    default: str
    comment: str


def settings(template: str = TEMPLATE) -> Iterator[Setting]:
    """Every setting of the file, in its order; one without a comment has that of the line before."""
    with open(resource(template), encoding="utf-8") as file:
        lines = iter(file.read().splitlines())
    section, comment, used = "", "", True
    for line in lines:
        found, heading = _SETTING.fullmatch(line), _SECTION.fullmatch(line)
        if found and found[1] == "checks":  # its table stands before it, commented out
            continue
        if found:
            value = found[2]
            while value.startswith("[") and not value.endswith("]"):
                value += " " + next(lines).strip()
            yield Setting(section, found[1], value.replace("[ ", "[").replace(", ]", "]"), comment)
            used = True
        elif heading:
            if line.startswith("# [["):
                yield Setting("", heading[1], "[]", comment)
            section, used = heading[1], True
        elif line.startswith("# "):
            comment, used = (line[2:] if used else f"{comment} {line[2:]}"), False
        elif not line:
            used = True


def commented(path: tuple[str | int, ...]) -> str:
    """The line that shows the default of a setting, commented out; empty: the template has none for it."""
    section, name = ".".join(map(str, path[:-1])), path[-1]
    found = next((one for one in settings() if (one.section, one.name) == (section, name)), None)
    return "" if found is None or section in EXAMPLES else f"# {found.name} = {found.default}"
