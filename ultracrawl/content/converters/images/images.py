"""Converter for images: EXIF, IPTC, XMP and text chunks. Pixels are not decoded."""

from __future__ import annotations

import io
from collections.abc import Mapping

from PIL import ExifTags, Image, ImageFile, IptcImagePlugin, UnidentifiedImageError

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.images.xmp import read_xmp
from ultracrawl.model.dates import exif_date

_FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "WEBP")
_EXIF = {
    ExifTags.Base.ImageDescription: "description",
    ExifTags.Base.Artist: "author",
    ExifTags.Base.Copyright: "rights",
    ExifTags.Base.Software: "application",
    ExifTags.Base.Make: "camera_make",
    ExifTags.Base.Model: "camera",
}
_TEXT_CHUNKS = {
    "author": "author",
    "description": "description",
    "comment": "description",
    "copyright": "rights",
    "software": "application",
    "source": "source",
}
_BROKEN = (OSError, ValueError, SyntaxError, KeyError, TypeError, EOFError)


def convert(source: Source, sink: Sink) -> None:
    """Add size and metadata; title, description and keywords are the text as well."""
    Image.MAX_IMAGE_PIXELS = None  # no pixels are decoded, so huge images are harmless
    try:
        with Image.open(io.BytesIO(source.body), formats=_FORMATS) as image:
            sink.meta("width", str(image.width))
            sink.meta("height", str(image.height))
            _read_texts(image, sink)
            _read_exif(image, sink)
            read_iptc(image, sink)
    except UnidentifiedImageError:
        raise ConversionError("this is not an image that can be read") from None
    except _BROKEN as error:
        raise ConversionError(f"broken image: {error}") from None
    read_xmp(source.body, sink)
    for text in (sink.title, *sink.metadata.get("description", ()), *sink.metadata.get("keywords", ())):
        sink.add(text)


def _read_texts(image: ImageFile.ImageFile, sink: Sink) -> None:
    for name, value in image.info.items():
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if not isinstance(name, str) or not isinstance(text, str):
            continue
        if name.lower() == "title":
            sink.set_title(text)
        elif name.lower() in _TEXT_CHUNKS:
            sink.meta(_TEXT_CHUNKS[name.lower()], text)


def _read_exif(image: Image.Image, sink: Sink) -> None:
    exif = Image.Image.getexif(image)  # the method of PNG images would decode the pixels first
    for tag, name in _EXIF.items():
        value = exif.get(tag)
        if isinstance(value, str):
            sink.meta(name, _repaired(value))
    inner = exif.get_ifd(ExifTags.IFD.Exif)
    taken = inner.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)
    if isinstance(taken, str):
        sink.meta("created", exif_date(taken))


def _repaired(text: str) -> str:
    """Return an EXIF text correctly if it is UTF-8; Pillow decodes it as Latin-1."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


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
    """Return `20240131` and `120000+0100` as ISO 8601; texts that are no date as they are."""
    digits, clock = day.decode("latin-1"), time.decode("latin-1")
    if len(digits) != 8 or not digits.isdigit() or "00" in (digits[4:6], digits[6:]):
        return f"{digits} {clock}".strip()
    date = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    if len(clock) < 6 or not clock[:6].isdigit():
        return date
    zone = f"{clock[6:9]}:{clock[9:11]}" if len(clock) == 11 else ""
    return f"{date}T{clock[:2]}:{clock[2:4]}:{clock[4:6]}{zone}"
