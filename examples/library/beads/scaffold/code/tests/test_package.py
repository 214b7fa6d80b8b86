import unittest

import ledger


class PackageTest(unittest.TestCase):
    def test_it_tells_its_version(self):
        self.assertEqual(ledger.__version__, "0.1")
