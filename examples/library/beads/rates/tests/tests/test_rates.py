import unittest
from decimal import Decimal

from ledger.amount import Amount
from ledger.rates import convert

RATES = {("EUR", "CHF"): Decimal("0.945")}


class RatesTest(unittest.TestCase):
    def test_converts_and_rounds_half_to_even(self):
        self.assertEqual(str(convert(Amount.parse("1 EUR"), "CHF", RATES)), "0.94 CHF")
        self.assertEqual(str(convert(Amount.parse("3 EUR"), "CHF", RATES)), "2.84 CHF")

    def test_the_same_currency_stays(self):
        self.assertEqual(convert(Amount.parse("1 EUR"), "EUR", {}), Amount.parse("1 EUR"))

    def test_an_unknown_rate_is_an_error(self):
        with self.assertRaises(KeyError):
            convert(Amount.parse("1 EUR"), "USD", RATES)
