"""Document attributes, search attributes and the map between them.

`SearchAttribute` (name and type), `DEFAULT_ATTRIBUTES` (the eight that always exist), `attribute_schema`
(all of an index by name). The module `mapping` has `AttributeMap` (document attributes of one source to typed
search attributes), `MappedAttributes` (its answer: values, and each `Dropped` one) and `DEFAULT_MAPPING` (what is
mapped anyway); it stands apart because the index needs the types and nothing that reads pages.
"""
