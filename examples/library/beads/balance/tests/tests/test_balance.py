import unittest

from ledger.amount import Amount
from ledger.balance import balance
from ledger.journal import parse_journal


class BalanceTest(unittest.TestCase):
    def test_sums_each_account_and_currency(self):
        entries = parse_journal("2026-01-01 food 1 EUR\n2026-01-02 food 2 EUR\n2026-01-02 food 5 CHF\n")
        self.assertEqual(
            balance(entries), {("food", "CHF"): Amount.parse("5 CHF"), ("food", "EUR"): Amount.parse("3 EUR")}
        )

    def test_an_empty_journal_has_no_balance(self):
        self.assertEqual(balance([]), {})
