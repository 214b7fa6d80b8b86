"""Balances: what went to each account, by currency."""


def balance(entries):
    """{(account, currency): amount}, sorted by key."""
    sums = {}
    for entry in entries:
        key = (entry.account, entry.amount.currency)
        sums[key] = sums[key] + entry.amount if key in sums else entry.amount
    return dict(sorted(sums.items()))
