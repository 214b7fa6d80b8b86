"""What the tests of spending share."""

import pytest

from tests.support.hand_clock import Hand


@pytest.fixture
def clock() -> Hand:
    return Hand()
