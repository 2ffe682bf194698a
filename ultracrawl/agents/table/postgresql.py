"""Values of PostgreSQL that Python's types cannot hold: they are read as texts instead of ending the listing."""

from __future__ import annotations

import json
from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextLoader

_WITHOUT_ALL_VALUES = ("date", "time", "timetz", "timestamp", "timestamptz")
"""Types with values such as `infinity`, `0044-03-15 BC` and `24:00:00`, which Python's types cannot hold."""
_JSON = ("json", "jsonb")


def read_odd_values(connection: Any) -> None:
    """Make a psycopg connection return texts for intervals, JSON, and dates and times beyond those of Python.

    A JSON list of single values is returned as a list, a JSON string as the text in it.
    """
    adapters = connection.adapters
    for name in _WITHOUT_ALL_VALUES:
        known = adapters.get_loader(adapters.types[name].oid, Format.TEXT)
        adapters.register_loader(name, _or_text(known))
    for name in _JSON:
        adapters.register_loader(name, _JsonTextLoader)
    adapters.register_loader("interval", TextLoader)


def _or_text(known: type[Any]) -> type[Loader]:
    class OrTextLoader(Loader):
        """Loads a value as `known` does, or as a text."""

        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._load = known(oid, context).load

        def load(self, data: Buffer) -> object:
            try:
                return self._load(data)
            except Exception:  # psycopg raises DataError, OverflowError or ValueError
                return bytes(data).decode()

    return OrTextLoader


class _JsonTextLoader(Loader):
    def load(self, data: Buffer) -> object:
        text = bytes(data).decode()
        if not text.lstrip().startswith(("[", '"')):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        is_flat = isinstance(value, str) or not any(isinstance(one, list | dict) for one in value)
        return value if is_flat else text
