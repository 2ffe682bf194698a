"""SOIF, the Summary Object Interchange Format of the portal search servers.

An object is `@TYPE { URL`, then attributes `name{size}:<tab>value` with the size of the value in bytes, then
`}` (Harvest User's Manual, "SOIF"; several values of one attribute are numbered `name-1`, `name-2`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from mmap import mmap

_OBJECT = re.compile(
    rb"\s*@(?P<type>[\w-]{1,64})\s*\{[ \t]*"
    rb"(?:(?P<url>[^\s}]\S{0,8191})[ \t]*\r?\n|(?P<short>[^\s{}]{0,8192})[ \t]*\r?\n?)"
)
"""A URL that ends its line may contain braces."""
_ATTRIBUTE = re.compile(rb"\s*(?P<name>[^\s{}:]{1,256})\{(?P<size>\d{1,12})\}:[ \t]?")
_CLOSING = re.compile(rb"\s*\}")
_REST = re.compile(rb"\s*\Z")
_AFTER_VALUE = frozenset(b"\r\n}")
_BLANK = re.compile(r"\s")
_NUMBERED = re.compile(r"-\d+\Z")
MAX_FIELDS = 10_000
"""Maximum number of attributes of one object."""
MAX_VALUE_BYTES = 64 << 20
"""Maximum size of one value in bytes."""

SoifData = bytes | mmap
"""A text in SOIF; map large files, so that only one object at a time takes memory."""


class SoifError(ValueError):
    """A text that is not valid SOIF; the message names line and byte."""


def read_soif(data: SoifData) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield URL and fields of each object in order. Raises `SoifError` at the first mistake."""
    at = 0
    while _REST.match(data, at) is None:
        start = _OBJECT.match(data, at)
        if start is None:
            raise _error(data, at, "no object begins here; write `@DOCUMENT { URL`")
        fields, at = _fields(data, start.end())
        yield (start["url"] or start["short"] or b"").decode(errors="replace"), fields


def _fields(data: SoifData, at: int) -> tuple[dict[str, list[str]], int]:
    """Read the attributes of one object; return them and the position after it."""
    fields: dict[str, list[str]] = {}
    number = 0
    while (match := _ATTRIBUTE.match(data, at)) is not None:
        label = match["name"].decode(errors="replace")
        size, begin = int(match["size"]), match.end()
        number += 1
        if number > MAX_FIELDS or size > MAX_VALUE_BYTES:
            raise _error(data, match.start(), f"too much: {MAX_FIELDS} attributes of 64 MB are the most")
        if begin + size > len(data):
            raise _error(data, match.start(), f"the value of {label} ends before its size of {size} bytes")
        at = begin + size
        if at < len(data) and data[at] not in _AFTER_VALUE:
            raise _error(data, at, f"the value of {label} goes on behind its size of {size} bytes")
        fields.setdefault(_NUMBERED.sub("", label), []).append(data[begin:at].decode(errors="replace"))
    closing = _CLOSING.match(data, at)
    if closing is None:
        raise _error(data, at, "neither an attribute `name{size}:` nor the end of the object")
    return fields, closing.end()


def _error(data: SoifData, at: int, problem: str) -> SoifError:
    line = data[:at].count(b"\n") + 1
    return SoifError(f"line {line}, byte {at}: {problem}")


def write_soif(url: str, fields: Mapping[str, Iterable[str]], kind: str = "DOCUMENT") -> bytes:
    """Return one description as SOIF; several values of a field are numbered, as is a name that ends in `-1`."""
    lines = [f"@{kind} {{ {_BLANK.sub(_escaped, url)}".encode()]
    for name, values in fields.items():
        field_values = list(values)
        numbered = len(field_values) > 1 or _NUMBERED.search(name) is not None
        for number, value in enumerate(field_values, 1):
            label = f"{name}-{number}" if numbered else name
            encoded = value.encode(errors="replace")
            lines.append(f"{label}{{{len(encoded)}}}:\t".encode() + encoded)
    return b"\n".join([*lines, b"}\n"])


def _escaped(blank: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in blank[0].encode())


def soif_fields(printed: str) -> dict[str, list[str]]:
    """Parse the output of a summarizer: SOIF attributes, or lines `name: value`."""
    data = printed.encode()
    if _ATTRIBUTE.match(data):
        objects = list(_read_tolerantly(b"@FILE { -\n" + data + b"\n}\n"))
        return objects[0][1] if objects else {}
    fields: dict[str, list[str]] = {}
    for line in printed.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() and " " not in name.strip() and value.strip():
            fields.setdefault(name.strip().lower(), []).append(value.strip())
    return fields


def _read_tolerantly(data: bytes) -> Iterator[tuple[str, dict[str, list[str]]]]:
    try:
        yield from read_soif(data)
    except SoifError:
        return
