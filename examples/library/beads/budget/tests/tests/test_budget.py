import unittest

from ledger.amount import Amount
from ledger.budget import over_budget
from ledger.journal import parse_journal

ENTRIES = parse_journal("2026-01-01 food 60 EUR\n2026-01-20 food 50 EUR\n2026-02-01 food 10 EUR\n")


class BudgetTest(unittest.TestCase):
    def test_names_months_above_the_budget(self):
        self.assertEqual(over_budget(ENTRIES, "food", Amount.parse("100 EUR")), ["2026-01"])

    def test_within_the_budget(self):
        self.assertEqual(over_budget(ENTRIES, "food", Amount.parse("110 EUR")), [])
