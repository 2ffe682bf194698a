"""Converter for Word and PowerPoint documents of before 2007, with kreuzberg."""

from __future__ import annotations

import kreuzberg

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.ole import read_ole


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, links and text."""
    read_ole(source.body, sink)
    config = kreuzberg.ExtractionConfig(use_cache=False)
    try:
        result = kreuzberg.extract_bytes_sync(source.body, source.media_type, config=config)
    except kreuzberg.KreuzbergError as error:
        raise ConversionError(f"this is not a document that can be read: {error}") from None
    sink.add(result.content)
