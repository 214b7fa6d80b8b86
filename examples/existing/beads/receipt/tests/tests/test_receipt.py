import unittest

from shop.basket import Basket
from shop.receipt import receipt


class ReceiptTest(unittest.TestCase):
    def test_items_in_order_and_the_total(self):
        basket = Basket()
        basket.add("tea", 250, 2)
        basket.add("cup", 900)
        self.assertEqual(receipt(basket), "2 tea 5.00\n1 cup 9.00\ntotal 14.00\n")
