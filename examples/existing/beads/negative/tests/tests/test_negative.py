import unittest

from shop.basket import Basket


class NegativeTest(unittest.TestCase):
    def test_counts_below_one_are_refused(self):
        basket = Basket()
        for count in (0, -1):
            with self.subTest(count), self.assertRaises(ValueError):
                basket.add("tea", 250, count)
        self.assertEqual(basket.total(), 0)
