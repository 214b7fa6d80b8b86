"""One line of a journal: day, account, amount, and what it was for."""

from dataclasses import dataclass
from datetime import date

from .amount import Amount
from .dates import parse_date


@dataclass(frozen=True)
class Entry:
    """Money that went to an account on a day."""

    day: date
    account: str
    amount: Amount
    text: str = ""


def parse_entry(line):
    """The entry in a line like "2026-01-05 food 12.50 EUR lunch"; ValueError when it is none."""
    parts = line.split(maxsplit=4)
    if len(parts) < 4:
        raise ValueError(f"{line!r} is not an entry: day account number currency [text]")
    day, account, number, currency, *text = parts
    return Entry(parse_date(day), account, Amount.parse(f"{number} {currency}"), "".join(text))
