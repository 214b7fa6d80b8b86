"""Conversion between currencies, rounded half to even as the treasurer decided."""

from decimal import ROUND_HALF_EVEN, Decimal

from .amount import Amount


def convert(amount, currency, rates):
    """The amount in another currency by {(from, to): rate}; KeyError for an unknown pair."""
    if amount.currency == currency:
        return amount
    number = amount.number * rates[amount.currency, currency]
    return Amount(number.quantize(Decimal("0.01"), ROUND_HALF_EVEN), currency)
