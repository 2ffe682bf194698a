"""Converter for JSON, JSON-LD and JSON lines: all strings and numbers in document order."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source

_TITLES = ("title", "name", "headline")
_NAMES = {"description": "description", "author": "author", "subject": "subject", "version": "version"}

Value = dict[str, "Value"] | list["Value"] | str | int | float | bool | None


def convert(source: Source, sink: Sink) -> None:
    """Add all names and values; `title`, `name` or `headline` at the top level is the title."""
    text, _ = decode(source.body, source.content_type, source.default_charset)
    if source.media_type == "application/x-ndjson":
        for line in text.splitlines():
            sink.budget.check_time()
            _read(_parse(line), sink) if line.strip() else None
        return
    value = _parse(text)
    if isinstance(value, dict):
        _read_top(value, sink)
    _read(value, sink)


def _parse(text: str) -> Value:
    try:
        value: Value = json.loads(text, parse_int=str)  # a number may have any length
    except RecursionError:
        raise ConversionError("the JSON is nested too deep") from None
    except ValueError as error:
        raise ConversionError(f"broken JSON: {error}") from None
    return value


def _read_top(value: dict[str, Value], sink: Sink) -> None:
    for name in _TITLES:
        if isinstance(title := value.get(name), str):
            sink.set_title(title)
    for name, our_name in _NAMES.items():
        if isinstance(text := value.get(name), str):
            sink.meta(our_name, text)


def _read(value: Value, sink: Sink) -> None:
    for text in _texts(value):
        sink.add(text)
        if text.startswith(("http://", "https://")):
            sink.absolute_links([text.strip()])


def _texts(value: Value) -> Iterator[str]:
    """Yield names and values without recursion."""
    stack: list[Value] = [value]
    while stack:
        match stack.pop():
            case dict() as fields:
                for name, inner in reversed(fields.items()):
                    stack += (inner, name)
            case list() as values:
                stack += reversed(values)
            case bool() | None:
                pass
            case scalar:
                yield str(scalar)
