"""Converts a document in this process and gives what came out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink, Source
from ultracrawl.content.converters.convert import convert
from ultracrawl.content.mime import effective_type
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]


@pytest.fixture
def converted() -> Convert:
    def run(body: bytes, media_type: str = "", **limits: float) -> Conversion:
        media_type = media_type or effective_type("", body)
        sink = Sink(Budget(ConversionLimits()._replace(**limits)))
        convert(Source(body, media_type), sink)
        return sink.conversion()

    return run
