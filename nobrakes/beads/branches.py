"""The name of a bead's branch. Imports nothing: agents ask for it all night.

1. A pattern makes it (`git.branch_pattern`): {id} once, {type} at most once, and something between the two, so that a
   name belongs to one bead.
2. A bead keeps the name that it was started with (`Bead.branch`), whatever becomes of its type or of the pattern.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .model import Bead


PATTERN = "{type}/bead-{id}"
"""What names branches where nobody chose another pattern, and what named those of earlier databases."""

MAX_PATTERN = 150
"""Characters of a pattern; an id and a type make it no twice as long."""


def branch_of(bead: "Bead") -> str:
    """The branch that the bead is worked on, whatever its title."""
    return bead.branch or named(bead, PATTERN)


def named(bead: "Bead", pattern: str) -> str:
    """The name that the pattern gives the bead's branch."""
    return pattern.replace("{type}", str(bead.type)).replace("{id}", bead.id)


def is_branch_name(name: str) -> bool:
    """Whether git takes `name` for a branch."""
    import re

    return name != "HEAD" and re.search(_NO_BRANCH, name) is None


_NO_BRANCH = r"^-|^/|[/.]$|\.\.|//|@\{|(^|/)\.|\.lock(/|$)|[\x00-\x20\x7f~^:?*\[\\]|^@?$"


def may_be_a_beads(name: str, pattern: str) -> bool:
    """Whether the pattern, or the one of those who chose none, names some bead's branch so."""
    import re

    id_, type_ = "[A-Za-z0-9][A-Za-z0-9_.-]*", "[a-z]+"
    plain = (re.escape(one).replace(r"\{type\}", type_).replace(r"\{id\}", id_) for one in (pattern, PATTERN))
    return any(re.fullmatch(one, name) for one in plain)


def pattern_mistake(pattern: str) -> str | None:
    """What is wrong with a pattern; None: each bead gets a legal name of its own from it."""
    plain = pattern.replace("{type}", "\0").replace("{id}", "\1")
    if plain.count("\1") != 1 or plain.count("\0") > 1:
        return "it must contain {id} once, and {type} at most once"
    if "{" in plain or "}" in plain:
        return "only {type} and {id} may stand in braces"
    if "\0\1" in plain or "\1\0" in plain:
        return "{type} and {id} need something between them, such as '/' or '-'"
    if not plain.strip("\1/"):
        return "it needs text besides {id}, so that the names are not mistaken for other branches"
    if len(pattern) > MAX_PATTERN or not is_branch_name(plain.replace("\0", "refactor").replace("\1", "a")):
        return "git does not allow such a branch name"
    return None


APPROVE = "approve"


def is_approval(resolution: str) -> bool:
    """Whether a person's decision accepts what was asked for."""
    return resolution == APPROVE or resolution.startswith(f"{APPROVE}: ")
