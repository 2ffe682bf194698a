"""Converters for documents that are not HTML: bytes become a `model.Conversion`, without network and disk.

`registry` maps media types to converters and reports missing packages. `convert` converts a `Source` into a `Sink`,
within the `Budget` of its `ConversionLimits` (`conversion`). Converters are modules named by entry points; they are
imported when needed, and run in separate processes (`ultracrawl.content.service`).
"""
