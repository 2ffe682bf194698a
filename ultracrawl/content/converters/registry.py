"""Which converter reads which media type, what it needs, and media types by file name."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

_OOXML = "application/vnd.openxmlformats-officedocument"
_MACRO = "macroenabled.12"
_ODF = "application/vnd.oasis.opendocument"


class Converter(NamedTuple):
    """The reader of a family of media types."""

    module: str
    """Its module in this package; it has `convert(source, sink)`."""
    types: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """Modules of other packages that have to be there."""
    extra: str = ""
    """The extras of this project that bring them."""


_SLIDE_KINDS = ("presentation", "slideshow", "template")

WORD = (
    *(f"{_OOXML}.wordprocessingml.{kind}" for kind in ("document", "template")),
    *(f"application/vnd.ms-word.{kind}.{_MACRO}" for kind in ("document", "template")),
)
SLIDES = (
    *(f"{_OOXML}.presentationml.{kind}" for kind in _SLIDE_KINDS),
    *(f"application/vnd.ms-powerpoint.{kind}.{_MACRO}" for kind in _SLIDE_KINDS),
)
SHEETS = (
    *(f"{_OOXML}.spreadsheetml.{kind}" for kind in ("sheet", "template")),
    *(f"application/vnd.ms-excel.{kind}.{_MACRO}" for kind in ("sheet", "template", "sheet.binary")),
)
_ODF_KINDS = ("text", "spreadsheet", "presentation")
OPEN_DOCUMENT = (
    *(f"{_ODF}.{kind}{form}" for kind in (*_ODF_KINDS, "graphics") for form in ("", "-template")),
    *(f"{_ODF}.{kind}-flat-xml" for kind in _ODF_KINDS),
)
PDF = ("application/pdf", "application/x-pdf")
RTF = ("application/rtf", "text/rtf", "application/x-rtf")
EPUB = ("application/epub+zip",)
EXCEL = ("application/vnd.ms-excel",)
LEGACY = ("application/msword", "application/vnd.ms-powerpoint")
MARKDOWN = ("text/markdown", "text/x-markdown")
CSV = ("text/csv", "text/tab-separated-values")
XML = (
    "application/xml",
    "text/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/docbook+xml",
    "image/svg+xml",
)
JSON = ("application/json", "application/ld+json", "application/geo+json", "application/x-ndjson")
MAIL = ("message/rfc822", "application/mbox")
OUTLOOK = ("application/vnd.ms-outlook",)  # word: the program
ARCHIVES = (
    "application/zip",
    "application/x-zip-compressed",
    "application/x-tar",
    "application/gzip",
    "application/x-gzip",
    "application/x-bzip2",
    "application/x-xz",
)
SEVEN_ZIP = ("application/x-7z-compressed",)
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/tiff", "image/webp")

CONVERTERS = (
    Converter("pdf", PDF, ("pypdfium2",), "convert"),
    Converter("office.office", (*WORD, *SLIDES)),
    Converter("office.spreadsheets", (*SHEETS, *EXCEL), ("python_calamine", "olefile"), "convert"),
    Converter("office.opendocument", OPEN_DOCUMENT),
    Converter("epub", EPUB),
    Converter("office.rtf", RTF, ("striprtf",), "convert"),
    Converter("office.legacy", LEGACY, ("kreuzberg", "olefile"), "convert,legacy"),
    Converter("markdown", MARKDOWN),
    Converter("tables", CSV),
    Converter("xml", XML),
    Converter("json", JSON),
    Converter("mail", MAIL),
    Converter("office.outlook", OUTLOOK, ("oxmsg", "olefile"), "convert"),
    Converter("archives.archives", ARCHIVES),
    Converter("archives.sevenzip", SEVEN_ZIP, ("py7zr",), "sevenzip"),
    Converter("images.images", IMAGES, ("PIL",), "convert"),
)

_BY_TYPE = {name: converter for converter in CONVERTERS for name in converter.types}

CONVERTIBLE = frozenset(_BY_TYPE)
"""Media types that go to a converter."""

GROUPS: dict[str, tuple[str, ...]] = {
    "documents": (*PDF, *WORD, *SHEETS, *SLIDES, *LEGACY, *EXCEL, *OPEN_DOCUMENT, *RTF, *EPUB, *MARKDOWN),
    "data": (*CSV, *XML, *JSON),
    "mail": (*MAIL, *OUTLOOK),
    "archives": (*ARCHIVES, *SEVEN_ZIP),
    "images": IMAGES,
}
"""Words that stand for many media types in a definition."""


def converter_for(media_type: str) -> Converter | None:
    """Return the converter of a media type, whether what it needs is there or not."""
    return _BY_TYPE.get(media_type)


@lru_cache(maxsize=64)
def is_there(module: str) -> bool:
    """Return whether a module of another package is installed."""
    return find_spec(module) is not None


def missing(media_type: str) -> str:
    """Return why documents of a type cannot be converted here, and what to install; empty if they can."""
    converter = _BY_TYPE.get(media_type)
    if converter is None:
        return f"there is no converter for {media_type}"
    if all(map(is_there, converter.needs)):
        return ""
    install = f"pip install 'ultracrawl[{converter.extra}]'"
    return f"the converter for {media_type} is not installed; install it with: {install}"


_TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "xml": "application/xml",
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "svg": "image/svg+xml",
    "json": "application/json",
    "geojson": "application/geo+json",
    "ndjson": "application/x-ndjson",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "htm": "text/html",
    "html": "text/html",
    "xhtml": "application/xhtml+xml",
    "txt": "text/plain",
    "tar": "application/x-tar",
}


def type_of_name(name: str) -> str:
    """Return the media type that the extension of a file name stands for, or empty."""
    return _TYPES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
