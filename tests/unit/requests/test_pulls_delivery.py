"""How the work of a bead gets to people: by its feature's settings, and the repository's where those say nothing."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import Bead, BeadType
from nobrakes.requests.model import Rules, Said, delivery, unit_of

SHOP = Bead("shop", "The shop", BeadType.EPIC)
CART = Bead("cart", "The cart", BeadType.EPIC, epic="shop")
STEP = Bead("step", "A step", epic="cart")
ALONE = Bead("alone", "Alone")
ABOVE = {"shop": [], "cart": ["shop"], "step": ["cart", "shop"], "alone": []}


def lands(bead: Bead, rules: Rules, is_begun: bool = False) -> str:
    return delivery(bead, ABOVE[bead.id], rules, is_begun).epic


def test_what_no_feature_says_is_as_in_the_whole_repository() -> None:
    assert [lands(one, Rules(True, "bead")) for one in (SHOP, STEP, ALONE)] == ["", "", ""]
    assert [lands(one, Rules(True, "epic")) for one in (SHOP, STEP, ALONE)] == ["", "cart", ""]
    assert lands(STEP, Rules(False, "epic")) == "", "nothing of it holds where work lands in another way"
    assert delivery(STEP, ABOVE["step"], Rules(True, "bead")).branch == "task/bead-step"
    assert delivery(SHOP, (), Rules(True, "bead")).branch == "feature/shop"


@pytest.mark.parametrize("whole", ["bead", "epic"])
def test_the_nearest_epic_that_says_something_is_heard(whole: str) -> None:
    outer = Rules(True, whole, features={"shop": Said(unit="epic")})
    both = Rules(True, whole, features={"shop": Said(unit="epic"), "cart": Said(unit="bead")})
    silent = Rules(True, whole, features={"shop": Said(unit="epic"), "cart": Said(branch="feature/x")})
    assert [lands(STEP, rules) for rules in (outer, both, silent)] == ["cart", "", "cart"]
    assert unit_of([], outer) == whole == unit_of(["other"], outer)


def test_what_has_begun_on_an_epics_branch_ends_there() -> None:
    rules = Rules(True, "epic", features={"cart": Said(unit="bead")})
    assert (lands(STEP, rules), lands(STEP, rules, is_begun=True)) == ("", "cart")
    assert lands(CART, rules, is_begun=True) == "", "the request of an epic is for main"
    assert lands(STEP, Rules(False, "bead"), is_begun=True) == ""


def test_the_branch_is_that_of_the_epics_own_request() -> None:
    rules = Rules(True, "epic", features={"shop": Said(branch="feature/checkout"), "step": Said(branch="x")})
    named = {one.id: delivery(one, ABOVE[one.id], rules).branch for one in (SHOP, CART, STEP)}
    assert named == {"shop": "feature/checkout", "cart": "feature/cart", "step": "task/bead-step"}


def test_whether_it_is_pushed_without_a_word_is_said_by_the_nearest() -> None:
    rules = Rules(True, "bead", False, {"shop": Said(push=True), "cart": Said(unit="epic")})
    assert [delivery(one, ABOVE[one.id], rules).push for one in (SHOP, CART, STEP, ALONE)] == [True, True, True, False]


def test_the_nearest_says_which_branch_it_is_merged_to_and_main_is_nothing_said() -> None:
    rules = Rules(True, "bead", features={"shop": Said(base="release/1"), "cart": Said(base="main")}, main="main")
    assert [delivery(one, ABOVE[one.id], rules).base for one in (SHOP, CART, STEP, ALONE)] == ["release/1", "", "", ""]
    outer = Rules(True, "epic", features={"shop": Said(base="release/1"), "cart": Said(unit="bead")}, main="main")
    assert [delivery(one, ABOVE[one.id], outer).base for one in (CART, STEP, ALONE)] == ["release/1", "release/1", ""]
    assert delivery(STEP, ABOVE["step"], replace(outer, by_request=False)).base == "", "main is moved here then"


def test_what_is_pushed_without_a_request_lands_by_itself_whatever_the_epics_around_it_say() -> None:
    said = {"shop": Said(unit="epic", land="remote"), "cart": Said(land="pull_request")}
    rules = Rules(True, "epic", features=said, main="main")
    direct = Bead("direct", "Direct", epic="shop")
    assert delivery(direct, ["shop"], rules).direct and not delivery(direct, ["shop"], rules).epic
    assert not delivery(STEP, ABOVE["step"], rules).direct and delivery(STEP, ABOVE["step"], rules).epic == "cart"
    assert not delivery(direct, ["shop"], replace(rules, by_request=False)).direct
