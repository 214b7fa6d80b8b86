import unittest

from shop.receipt import receipt


class ReceiptTest(unittest.TestCase):
    def test_it_is_there(self):
        self.assertTrue(receipt)
