import unittest
from datetime import date

from ledger.dates import month_of, parse_date


class DatesTest(unittest.TestCase):
    def test_reads_iso_dates(self):
        self.assertEqual(parse_date("2026-02-28"), date(2026, 2, 28))

    def test_refuses_other_forms(self):
        for text in ("28.2.2026", "2026-02-30", ""):
            with self.subTest(text), self.assertRaises(ValueError):
                parse_date(text)

    def test_names_the_month(self):
        self.assertEqual(month_of(date(2026, 2, 28)), "2026-02")
