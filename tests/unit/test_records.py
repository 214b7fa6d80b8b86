"""A record is what the library's own frozen dataclass with slots is, before and after its first object."""

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest

from nobrakes.records import copied, frozen, grouped

WAYS: dict[str, Callable[[Any], Any]] = {"ours": frozen, "the library's": dataclass(frozen=True, slots=True)}


@pytest.fixture(params=WAYS)
def made(request: pytest.FixtureRequest) -> Any:
    """A class that nothing was made of."""

    @WAYS[request.param]
    class Place:
        name: str
        near: tuple[str, ...] = ()
        notes: dict[str, int] = field(default_factory=dict, compare=False)
        level: int = field(default=3, kw_only=True)

        @property
        def title(self) -> str:
            return self.name.title()

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("a place has a name")

    return Place


def test_fields_slots_and_patterns_are_there_before_the_first_object(made: Any) -> None:
    assert is_dataclass(made) and [one.name for one in fields(made)] == ["name", "near", "notes", "level"]
    assert made.__slots__ == ("name", "near", "notes", "level") and made.__match_args__ == ("name", "near", "notes")


def test_objects_are_compared_shown_copied_and_never_changed(made: Any) -> None:
    one = made("oslo", ("moss",), level=4)
    assert one == made("oslo", ("moss",), {"a": 1}, level=4) and one != made("oslo") and one.title == "Oslo"
    assert hash(one) == hash(made("oslo", ("moss",), {"a": 1}, level=4))
    assert repr(one).endswith("Place(name='oslo', near=('moss',), notes={}, level=4)")
    assert replace(one, name="bergen") == made("bergen", ("moss",), level=4) and asdict(one)["level"] == 4
    assert copy(one) == deepcopy(one) == one
    with pytest.raises(FrozenInstanceError):
        one.name = "bergen"
    with pytest.raises(FrozenInstanceError):
        del one.name
    assert one.name == "oslo" and not hasattr(one, "__dict__")


def test_what_is_given_is_checked_as_the_first_object_is_made(made: Any) -> None:
    with pytest.raises(TypeError, match="'name'"):
        made()
    with pytest.raises(TypeError):
        made("oslo", unknown=1)
    with pytest.raises(ValueError, match="has a name"):
        made("")
    assert made("oslo").level == 3


@frozen
class Kept:
    """One that is written and read again."""

    name: str


def test_a_record_comes_back_as_it_was_written() -> None:
    assert pickle.loads(pickle.dumps(Kept("oslo"))) == Kept("oslo")


@pytest.mark.parametrize("way", WAYS)
def test_who_has_a_base_or_methods_of_its_own_is_whole_at_once(way: str) -> None:
    @WAYS[way]
    class Base:
        name: str

    @WAYS[way]
    class Child(Base):
        age: int = 1

    class Plain(Base):
        def shout(self) -> str:
            return self.name.upper()

    @WAYS[way]
    class Hashed:
        name: str

        def __hash__(self) -> int:
            return 7

    assert Plain("a").shout() == "A" and Plain("a") == Plain("a") != Base("a") and Plain("b").name == "b"
    assert Child("a", 2) == Child("a", 2) != Child("a") and hash(Hashed("a")) == 7
    with pytest.raises(FrozenInstanceError):
        Plain("a").name = "b"


def test_a_copied_record_has_the_fields_of_the_other_one_and_what_is_given(made: Any) -> None:
    @frozen
    class Seen:
        name: str
        level: int
        by: str
        times: int = 1

    place = made("oslo", level=4)
    assert copied(Seen, place, by="ada", times=1) == Seen("oslo", 4, "ada")
    assert copied(Seen, place, by="ada", level=9, times=2) == Seen("oslo", 9, "ada", 2)
    with pytest.raises(AttributeError, match="'by'"):
        copied(Seen, place)
    with pytest.raises(AttributeError, match="'times'"):
        copied(Seen, place, by="ada")  # a default would hide that the other record has another name for it


def test_pairs_are_grouped_in_their_order() -> None:
    found = grouped([("b", 2), ("a", 3), ("b", 1), ("b", 2)])
    assert list(found.items()) == [("b", [2, 1, 2]), ("a", [3])]
    assert grouped([]) == {}


def test_fields_are_made_when_they_are_asked_for() -> None:
    """A command defines 200 records, and uses 50."""

    @frozen
    class Unused:
        name: str

    assert not isinstance(vars(Unused)["__dataclass_fields__"], dict)
    assert list(Unused.__dataclass_fields__) == ["name"] and isinstance(vars(Unused)["__dataclass_fields__"], dict)
