"""Iterates over all option values of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from ultracrawl.sources.reading.tree import OptionPath


def written_values(value: object, place: OptionPath = ()) -> Iterator[tuple[OptionPath, object]]:
    """Yield the values below a group of options, each with its path; a list is one value."""
    waiting = [(place, value)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, BaseModel):
            fields = type(value).model_fields
            inner = [((*place, info.alias or name), getattr(value, name)) for name, info in fields.items()]
            waiting += reversed(inner)
        elif isinstance(value, Mapping):
            waiting += reversed([((*place, str(name)), one) for name, one in value.items()])
        else:
            yield place, value
