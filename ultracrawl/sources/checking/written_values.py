"""Iterates over all option values of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from ultracrawl.sources.reading.tree import OptionPath


def written_values(value: object, place: OptionPath = ()) -> Iterator[tuple[OptionPath, object]]:
    """Yield the values below a group of options, each with its path; a list is one value."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield from written_values(getattr(value, name), (*place, info.alias or name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from written_values(inner, (*place, str(name)))
    else:
        yield place, value
