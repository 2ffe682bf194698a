"""Document attributes, search attributes and the map between them.

`SearchAttribute` (name and type), `DEFAULT_ATTRIBUTES` (the eight that always exist), `AttributeMap` (document
attributes of one source to typed search attributes).
"""

from ultracrawl.attributes.mapping import AttributeMap
from ultracrawl.attributes.schema import DEFAULT_ATTRIBUTES, AttributeType, SearchAttribute, attribute_schema

__all__ = ["DEFAULT_ATTRIBUTES", "AttributeMap", "AttributeType", "SearchAttribute", "attribute_schema"]
