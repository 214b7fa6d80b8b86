import unittest

from shop.basket import Basket


class BasketTest(unittest.TestCase):
    def test_total(self):
        basket = Basket()
        basket.add("tea", 250, 2)
        basket.add("cup", 900)
        self.assertEqual(basket.total(), 1400)

    def test_adding_again_adds_up(self):
        basket = Basket()
        basket.add("tea", 250)
        basket.add("tea", 250)
        self.assertEqual(basket.total(), 500)
