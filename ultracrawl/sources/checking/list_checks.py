"""What types alone cannot say about lists of values: whether their attributes exist and their values fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ultracrawl.rules.attributes.schema import SearchAttribute, ValueList
from ultracrawl.rules.attributes.values import convert
from ultracrawl.sources.mistakes import listed, shown, suggestion
from ultracrawl.sources.reading.tree import PathFinding


def check_value_lists(
    lists: Iterable[ValueList], schema: Mapping[str, SearchAttribute]
) -> Iterator[PathFinding]:
    """Yield lists of attributes that do not exist, and values that do not fit the type of theirs."""
    for one in lists:
        attribute = schema.get(one.attribute)
        if attribute is None:
            problem = f"there is no search attribute `{one.attribute}`"
            otherwise = f"define it under `attributes:`, or write {listed(schema)}"
            instead = suggestion(one.attribute, schema, otherwise)
            yield PathFinding(("lists", one.attribute), problem, instead)
            continue
        for value in one.values:
            if convert(value.value, attribute.type) is None:
                problem = (
                    f"{shown(value.value)} is no {attribute.type}, and {attribute.name} holds such values"
                )
                yield PathFinding(("lists", one.attribute, value.value), problem, "correct it or remove it")
