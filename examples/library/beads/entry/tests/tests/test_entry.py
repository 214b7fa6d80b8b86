import unittest
from datetime import date

from ledger.amount import Amount
from ledger.entry import parse_entry


class EntryTest(unittest.TestCase):
    def test_reads_a_line(self):
        entry = parse_entry("2026-01-05 food 12.50 EUR lunch with Ada")
        self.assertEqual(entry.day, date(2026, 1, 5))
        self.assertEqual(entry.account, "food")
        self.assertEqual(entry.amount, Amount.parse("12.50 EUR"))
        self.assertEqual(entry.text, "lunch with Ada")

    def test_the_text_may_be_missing(self):
        self.assertEqual(parse_entry("2026-01-05 food 1 EUR").text, "")

    def test_refuses_half_a_line(self):
        with self.assertRaises(ValueError):
            parse_entry("2026-01-05 food")
