"""IPTC metadata of images (Information Interchange Model 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

from PIL import Image, IptcImagePlugin

from ultracrawl.content.converters.conversion import Sink

_NAMES = {
    (2, 25): "keywords",
    (2, 80): "author",
    (2, 90): "city",
    (2, 101): "country",
    (2, 105): "subject",
    (2, 115): "source",
    (2, 116): "rights",
    (2, 120): "description",
}
_TITLE, _DATE, _TIME = (2, 5), (2, 55), (2, 60)
_CHARSET, _UTF_8 = (1, 90), b"\x1b%G"

Records = Mapping[tuple[int, int], bytes | list[bytes]]


def read_iptc(image: Image.Image, sink: Sink) -> None:
    """Add the IPTC records of an image, if it has any."""
    records: Records = IptcImagePlugin.getiptcinfo(image) or {}  # type: ignore[arg-type]  # any file image will do
    if not records:
        return
    codec = "utf-8" if _first(records, _CHARSET) == _UTF_8 else "latin-1"
    sink.set_title(_first(records, _TITLE).decode(codec, "replace"))
    for number, name in _NAMES.items():
        sink.meta(name, *(value.decode(codec, "replace") for value in _all(records, number)))
    if "created" not in sink.metadata:
        sink.meta("created", _date(_first(records, _DATE), _first(records, _TIME)))


def _all(records: Records, number: tuple[int, int]) -> list[bytes]:
    value = records.get(number)  # Pillow has None for an empty one
    return value if isinstance(value, list) else [value or b""]


def _first(records: Records, number: tuple[int, int]) -> bytes:
    return next(iter(_all(records, number)), b"")


def _date(day: bytes, time: bytes) -> str:
    """Return `20240131` and `120000+0100` as ISO 8601; empty for an incomplete date."""
    digits, clock = day.decode("latin-1"), time.decode("latin-1")
    if len(digits) != 8 or not digits.isdigit() or "00" in (digits[4:6], digits[6:]):
        return ""
    date = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    if len(clock) < 6 or not clock[:6].isdigit():
        return date
    zone = f"{clock[6:9]}:{clock[9:11]}" if len(clock) == 11 else ""
    return f"{date}T{clock[:2]}:{clock[2:4]}:{clock[4:6]}{zone}"
