"""The name of a bead's branch. Imports nothing: agents ask for it all night.

1. A pattern makes it (`git.branch_pattern`): {id} once, {type} at most once, and something between the two, so that a
   name belongs to one bead.
2. A bead keeps the name that it was started with (`Bead.branch`), whatever becomes of its type or of the pattern.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .model import Bead


PATTERN = "{type}/bead-{id}"
"""The default pattern, also of earlier databases."""

MAX_PATTERN = 150
"""Characters of a pattern."""


def branch_of(bead: "Bead") -> str:
    return bead.branch or named(bead, PATTERN)


def named(bead: "Bead", pattern: str) -> str:
    return pattern.replace("{type}", str(bead.type)).replace("{id}", bead.id)


def is_branch_name(name: str) -> bool:
    import re

    return name != "HEAD" and re.search(_NO_BRANCH, name) is None


_NO_BRANCH = r"^-|^/|[/.]$|\.\.|//|@\{|(^|/)\.|\.lock(/|$)|[\x00-\x20\x7f~^:?*\[\\]|^@?$"


def may_be_a_beads(name: str, pattern: str) -> bool:
    """Whether the pattern, or the default one, can give some bead this name."""
    import re

    id_, type_ = "[A-Za-z0-9][A-Za-z0-9_.-]*", "[a-z]+"
    plain = (re.escape(one).replace(r"\{type\}", type_).replace(r"\{id\}", id_) for one in (pattern, PATTERN))
    return any(re.fullmatch(one, name) for one in plain)


def pattern_mistake(pattern: str) -> str | None:
    """What is wrong with a pattern; None: each bead gets a legal name of its own."""
    plain = pattern.replace("{type}", "\0").replace("{id}", "\1")
    if plain.count("\1") != 1 or plain.count("\0") > 1:
        return "the pattern must contain {id} once, and {type} at most once"
    if "{" in plain or "}" in plain:
        return "only {type} and {id} are allowed in braces"
    if "\0\1" in plain or "\1\0" in plain:
        return "the pattern needs a separator between {type} and {id}, such as '/' or '-'"
    if not plain.strip("\1/"):
        return "the pattern needs text besides {id}, so that other branches do not match"
    if len(pattern) > MAX_PATTERN or not is_branch_name(plain.replace("\0", "refactor").replace("\1", "a")):
        return "git does not allow branch names of this pattern"
    return None


APPROVE = "approve"


def is_approval(resolution: str) -> bool:
    return resolution == APPROVE or resolution.startswith(f"{APPROVE}: ")
