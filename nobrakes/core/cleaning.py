"""Untrusted text made safe to show, and short. Imports nothing: what agents say all night goes through it."""


def clean(text: str) -> str:
    """The text without terminal escapes, direction and invisible characters; of controls, only tab and newline stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text  # nearly all text: none of what is taken out is printable
    from .unseen import removed

    return removed(text)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the beginning and the end of the text where it is longer."""
    if len(text) <= limit:
        return text
    mark = " […] "
    if limit <= len(mark) + 1:
        return text[:limit]
    head = (limit - len(mark)) * 2 // 3
    tail = limit - len(mark) - head
    return text[:head] + mark + text[-tail:]
