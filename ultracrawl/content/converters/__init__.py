"""Documents that are not HTML: bytes become a `model.Conversion`, without network and disk.

`converter_for` and `missing` say which converter a media type has and what it lacks, `converter_table` which types have
one, `GROUPS` gives names to groups of them. `convert` reads a `Source` into a `Sink`, which keeps to a `Budget` made of
`ConversionLimits`; it raises `ConversionError`. The converters themselves are modules that entry points name, imported
when they are needed: they are meant to run in a process of their own (`ultracrawl.content.service`).
"""
