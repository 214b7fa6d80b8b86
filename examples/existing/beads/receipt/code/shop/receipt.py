"""Receipts."""


def receipt(basket):
    """One line an item, in the order of adding, and the total."""
    lines = [f"{count} {name} {count * cents / 100:.2f}" for name, (count, cents) in basket.items.items()]
    return "\n".join([*lines, f"total {basket.total() / 100:.2f}", ""])
