"""What in a change a person should see before it lands, though it breaks no boundary. Pure.

1. Names with control, direction or invisible characters: who reads the list of files reads something else.
2. Content that by its own shape is a secret key (core.text.redaction), where the file did not hold it before.
3. A reason names the file, escaped, and the kind of secret, and never the secret.
"""

from ..text.cleaning import is_seen
from ..text.redaction import secrets_in


def odd_name(path: str) -> str | None:
    """Why the path is unusual; None: it is not."""
    if "\n" in path or "\t" in path or not is_seen(path):
        return f"{escaped(path)}: its name has characters that control, turn or hide what is shown"
    return None


def new_secrets(path: str, before: str, after: str) -> str | None:
    """Why the file's content is unusual; None: it is not."""
    known = {before[one.begin : one.end] for one in secrets_in(before) if one.sure} if before else set()
    kinds = [one.kind for one in secrets_in(after) if one.sure and after[one.begin : one.end] not in known]
    if not kinds:
        return None
    return f"{escaped(path)}: it looks as if it held a secret ({', '.join(dict.fromkeys(kinds))})"


def escaped(path: str) -> str:
    """The path as it can be shown: what nobody sees, or a terminal obeys, is written by its number."""
    return "".join(
        c if c not in "\n\t" and is_seen(c) else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in path[:300]
    )
