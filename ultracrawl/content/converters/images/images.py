"""Converter for images: EXIF, IPTC, XMP and text chunks. Pixels are not decoded."""

from __future__ import annotations

import io

from PIL import ExifTags, Image, ImageFile, UnidentifiedImageError

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.images.iptc import read_iptc
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
