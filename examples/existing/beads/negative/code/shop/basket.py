"""Baskets."""


class Basket:
    """What somebody wants to buy; prices are cents."""

    def __init__(self):
        self.items = {}

    def add(self, name, cents, count=1):
        """Put things in; ValueError when there are none of them."""
        if count < 1:
            raise ValueError(f"{count} of {name} cannot be bought")
        old, _ = self.items.get(name, (0, cents))
        self.items[name] = (old + count, cents)

    def total(self):
        """What it costs, in cents."""
        return sum(count * cents for count, cents in self.items.values())
