import unittest

from ledger.journal import parse_journal
from ledger.report import report

ENTRIES = parse_journal("2026-01-01 food 1 EUR\n2026-02-02 food 2 EUR\n2026-02-03 rent 900 EUR\n")


class ReportTest(unittest.TestCase):
    def test_a_line_an_account_aligned(self):
        self.assertEqual(report(ENTRIES, month="2026-02"), "food    2.00 EUR\nrent  900.00 EUR\n")

    def test_nothing_to_report(self):
        self.assertEqual(report(ENTRIES, month="1999-01"), "nothing\n")
