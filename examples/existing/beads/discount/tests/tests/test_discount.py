import unittest

from shop.basket import Basket


class DiscountTest(unittest.TestCase):
    def test_percent_of_the_total(self):
        basket = Basket()
        basket.add("tea", 999)
        self.assertEqual(basket.total(discount=10), 899)
