"""Amounts of money: a decimal number and a currency of three capital letters."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation


@dataclass(frozen=True)
class Amount:
    """Some money. Different currencies do not add up."""

    number: Decimal
    currency: str

    @classmethod
    def parse(cls, text):
        """The amount in a text like "12.50 EUR"; ValueError when it is none."""
        number, _, currency = text.partition(" ")
        if len(currency) != 3 or not currency.isupper():
            raise ValueError(f"{text!r} has no currency")
        try:
            return cls(Decimal(number), currency)
        except InvalidOperation:
            raise ValueError(f"{text!r} is not an amount") from None

    def __add__(self, other):
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} do not add up")
        return Amount(self.number + other.number, self.currency)

    def __str__(self):
        return f"{self.number:.2f} {self.currency}"
