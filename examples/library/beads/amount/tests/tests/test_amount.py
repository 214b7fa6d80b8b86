import unittest
from decimal import Decimal

from ledger.amount import Amount


class AmountTest(unittest.TestCase):
    def test_reads_number_and_currency(self):
        self.assertEqual(Amount.parse("12.50 EUR"), Amount(Decimal("12.50"), "EUR"))

    def test_shows_two_places(self):
        self.assertEqual(str(Amount(Decimal("3"), "CHF")), "3.00 CHF")

    def test_adds_only_the_same_currency(self):
        self.assertEqual(Amount.parse("1 EUR") + Amount.parse("2 EUR"), Amount.parse("3 EUR"))
        with self.assertRaises(ValueError):
            Amount.parse("1 EUR") + Amount.parse("1 CHF")

    def test_refuses_what_is_no_amount(self):
        for text in ("", "EUR", "12", "x EUR", "1 eur"):
            with self.subTest(text), self.assertRaises(ValueError):
                Amount.parse(text)
