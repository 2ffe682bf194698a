"""Document attributes, search attributes and the map between them.

`SearchAttribute` (name and type), `DEFAULT_ATTRIBUTES` (the eight that always exist), `attribute_schema`
(all of an index by name), `AttributeMap` (document attributes of one source to typed search attributes),
`MappedAttributes` (its answer: values, and each `Dropped` one), `DEFAULT_MAPPING` (what is mapped anyway).
"""

from ultracrawl.attributes.mapping import DEFAULT_MAPPING, AttributeMap, Dropped, MappedAttributes
from ultracrawl.attributes.schema import DEFAULT_ATTRIBUTES, AttributeType, SearchAttribute, attribute_schema

__all__ = [
    "DEFAULT_ATTRIBUTES",
    "DEFAULT_MAPPING",
    "AttributeMap",
    "AttributeType",
    "Dropped",
    "MappedAttributes",
    "SearchAttribute",
    "attribute_schema",
]
