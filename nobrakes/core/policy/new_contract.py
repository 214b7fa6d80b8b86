"""A contract that a scaffolding bead brings: what of it may be established, and what a person is told of it. Pure.

1. Established are the checks and the globs of tests. Every other setting says what agents may do, cost and reach, or
   what a machine runs beside the checks: it stays as main has it.
2. The globs let go of no file that is a test by those in force, and leave the Doer something to do.
3. What a person approves they have seen whole: what is long, or has characters that nobody sees, is not asked about.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..globs import matches
from ..text.cleaning import is_seen, shorten
from .ownership import CONTRACT, OWN_FOLDER

ESTABLISHED = ("checks", "boundaries.tests")
MOST_CHECKS = 30
LONGEST_COMMAND = 1000
LONGEST = 12_000
"""Characters that a person is shown of the contract."""
_NAMED = 5
_STAYS = "it is no part of what a bead may establish (checks, boundaries.tests), and stays as main has it"

Settings = Mapping[str, Any]
"""Every setting of a config.toml as plain values, tables as mappings, checks as a sequence of mappings."""


def beyond(before: Settings, after: Settings) -> list[str]:
    """The settings that differ and may not be established, dotted, in their order."""
    return [name for name in _differing(before, after, "") if name not in ESTABLISHED]


def _differing(before: Any, after: Any, name: str) -> Iterable[str]:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return [name] if before != after else []
    keys = dict.fromkeys((*before, *after))
    return [found for key in keys for found in _differing(before.get(key), after.get(key), f"{name}.{key}".lstrip("."))]


def faults(
    before: Settings, after: Settings, paths: Iterable[str], tests: Sequence[str], will_be: Sequence[str]
) -> list[str]:
    """Why the contract cannot be established, a line each; empty: a person may be asked.

    `paths` are those of the commit that brings it; `tests` the globs of tests in force, `will_be` those afterwards.
    """
    found = [f"{CONTRACT}: {name} = {_value(after, name)}: {_STAYS}" for name in beyond(before, after)]
    checks = after.get("checks", ())
    if not checks:
        found.append(f"{CONTRACT}: it has no [[checks]], so nothing could be proven")
    if len(checks) > MOST_CHECKS:
        found.append(f"{CONTRACT}: it has more than {MOST_CHECKS} checks, which nobody reads")
    for check in checks:
        if len(str(check["command"])) > LONGEST_COMMAND:
            found.append(f"{CONTRACT}: the command of check '{check['name']}' is too long to be read: put it in a file")
    work = [path for path in paths if OWN_FOLDER not in path.casefold().split("/")]
    freed = [path for path in work if matches(path, tests) and not matches(path, will_be)]
    if freed:
        found.append(f"{CONTRACT}: boundaries.tests would let a Doer change tests: {_some(freed)}")
    if work and all(matches(path, will_be) for path in work):
        found.append(f"{CONTRACT}: by boundaries.tests every file is a test, and none is a Doer's")
    told = "\n".join(tell(before, after, work, will_be))
    if not found and len(told) > LONGEST:
        found.append(f"{CONTRACT}: it is too long to be read: put commands in files, and name those")
    if not is_seen(told):
        found.append(f"{CONTRACT}: it has characters that control, turn or hide what is shown")
    return found


def tell(before: Settings, after: Settings, paths: Iterable[str], tests: Sequence[str]) -> list[str]:
    """What a person is shown: each check that is new, other or gone, what weakens it, and what the globs hold."""
    old = {check["name"]: check for check in before.get("checks", ())}
    new = {check["name"]: check for check in after.get("checks", ())}
    lines = []
    for name, check in new.items():
        word = "as before" if old.get(name) == check else "changed" if name in old else "new"
        lines.append(f"check {name} ({check['kind']}, {word}): {check['command']}")
        if word == "changed" and old[name]["command"] != check["command"]:
            lines.append(f"    its command was: {old[name]['command']}")
        lines += [f"    {line}" for line in _terms(check, old.get(name, {}))]
    lines += [f"check {name} is taken away: {check['command']}" for name, check in old.items() if name not in new]
    own = after["boundaries"]["tests"]
    held = [path for path in paths if matches(path, tests)]
    lines.append(f"tests: {', '.join(own) if own else 'read off the repository'}; here: {_some(held) or 'no file'}")
    return lines


def _terms(check: Settings, old: Settings) -> list[str]:
    """The terms of a check that say how it is read and how long it may take; then those that make it prove less."""
    terms = {name: value for name, value in check.items() if name not in ("name", "command", "kind") and value != ""}
    said = [", ".join(f"{name} = {value}" for name, value in terms.items())]
    said += [f"{name} was {old[name]}" for name in ("kind", *terms) if name in old and old[name] != check[name]]
    if check["kind"] == "test" and check["format"] == "exit":
        said.append("its exit code alone decides: nobody sees that tests went missing")
    if check["kind"] == "test" and check["min_tests"] == 0:
        said.append("it passes without any test")
    return said


def _value(settings: Settings, name: str) -> str:
    value: Any = settings
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    text = repr(value)
    return shorten(text if is_seen(text) else ascii(value), 80)


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(sorted(paths)[:_NAMED]) + more
