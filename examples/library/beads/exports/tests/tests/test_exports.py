import unittest

import ledger
from ledger.exports import to_csv
from ledger.journal import parse_journal


class ExportsTest(unittest.TestCase):
    def test_one_row_an_entry(self):
        text = to_csv(parse_journal("2026-01-01 food 1 EUR soup, hot\n"))
        self.assertEqual(text, 'day,account,number,currency,text\n2026-01-01,food,1,EUR,"soup, hot"\n')

    def test_the_package_names_it(self):
        self.assertIn("to_csv", ledger.__all__)
