import unittest

import ledger
from ledger.journal import parse_journal
from ledger.select import select

ENTRIES = parse_journal("2026-01-01 food 1 EUR\n2026-02-02 rent 2 EUR\n")


class SelectTest(unittest.TestCase):
    def test_by_account(self):
        self.assertEqual([e.account for e in select(ENTRIES, account="rent")], ["rent"])

    def test_by_month(self):
        self.assertEqual([e.account for e in select(ENTRIES, month="2026-01")], ["food"])

    def test_without_a_wish_all(self):
        self.assertEqual(select(ENTRIES), ENTRIES)

    def test_the_package_names_it(self):
        self.assertIn("select", ledger.__all__)
