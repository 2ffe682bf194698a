"""Dataclasses whose methods are made at first use: they are those of the standard library otherwise."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import pytest

from ultracrawl.dataclass import asdict, dataclass, field, fields, replace

METHODS = ("__init__", "__repr__", "__eq__", "__hash__")
FORMS: list[dict[str, bool]] = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True, "eq": False},
    {"frozen": True, "eq": False},
]


def example(decorator: Callable[..., Any], options: dict[str, bool]) -> Any:
    """Return a class with all that a field can be, by a decorator."""

    @decorator(**options)
    class Example:
        """An example."""

        number: int
        names: list[str] = field(default_factory=list, hash=False)
        hidden: str = field(default="h", repr=False, compare=False)
        kept: str = field(init=False, default="k")
        made: tuple[int, ...] = field(init=False, default_factory=tuple)
        doubled: int = field(init=False)
        limit: int = field(default=3, kw_only=True)
        KIND: ClassVar[str] = "example"

        def __post_init__(self) -> None:
            object.__setattr__(self, "doubled", 2 * self.number)

    return Example


def seen(made: Any) -> dict[str, object]:
    """Return what a class and two objects of it show."""
    one, other = made(1, ["a"], limit=4), made(2, hidden="x")
    return {
        "repr": (repr(one), repr(other)),
        "equal": (one == made(1, ["a"], "other", limit=4), one == other, one == 1),
        "hash": made.__hash__ is None or isinstance(hash(one), int),
        "same hash": made.__hash__ is not None and hash(one) == hash(made(1, ["b"], limit=4)),
        "fields": [(one.name, one.type, one.init, one.kw_only) for one in fields(made)],
        "dict": asdict(one),
        "replaced": repr(replace(one, number=5)),
        "copied": repr(copy.copy(one)),
        "signature": str(inspect.signature(made)),
        "names": [(name, getattr(made, name).__qualname__) for name in METHODS[:2]],
        "matched": made.__match_args__,
        "slots": getattr(made, "__slots__", None),
        "doc": made.__doc__,
        "parameters": repr(made.__dataclass_params__),
    }


@pytest.mark.parametrize("options", FORMS)
def test_a_class_is_like_that_of_the_standard_library(options: dict[str, bool]) -> None:
    assert seen(example(dataclass, options)) == seen(example(dataclasses.dataclass, options))


@pytest.mark.parametrize("options", FORMS)
def test_arguments_that_are_wrong_are_refused(options: dict[str, bool]) -> None:
    made = example(dataclass, options)
    for wrong in ({}, {"number": 1, "other": 2}, {"number": 1, "kept": "x"}):
        with pytest.raises(TypeError):
            made(**wrong)
    with pytest.raises(TypeError):
        made(1, ["a"], "h", 4)


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0


class NamedPoint(Point):
    """A class that is no dataclass itself."""


def test_each_method_is_made_when_it_is_first_used() -> None:
    made = example(dataclass, {"frozen": True, "slots": True})

    def not_made() -> list[str]:
        return [name for name in METHODS if not inspect.isfunction(vars(made)[name])]

    assert not_made() == [*METHODS]
    first = made(1)
    assert not_made() == [*METHODS[1:]]
    assert first == made(1)
    assert not_made() == ["__repr__", "__hash__"]
    assert str(first)
    assert isinstance(hash(first), int)
    assert not_made() == []


def test_a_frozen_object_cannot_be_changed_and_can_be_copied() -> None:
    point = Point(1, 2)
    for change in (
        lambda: setattr(point, "x", 3),
        lambda: delattr(point, "x"),
        lambda: setattr(point, "z", 3),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    with pytest.raises(FrozenInstanceError):
        NamedPoint(1).x = 2  # type: ignore[misc]
    named = NamedPoint(1)
    named.label = "n"  # type: ignore[attr-defined]  # as with the standard library
    for again in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert again == point
        assert again is not point
    assert NamedPoint(1) != Point(1)
    assert repr(NamedPoint(1)) == "NamedPoint(x=1, y=0)"


def test_a_class_that_derives_from_one_is_made_by_the_standard_library() -> None:
    @dataclass(frozen=True, slots=True)
    class Ours(Point):
        z: int = 0

    @dataclasses.dataclass(frozen=True)
    class Theirs(Point):
        z: int = 0

    for made in (Ours, Theirs):
        assert (made(1, 2, 3).x, made(1, 2, 3).z) == (1, 3)
        assert made(1, 2, 3) == made(1, 2, 3) != made(1, 2, 4)
        with pytest.raises(FrozenInstanceError):
            made(1).x = 2
    with pytest.raises(TypeError):

        @dataclasses.dataclass
        class Thawed(Point):
            z: int = 0


def test_what_a_class_says_itself_stays() -> None:
    def written(decorator: Callable[..., Any]) -> Any:
        @decorator(frozen=True)
        class Written:  # noqa: PLW1641 - the decorator makes it
            x: int

            def __repr__(self) -> str:
                return "mine"

            def __eq__(self, other: object) -> bool:
                return isinstance(other, Written)

        @decorator(frozen=True)
        class Hashed:
            x: int

            def __hash__(self) -> int:
                return 7

        return (
            repr(Written(1)),
            Written(1) == Written(2),
            hash(Written(1)) == hash(Written(1)),
            hash(Hashed(1)),
        )

    assert written(dataclass) == written(dataclasses.dataclass) == ("mine", True, True, 7)


def test_a_class_that_contains_itself_is_shown() -> None:
    @dataclass(slots=True)
    class Node:
        next: Any = None

    node = Node()
    node.next = node
    assert repr(node).endswith("Node(next=...)")
