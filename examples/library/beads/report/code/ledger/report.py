"""Reports for people: the balance of a month, aligned."""

from .balance import balance
from .select import select


def report(entries, month=None):
    """One line an account, amounts aligned to the right; "nothing" when there is none."""
    rows = [(account, str(amount)) for (account, _), amount in balance(select(entries, month=month)).items()]
    if not rows:
        return "nothing\n"
    left = max(len(account) for account, _ in rows)
    right = max(len(amount) for _, amount in rows)
    return "".join(f"{account:<{left}}  {amount:>{right}}\n" for account, amount in rows)
