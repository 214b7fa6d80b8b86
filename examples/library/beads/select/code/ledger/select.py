"""Choosing entries."""

from .dates import month_of


def select(entries, account=None, month=None):
    """The entries of an account and of a month like "2026-01"; None means any."""
    return [
        entry
        for entry in entries
        if (account is None or entry.account == account) and (month is None or month_of(entry.day) == month)
    ]
