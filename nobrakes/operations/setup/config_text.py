"""The text of a new config.toml: the template with every setting, and what was detected filled in.

The template is config/nobrakes.toml: each setting with its default and a comment. In a repository's own file the
defaults are commented out, so that a later nobrakes may improve them; what is set is what somebody decided.
"""

import json
from collections.abc import Iterable

from ...config.checks import CheckSettings
from ...paths import resource

TEMPLATE = "config/nobrakes.toml"
_SET = ("main", "setup", "checks")


def quoted(text: str) -> str:
    """A TOML basic string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def config_text(main: str, setup: str, checks: Iterable[CheckSettings]) -> str:
    """config.toml with these values set and every other setting shown."""
    with open(resource(TEMPLATE), encoding="utf-8") as file:
        lines = file.read().splitlines()
    out: list[str] = []
    in_list = False
    for line in lines:
        name, equals, _ = line.partition(" = ")
        is_setting = bool(equals) and name.isidentifier()
        if in_list:
            out.append(f"# {line}")
            in_list = line != "]"
        elif is_setting and name in _SET and not line.startswith("#"):
            out += _own(name, main, setup, checks)
        elif is_setting:
            out.append(f"# {line}")
            in_list = line.endswith("[")
        else:
            out.append(line)
    return "\n".join(out) + "\n"


def _own(name: str, main: str, setup: str, checks: Iterable[CheckSettings]) -> list[str]:
    if name == "main":
        return [f"main = {quoted(main)}"]
    if name == "setup":
        return [f"setup = {quoted(setup)}"]
    out: list[str] = []
    for check in checks:
        out += ["", "[[checks]]", f"name = {quoted(check.name)}", f"command = {quoted(check.command)}"]
        out.append(f"kind = {quoted(check.kind)}")
        plain = CheckSettings(name=check.name, command=check.command, kind=check.kind)
        if check.timeout_minutes != plain.timeout_minutes:
            out.append(f"timeout_minutes = {check.timeout_minutes}")
        if check.min_tests != plain.min_tests:
            out.append(f"min_tests = {check.min_tests}")
        if check.format != plain.format:
            out.append(f"format = {quoted(check.format)}")
    return out or ["# checks = []"]
