import unittest

from ledger.journal import parse_journal

TEXT = """
# January
2026-01-05 food 12.50 EUR lunch

2026-01-07 rent 900 EUR
"""


class JournalTest(unittest.TestCase):
    def test_reads_entries_and_skips_comments_and_blanks(self):
        self.assertEqual([e.account for e in parse_journal(TEXT)], ["food", "rent"])

    def test_names_the_line_that_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            parse_journal("2026-01-05 food 1 EUR\nnonsense\n")
