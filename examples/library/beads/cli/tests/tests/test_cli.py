import contextlib
import io
import pathlib
import tempfile
import unittest

from ledger.cli import main


def run(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(list(arguments))
    return code, out.getvalue()


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = pathlib.Path(folder.name, "journal")
        self.journal.write_text("2026-01-01 food 1 EUR\n")

    def test_prints_the_report(self):
        self.assertEqual(run(str(self.journal)), (0, "food  1.00 EUR\n"))

    def test_a_wrong_journal_ends_with_2(self):
        self.journal.write_text("nonsense\n")
        code, text = run(str(self.journal))
        self.assertEqual(code, 2)
        self.assertIn("line 1", text)
