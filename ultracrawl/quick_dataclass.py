"""`dataclasses.dataclass`, which makes frozen classes with slots, as most of ours are, in a quarter of the time.

Before Python 3.13 it writes seven functions of each class as texts and compiles them one by one: 1,200 of them, a
sixth of what it takes to load a crawl. Here one is, `__init__`; the others are closures. Nothing else differs.
"""

from __future__ import annotations

import dataclasses
import sys
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 13):
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """Make a dataclass of a class; whatever is not frozen, or has bases that are some, the usual one."""
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        unusual = options != {"frozen": True, "slots": True} or not _OWN_WAYS.isdisjoint(vars(cls))
        if unusual or any(map(dataclasses.is_dataclass, cls.__mro__[1:])):
            return dataclasses.dataclass(cls, **options)
        return _frozen(cls)


__all__ = ["dataclass"]

_OWN_WAYS = frozenset({"__setattr__", "__delattr__", "__getstate__", "__setstate__", "__slots__"})
_MISSING = dataclasses.MISSING


class _LeftOut:
    """Stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "<factory>"


_LEFT_OUT = _LeftOut()


def _frozen(cls: type) -> Any:
    kept = {name for name in ("__init__", "__repr__", "__eq__") if name in vars(cls)}
    if vars(cls).get("__hash__") is not None:
        kept.add("__hash__")
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=True)
    told = made.__dataclass_params__
    told.init = told.repr = told.eq = told.frozen = True
    functions = {"__init__": _init(made), **_looks(made), **_guards(made)}
    for name, function in functions.items():
        if name not in kept:
            function.__name__, function.__qualname__ = name, f"{made.__qualname__}.{name}"
            function.__module__ = made.__module__
            setattr(made, name, function)
    return made


def _init(made: Any) -> Callable[..., Any]:
    """Return what sets the fields: compiled, because nothing is quicker when objects are made."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_left_out": _LEFT_OUT}
    parameters, named, lines = ["self"], ["*"], list[str]()
    for field in dataclasses.fields(made):
        name = taken = value = field.name
        if field.default is not _MISSING:
            known[f"_default_{name}"] = field.default
            taken = f"{name}=_default_{name}"
            value = name if field.init else f"_default_{name}"
        elif field.default_factory is not _MISSING:
            known[f"_make_{name}"] = field.default_factory
            taken = f"{name}=_left_out"
            value = f"_make_{name}()" + (f" if {name} is _left_out else {name}" if field.init else "")
        elif not field.init:
            continue
        lines.append(f" _set(self, {name!r}, {value})")
        if field.init:
            (named if field.kw_only else parameters).append(taken)
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters += named if len(named) > 1 else []
    exec("\n".join((f"def init({', '.join(parameters)}):", *lines, " return None")), known)  # noqa: S102 - as dataclasses do
    init: Callable[..., Any] = known["init"]
    types = {field.name: field.type for field in dataclasses.fields(made) if field.init}
    init.__annotations__ = types | {"return": None}
    return init


def _looks(made: Any) -> dict[str, Callable[..., Any]]:
    """Return what shows and compares objects."""
    fields = dataclasses.fields(made)
    shown = tuple(field.name for field in fields if field.repr)
    compared = _values_of(tuple(field.name for field in fields if field.compare))
    hashed = _values_of(tuple(one.name for one in fields if (one.compare if one.hash is None else one.hash)))

    @recursive_repr()
    def show(self: Any) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({said})"

    def equals(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: Any) -> int:
        return hash(hashed(self))

    return {"__repr__": show, "__eq__": equals, "__hash__": digest}


def _guards(made: Any) -> dict[str, Callable[..., Any]]:
    """Return what keeps objects as they are, and lets them travel to another process."""
    names = tuple(field.name for field in dataclasses.fields(made))

    def refuse_value(self: Any, name: str, value: Any) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_end(self: Any, name: str) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    def packed(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def unpack(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {
        "__setattr__": refuse_value, "__delattr__": refuse_end, "__getstate__": packed, "__setstate__": unpack,
    }  # fmt: skip


def _values_of(names: tuple[str, ...]) -> Callable[[Any], Any]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)
