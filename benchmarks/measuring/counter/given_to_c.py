"""Counts what functions in C are given that may work for long in one call: regular expressions, sorts, statements.

Only what files of the package give them is counted. A regular expression is counted by the characters that it goes
through: those up to the end of what `search` and `match` found, and all that are left otherwise. A sort is counted by
its items (`list.sort` is not seen), SQLite by its statements, each row of `executemany` apart.
"""

from __future__ import annotations

import builtins
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

CHARACTERS, ITEMS, STATEMENTS = "characters matched", "items sorted", "statements"


class Given:
    """What was given, by kind and by file. `place_of` returns the path of a file of the package, empty for another."""

    def __init__(self, place_of: Callable[[str], str]) -> None:
        self._place_of = place_of
        self.by_kind: dict[str, Counter[str]] = {kind: Counter() for kind in (CHARACTERS, ITEMS, STATEMENTS)}

    def note(self, kind: str, amount: int, frame: FrameType | None) -> None:
        """Count what a frame gives; nothing if it is not of the package."""
        if place := self.place(frame):
            self.by_kind[kind][place] += amount

    def place(self, frame: FrameType | None) -> str:
        """Return the file of the package that calls `re`, or what is counted; empty for another file."""
        while frame is not None and frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        return self._place_of(frame.f_code.co_filename) if frame is not None else ""


def count(place_of: Callable[[str], str]) -> Given:
    """Count from now on."""
    given = Given(place_of)
    _count_sorts(given)
    _count_expressions(given)
    sys.meta_path.insert(
        0,
        _Loaded(
            {
                "re2": lambda module: _count_methods(module._Regexp, given),
                "sqlite3": lambda module: _count_statements(module, given),
            }
        ),
    )
    return given


def _count_sorts(given: Given) -> None:
    sort = builtins.sorted

    def counted(items: Iterable[Any], /, *, key: Any = None, reverse: bool = False) -> list[Any]:
        found = sort(items, key=key, reverse=reverse)
        given.note(ITEMS, len(found), sys._getframe(1))
        return found

    builtins.sorted = counted


def _count_statements(module: ModuleType, given: Given) -> None:
    connect = module.connect

    def counted(*arguments: Any, **options: Any) -> Any:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(lambda _: given.note(STATEMENTS, 1, sys._getframe(1)))
        return connection

    module.connect = counted


_SCANS = ("search", "match", "fullmatch", "findall", "finditer")
_CHANGES = {"split": 0, "sub": 1, "subn": 1}
"""Methods with the place of the text among their arguments."""


class _Pattern:
    """Stands for a regular expression of `re`, whose methods cannot be replaced."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._pattern = pattern

    @property  # isinstance() asks for it
    def __class__(self) -> type:
        return re.Pattern

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def __eq__(self, other: object) -> bool:
        return self._pattern == getattr(other, "_pattern", other)

    def __hash__(self) -> int:
        return hash(self._pattern)

    def __reduce__(self) -> tuple[Any, ...]:
        return re.compile, (self.pattern, self.flags)


def _forwarded(name: str) -> Callable[..., Any]:
    return lambda self, *arguments, **options: getattr(self._pattern, name)(*arguments, **options)


for _name in (*_SCANS, *_CHANGES):
    setattr(_Pattern, _name, _forwarded(_name))


def _count_expressions(given: Given) -> None:
    _count_methods(_Pattern, given)
    compiled = re._compile

    @wraps(compiled)  # it is pickled by its name
    def counted(pattern: Any, flags: Any) -> Any:
        found = compiled(pattern, flags)
        return _Pattern(found) if type(found) is re.Pattern and given.place(sys._getframe(1)) else found

    re._compile = counted


def _count_methods(kind: type, given: Given) -> None:
    """Count the characters that the methods of a class of regular expressions go through."""
    for name in _SCANS:
        setattr(kind, name, _counted_scan(name, getattr(kind, name), given))
    for name, place in _CHANGES.items():
        setattr(kind, name, _counted_change(place, getattr(kind, name), given))


def _counted_scan(name: str, method: Callable[..., Any], given: Given) -> Callable[..., Any]:
    def counted(self: Any, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        found = method(self, string, pos, endpos)
        end = min(len(string), endpos)
        if name == "match" or (name == "search" and found):
            end = found.end() if found else pos
        given.note(CHARACTERS, max(end - pos, 0), sys._getframe(1))
        return found

    return counted


def _counted_change(place: int, method: Callable[..., Any], given: Given) -> Callable[..., Any]:
    def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        given.note(CHARACTERS, len(arguments[place]), sys._getframe(1))
        return method(self, *arguments, **options)

    return counted


class _Loaded:
    """Changes modules when they are loaded: what loads them stays as it is."""

    def __init__(self, changes: dict[str, Callable[[ModuleType], None]]) -> None:
        self._changes = changes

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: object = None) -> ModuleSpec | None:
        """Return where a module of them is, with a loader that changes it; None for any other one."""
        change = self._changes.pop(name, None)
        spec = importlib.util.find_spec(name) if change else None
        if change is None or spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_change(module: ModuleType) -> None:
            load(module)
            change(module)

        spec.loader.exec_module = load_and_change
        return spec
