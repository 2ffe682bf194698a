"""Our frozen dataclasses are as Python's own."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import TypeAdapter

from ultracrawl import quick_dataclass

T = TypeVar("T")


def specimens(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """Return classes of all kinds that we have, made by `dataclass`."""

    @dataclass(frozen=True, slots=True)
    class Plain:
        """A plain one."""

        url: str
        depth: int = 0
        tags: tuple[str, ...] = ()
        seen: dict[str, int] = field(default_factory=dict, compare=False)
        secret: str = field(default="", repr=False)
        LIMIT: ClassVar[int] = 7

        @property
        def host(self) -> str:
            return self.url[:4]

    @dataclass(frozen=True, slots=True)
    class Empty:
        """One without fields."""

    @dataclass(frozen=True, slots=True)
    class Single:
        """One with a field."""

        value: float

    @dataclass(frozen=True, slots=True)
    class Named:
        """One with fields that have to be named, and one that nobody gives."""

        first: int
        second: int = field(default=2, kw_only=True)
        third: list[int] = field(default_factory=list, kw_only=True, compare=False)
        made: int = field(init=False, default=5)

    @dataclass(frozen=True, slots=True)
    class Checked(Generic[T]):
        """One that looks at its values."""

        value: T
        double: int = field(init=False, hash=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "double", 2 * self.value)  # type: ignore[operator]

    @dataclass(frozen=True, slots=True)
    class Own:
        """One with ways of its own."""

        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, slots=True)
    class Below(Plain):  # type: ignore[valid-type, misc]
        """One with a base."""

        more: int = 1

    @dataclass(slots=True)
    class Open:
        """One that is not frozen."""

        value: int = 1

    found = dict(locals())
    del found["dataclass"]
    return found


OURS, THEIRS = specimens(quick_dataclass.dataclass), specimens(dataclasses.dataclass)
VALUES: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "Plain": [(("http",), {}), (("http", 1, ("a",)), {"seen": {"x": 1}}), (("http",), {"secret": "s"})],
    "Empty": [((), {})],
    "Single": [((1.5,), {}), ((2,), {})],
    "Named": [((1,), {}), ((1,), {"second": 3, "third": []})],
    "Checked": [((4,), {})],
    "Own": [((1,), {}), ((2,), {})],
    "Below": [(("http",), {}), (("http",), {"more": 3})],
    "Open": [((), {}), ((2,), {})],
}


def facts(kind: Any, values: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> list[Any]:
    """Return what can be seen of a class, and of objects with these values."""
    objects = [kind(*one, **named) for one, named in values]
    shape: list[Any] = [
        str(inspect.signature(kind)), kind.__slots__, kind.__match_args__, kind.__doc__, kind.__qualname__,
        repr(kind.__dataclass_params__), [(one.name, one.type) for one in dataclasses.fields(kind)],
        kind.__init__.__qualname__, kind.__eq__.__qualname__, kind.__module__,
    ]  # fmt: skip
    for one in objects:
        shape += [repr(one), [one == other for other in objects], one != 1, dataclasses.asdict(one)]
        shape += [repr(copy.copy(one)), copy.deepcopy(one) == one, repr(dataclasses.replace(one))]
        shape.append(hash(one) if kind.__hash__ else None)
        for name in {"value", "url"} & (
            {each.name for each in dataclasses.fields(one) if kind.__dataclass_params__.frozen}
        ):
            for change in (
                lambda one=one, name=name: setattr(one, name, 1),
                lambda one=one, name=name: delattr(one, name),
            ):
                try:
                    change()
                except (AttributeError, TypeError) as error:
                    shape.append((type(error).__name__, str(error)))
    return shape


@pytest.mark.parametrize("name", VALUES)
def test_a_class_is_as_pythons_own(name: str) -> None:
    assert facts(OURS[name], VALUES[name]) == facts(THEIRS[name], VALUES[name])


def test_wrong_values_are_refused_as_pythons_own_are() -> None:
    for wrong in ((), ("a", 1, (), {}, "", 1)):
        with pytest.raises(TypeError) as ours:
            OURS["Plain"](*wrong)
        with pytest.raises(TypeError) as theirs:
            THEIRS["Plain"](*wrong)
        assert str(ours.value) == str(theirs.value)


def test_each_object_gets_defaults_of_its_own() -> None:
    first, second = OURS["Plain"]("a"), OURS["Plain"]("a")
    assert first.seen is not second.seen
    assert hash(first) == hash(second)
    assert {first: 1}[second] == 1


def test_what_belongs_to_a_plain_subclass_can_be_set() -> None:
    class Loose(OURS["Single"]):  # type: ignore[misc]
        pass

    loose = Loose(1.0)
    loose.other = 2
    assert loose.other == 2
    with pytest.raises(FrozenInstanceError):
        loose.value = 3.0


@quick_dataclass.dataclass(frozen=True, slots=True)
class Travelling:
    """One that goes to another process."""

    value: int
    more: list[int] = field(default_factory=list)


def test_objects_travel_and_are_read_by_pydantic() -> None:
    one = Travelling(1, [2])
    assert pickle.loads(pickle.dumps(one)) == one
    adapter = TypeAdapter(Travelling)
    assert adapter.validate_json(adapter.dump_json(one)) == one


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python does it itself")
def test_one_function_of_a_class_is_compiled() -> None:
    compiled = list[str]()
    sys.addaudithook(lambda event, args: compiled.append(event) if event == "compile" and watching else None)
    watching = [1]

    @quick_dataclass.dataclass(frozen=True, slots=True)
    class One:
        """A class."""

        value: int = 1

    watching.clear()
    assert One().value == 1
    assert len(compiled) == 1
