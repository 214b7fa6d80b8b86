"""A journal: one entry a line, comments begin with #."""

from .entry import parse_entry


def parse_journal(text):
    """The entries of a journal in its order; ValueError names the line that is wrong."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            entries.append(parse_entry(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return entries
