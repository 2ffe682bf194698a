"""SOIF, the Summary Object Interchange Format in which search servers of the portal's family exchange descriptions.

An object is `@TYPE { URL`, then attributes `name{size}:<tab>value`, whose size counts the bytes of the value, then
`}` (Harvest User's Manual, "SOIF"; the values of one attribute are numbered `name-1`, `name-2`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_OBJECT = re.compile(rb"@(?P<type>[\w-]+)\s*\{\s*(?P<url>\S*)[ \t]*\r?\n?")
_ATTRIBUTE = re.compile(rb"\s*(?P<name>[^\s{}:]+)\{(?P<size>\d{1,12})\}:[ \t]?")
_NUMBERED = re.compile(r"-\d+\Z")


class SoifError(ValueError):
    """A text that is no SOIF; the message names the byte."""


def read_soif(data: bytes) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield URL and fields of each object. Raises `SoifError`."""
    at = 0
    while (start := _OBJECT.search(data, at)) is not None:
        fields: dict[str, list[str]] = {}
        at = start.end()
        while (found := _ATTRIBUTE.match(data, at)) is not None:
            end = found.end() + int(found["size"])
            if end > len(data):
                raise SoifError(f"the value of {found['name'].decode(errors='replace')} ends before its size")
            name = _NUMBERED.sub("", found["name"].decode(errors="replace"))
            fields.setdefault(name, []).append(data[found.end() : end].decode(errors="replace"))
            at = end
        closing = re.compile(rb"\s*\}").match(data, at)
        if closing is None:
            raise SoifError(f"byte {at}: neither an attribute `name{{size}}:` nor the end of the object")
        at = closing.end()
        yield start["url"].decode(errors="replace"), fields


def write_soif(url: str, fields: Mapping[str, Iterable[str]], kind: str = "DOCUMENT") -> bytes:
    """Return one description as SOIF; several values of a field are numbered."""
    lines = [f"@{kind} {{ {url}".encode()]
    for name, values in fields.items():
        several = list(values)
        for number, value in enumerate(several, 1):
            label = f"{name}-{number}" if len(several) > 1 else name
            encoded = value.encode()
            lines.append(f"{label}{{{len(encoded)}}}:\t".encode() + encoded)
    return b"\n".join([*lines, b"}\n"])


def soif_fields(printed: str) -> dict[str, list[str]]:
    """Return the fields that a summarizer printed: as SOIF attributes, or as lines `name: value`."""
    data = printed.encode()
    if _ATTRIBUTE.match(data):
        objects = list(_tolerant(b"@FILE { -\n" + data + b"\n}\n"))
        return objects[0][1] if objects else {}
    fields: dict[str, list[str]] = {}
    for line in printed.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() and " " not in name.strip() and value.strip():
            fields.setdefault(name.strip().lower(), []).append(value.strip())
    return fields


def _tolerant(data: bytes) -> Iterator[tuple[str, dict[str, list[str]]]]:
    try:
        yield from read_soif(data)
    except SoifError:
        return
