"""Document attributes, search attributes and the map between them.

`schema` has `SearchAttribute`, the defaults, and lists of values; `mapping` has `AttributeMap` (document attributes of
one source to typed search attributes). They are separate because the index needs the types, but no code that reads
pages.
"""
