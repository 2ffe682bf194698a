"""What images say about themselves: EXIF, XMP and text chunks. Pixels are not read."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

from PIL import ExifTags, Image, ImageFile, UnidentifiedImageError

from ultracrawl.converters.convert import Source
from ultracrawl.converters.dates import exif_date
from ultracrawl.converters.errors import ConversionError
from ultracrawl.converters.properties import DUBLIN_CORE
from ultracrawl.converters.sink import Sink
from ultracrawl.converters.xmlstream import attribute, local, stream_xml

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
_XMP = re.compile(rb"<x:xmpmeta.{1,200000}?</x:xmpmeta>", re.DOTALL)
_BROKEN = (OSError, ValueError, SyntaxError, KeyError, TypeError, EOFError)


def convert(source: Source, sink: Sink) -> None:
    """Read size and metadata; title, description and keywords are the text too."""
    Image.MAX_IMAGE_PIXELS = None  # nothing is decoded, so there is nothing to be afraid of
    try:
        with Image.open(io.BytesIO(source.body), formats=_FORMATS) as image:
            sink.meta("width", str(image.width))
            sink.meta("height", str(image.height))
            _read_texts(image, sink)
            _read_exif(image, sink)
    except UnidentifiedImageError:
        raise ConversionError("this is not an image that can be read") from None
    except _BROKEN as error:
        raise ConversionError(f"broken image: {error}") from None
    if packet := _XMP.search(source.body):
        stream_xml(packet[0], _Xmp(sink), sink.budget)
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
    exif = image.getexif()
    for tag, name in _EXIF.items():
        value = exif.get(tag)
        if isinstance(value, str):
            sink.meta(name, value)
    inner = exif.get_ifd(ExifTags.IFD.Exif)
    taken = inner.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)
    if isinstance(taken, str):
        sink.meta("created", exif_date(taken))


class _Xmp:
    """Reads Dublin Core of an XMP packet, whose values are items of lists."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._property = ""
        self._texts: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._texts.clear()
        if name == "description" and any(local(key) == "about" for key in attributes):
            self._sink.meta(
                "created", attribute(attributes, "createdate")
            )  # rdf:Description, not dc:description
        elif name == "title" or name in DUBLIN_CORE:
            self._property = name

    def end(self, name: str) -> None:
        value = "".join(self._texts).strip()
        self._texts.clear()
        if name == "li" and self._property == "title":
            self._sink.set_title(value)
        elif name == "li" and self._property == "subject":
            self._sink.meta("keywords", value)
        elif name == "li" and self._property:
            self._sink.meta(DUBLIN_CORE[self._property], value)
        elif name == self._property:
            self._property = ""

    def text(self, data: str) -> None:
        self._texts.append(data)
