"""`dataclass` of the standard library, except that the methods of a class are made when they are first used.

The standard library compiles up to six methods of a class while its module is imported. That took a sixth of a short
command, which uses few of its classes, and of those seldom more than `__init__`. Fields, slots, `replace`, `asdict` and
what type checkers see are those of the standard library; it also makes each class that derives from another dataclass.
"""

from __future__ import annotations

import dataclasses
import reprlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, MISSING, FrozenInstanceError, asdict, field, fields, replace
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "asdict", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """Return the class as a dataclass; the options are those of the standard library."""
        if cls is None:
            return lambda decorated: dataclass(decorated, frozen=frozen, slots=slots, eq=eq)
        if any(map(dataclasses.is_dataclass, cls.__mro__[1:])):
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=eq)
        written = {name for name, value in vars(cls).items() if value is not None}
        # Without one, the standard library looks for the signature of an `__init__` that is not there yet.
        cls.__doc__ = cls.__doc__ or cls.__name__
        made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots)
        methods = {"__init__": _FirstUse(made, _init), "__repr__": _FirstUse(made, _repr)}
        if eq:
            methods |= {
                "__eq__": _FirstUse(made, _eq),
                "__hash__": _FirstUse(made, _hash) if frozen else None,
            }
        if frozen:
            methods |= _guards(made)
            if slots:
                methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            if name not in written:
                setattr(made, name, method)
        options = made.__dataclass_params__
        options.init = options.repr = True
        options.eq, options.frozen = eq, frozen
        return made


class _FirstUse:
    """Stands for a method of a class until it is first looked up."""

    def __init__(self, made: type, make: Callable[[Any], Callable[..., Any]]) -> None:
        self._made = made
        self._make = make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._make(self._made)
        setattr(self._made, method.__name__, method)
        return method.__get__(instance, owner)


class _Unset:
    """The default of a parameter whose field has a `default_factory`."""

    def __repr__(self) -> str:
        return "<factory>"


_UNSET = _Unset()


def _init(made: Any) -> Callable[..., None]:
    positional, keyword, lines = ["self"], ["*"], []
    given: dict[str, Any] = {"dataclass_set": object.__setattr__, "dataclass_unset": _UNSET}
    frozen = made.__dataclass_params__.frozen
    for one in fields(made):
        name, default = one.name, f"dataclass_{one.name}"
        parameter = value = name
        if one.default_factory is not MISSING:
            given[default] = one.default_factory
            parameter = f"{name}=dataclass_unset"
            value = f"{default}() if {name} is dataclass_unset else {name}" if one.init else f"{default}()"
        elif one.default is not MISSING:
            given[default] = one.default
            parameter = f"{name}={default}"
            value = name if one.init else default
        elif not one.init:
            continue
        if one.init:
            (keyword if one.kw_only else positional).append(parameter)
        lines.append(f"dataclass_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = positional + (keyword if len(keyword) > 1 else [])
    method = _compiled(made, "__init__", parameters, lines or ["pass"], given)
    method.__annotations__ = {one.name: one.type for one in fields(made) if one.init} | {"return": None}
    return method


def _repr(made: Any) -> Callable[..., str]:
    shown = ", ".join(f"{one.name}={{self.{one.name}!r}}" for one in fields(made) if one.repr)
    text = f'return f"{{self.__class__.__qualname__}}({shown})"'
    return reprlib.recursive_repr()(_compiled(made, "__repr__", ["self"], [text], {}))


def _eq(made: Any) -> Callable[..., bool]:
    compared = [one.name for one in fields(made) if one.compare]
    lines = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {_values(compared, 'self')} == {_values(compared, 'other')}",
    ]
    return _compiled(made, "__eq__", ["self", "other"], lines, {})


def _hash(made: Any) -> Callable[..., int]:
    hashed = [one.name for one in fields(made) if (one.compare if one.hash is None else one.hash)]
    return _compiled(made, "__hash__", ["self"], [f"return hash({_values(hashed, 'self')})"], {})


def _values(names: Iterable[str], owner: str) -> str:
    return f"({''.join(f'{owner}.{name},' for name in names)})"


def _compiled(
    made: type, name: str, parameters: Iterable[str], lines: Iterable[str], given: dict[str, Any]
) -> Callable[..., Any]:
    """Return a method of a class by its text, which may use the given values by name."""
    body = "\n  ".join(lines)
    text = f"def make({', '.join(given)}):\n def {name}({', '.join(parameters)}):\n  {body}\n return {name}"
    found: dict[str, Any] = {}
    exec(text, vars(sys.modules[made.__module__]), found)  # noqa: S102 - as the standard library does
    method: Callable[..., Any] = found["make"](**given)
    method.__qualname__ = f"{made.__qualname__}.{name}"
    return method


def _guards(made: Any) -> dict[str, Callable[..., None]]:
    names = frozenset(made.__dataclass_fields__)

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
