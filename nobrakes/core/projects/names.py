"""The names of projects. A project's name is the name of its folder, so it is one part of a path and nothing else.

1. Letters, digits, '-', '_' and '.'; it begins with a letter or a digit. So no name leads out of the folder.
2. Two names that differ in capitals alone are one name for a new project: people and some disks take them for one.
"""

from collections.abc import Sequence

from ..errors import UsageError

MOST = 64
"""Characters of a name."""
HINT = "Letters, digits, '-', '_' and '.', beginning with a letter or a digit: for example my-app."
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{x}{n}" for x in ("com", "lpt") for n in range(1, 10))})


def mistake(name: str) -> str:
    """What is wrong with the name; empty: nothing."""
    if not name:
        return "a project needs a name"
    if len(name) > MOST:
        return f"the name of a project has at most {MOST} characters"
    if not name.isascii() or not name[0].isalnum() or not all(c.isalnum() or c in "-_." for c in name):
        return f"'{name[:MOST]}' is no name of a project"
    if name.endswith((".", ".git", ".lock")) or ".." in name or name.split(".")[0].lower() in _RESERVED:
        return f"'{name}' is no name of a project: git or some system cannot have a folder of this name"
    return ""


def require(name: str) -> str:
    """The name, without spaces around it. UsageError."""
    plain = name.strip()
    why = mistake(plain)
    if why:
        raise UsageError(why, HINT)
    return plain


def clash(name: str, known: Sequence[str]) -> str:
    """The known name that is the same one, but for capitals; empty: it is free."""
    return next((one for one in known if one.casefold() == name.casefold()), "")


def suggested(known: Sequence[str], session: str, message: str) -> tuple[str, str]:
    """(the project that is probably meant, why), both empty where none suggests itself.

    The session's name first, then the words of the message, where one project alone is named in it.
    """
    for one in known:
        if session and one.casefold() == session.casefold():
            return one, "the session has its name"
    words = _words(message)
    found = [one for one in known if _words(one) in words]
    # `my-app` stands in `my-app-2`, too: a name inside of another one that stands there is not meant by it
    best = [one for one in found if not any(_words(one) in _words(other) for other in found if other != one)]
    return (best[0], "the message names it") if len(best) == 1 else ("", "")


def _words(text: str) -> str:
    """The words of a text between spaces, without what joins or ends them: `my-app` is in "my app, please"."""
    return " " + " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split()) + " "
