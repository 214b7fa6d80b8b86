"""Budgets: which months went over."""

from .balance import balance
from .dates import month_of
from .select import select


def over_budget(entries, account, limit):
    """The months, like "2026-01", in which the account took more than `limit`."""
    months = sorted({month_of(entry.day) for entry in entries})
    over = []
    for month in months:
        spent = balance(select(entries, account, month)).get((account, limit.currency))
        if spent is not None and spent.number > limit.number:
            over.append(month)
    return over
