"""Who may work in which role: agents in order of preference, for all beads or for those of one type."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from ...beads.model import Role
from ...checks.contract import Check
from ...records import frozen


@frozen
class AgentChoice:
    """Names of agents, the preferred one first; `by_type` overrides a role for one type of bead."""

    by_role: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {Role.TEST_WRITER.value: ("claude",), Role.DOER.value: ("claude",)}
    )
    by_type: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def agents(self, role: Role, type_: str) -> tuple[str, ...]:
        """Who may take the role on a bead of this type."""
        return self.by_type.get(type_, {}).get(role.value) or self.by_role.get(role.value, ())

    def names(self) -> tuple[str, ...]:
        """Everybody, each once, in the order of first mention."""
        found = [name for agents in self.by_role.values() for name in agents]
        found += [name for roles in self.by_type.values() for agents in roles.values() for name in agents]
        return tuple(dict.fromkeys(found))


# These are rules of words and no wall, since what the checks start may do anything. A command is told as the words that
# it begins with, up to its first option; what cannot be told so (quotes, a subshell) is left out.
ALWAYS = ("git", "nobrakes")
_RUNNER = re.compile(r"(?:\S*/)?(?:python[\d.]*|node|ruby|perl|php|bash|sh|deno)")
_WRAPPER = re.compile(r"(?:\S*/)?(?:uv|poetry|pipenv|pdm|hatch|rye|bundle|npm|npx|pnpm|yarn|bun)")
_AROUND = frozenset(("env", "exec", "time", "nice", "timeout", "stdbuf", "xvfb-run"))
"""What starts any program: never let through by itself."""
_VERBS = frozenset(("run", "exec", "test"))
_PLAIN = re.compile(r"[\w./:@%+=,-]+")


def commands(checks: Iterable[Check], setup: str = "") -> tuple[tuple[str, ...], ...]:
    """The beginnings of commands that are let through, each as its words."""
    found: dict[tuple[str, ...], None] = {(word,): None for word in ALWAYS}
    for text in (*(check.command for check in checks), setup):
        for part in re.split(r"&&|\|\||[;|&\n]", text):
            if words := _beginning(part.split()):
                found[words] = None
    return tuple(found)


def _beginning(words: list[str]) -> tuple[str, ...]:
    """The words that say what is started; empty where that cannot be told."""
    while words and (re.match(r"\w+=", words[0]) or words[0] in _AROUND):
        around, words = words[0] in _AROUND, words[1:]
        while around and words and re.match(r"-|\d", words[0]):
            words = words[1:]
    if not words or not all(_PLAIN.fullmatch(word) for word in words[:4]):
        return ()
    if _RUNNER.fullmatch(words[0]):  # an interpreter alone would be everything
        if words[1:2] == ["-m"]:
            return tuple(words[:3]) if len(words) > 2 else ()
        return tuple(words[:2]) if len(words) > 1 and words[1] not in ("-c", "-e", "-", "-lc") else ()
    taken = words[:1]
    if _WRAPPER.fullmatch(words[0]):
        for word in words[1:]:
            if word.startswith("-"):
                break
            taken.append(word)
            if word not in _VERBS:
                return tuple(taken)
        return tuple(taken) if len(taken) > 1 else ()
    return (*taken, *(word for word in words[1:2] if re.fullmatch(r"[a-z][\w:-]*", word)))
