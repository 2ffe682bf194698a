"""Which converter reads which media type, what it needs, and media types by file name."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

from ultracrawl.content.mime import ARCHIVES
from ultracrawl.errors import UserError
from ultracrawl.system.plugins import CONVERTERS as GROUP
from ultracrawl.system.plugins import Plugin, duplicate_error

logger = logging.getLogger(__name__)

_OOXML = "application/vnd.openxmlformats-officedocument"
_MACRO = "macroenabled.12"
_ODF = "application/vnd.oasis.opendocument"


class Converter(NamedTuple):
    """The reader of a family of media types; entry points of the group `ultracrawl.converters` name lists of them.

    The list is imported by whatever reads definitions, the module only by the process that converts.
    """

    module: str
    """The dotted path of its module, a `convert.ConverterModule`."""
    types: tuple[str, ...]
    """Media types in lower case; each has one converter."""
    needs: tuple[str, ...] = ()
    """Modules of other packages that have to be there."""
    install: str = ""
    """What brings them: the words after `pip install`."""
    suffixes: tuple[str, ...] = ()
    """Endings of file names, without the dot, that stand for the first type where no server names one."""


def _ours(module: str, types: tuple[str, ...], needs: tuple[str, ...] = (), extra: str = "") -> Converter:
    install = f"ultracrawl[{extra}]" if extra else ""
    return Converter(f"{__package__}.{module}", types, needs, install)


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
SEVEN_ZIP = ("application/x-7z-compressed",)
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/tiff", "image/webp")

CONVERTERS = (
    _ours("pdf", PDF, ("pypdfium2",), "convert"),
    _ours("office.office", (*WORD, *SLIDES)),
    _ours("office.spreadsheets", (*SHEETS, *EXCEL), ("python_calamine", "olefile"), "convert"),
    _ours("office.opendocument", OPEN_DOCUMENT),
    _ours("epub", EPUB),
    _ours("office.rtf", RTF, ("striprtf",), "convert"),
    _ours("office.legacy", LEGACY, ("kreuzberg", "olefile"), "convert,legacy"),
    _ours("markdown", MARKDOWN),
    _ours("tables", CSV),
    _ours("xml", XML),
    _ours("json", JSON),
    _ours("mail", MAIL),
    _ours("office.outlook", OUTLOOK, ("oxmsg", "olefile"), "convert"),
    _ours("archives.archives", ARCHIVES),
    _ours("archives.sevenzip", SEVEN_ZIP, ("py7zr",), "sevenzip"),
    _ours("images.images", IMAGES, ("PIL",), "convert"),
)

OUR_TYPES = tuple(sorted(name for converter in CONVERTERS for name in converter.types))
"""Media types that our own converters read."""

GROUPS: dict[str, tuple[str, ...]] = {
    "documents": (*PDF, *WORD, *SHEETS, *SLIDES, *LEGACY, *EXCEL, *OPEN_DOCUMENT, *RTF, *EPUB, *MARKDOWN),
    "data": (*CSV, *XML, *JSON),
    "mail": (*MAIL, *OUTLOOK),
    "archives": (*ARCHIVES, *SEVEN_ZIP),
    "images": IMAGES,
}
"""Words that stand for many media types in a definition."""


@dataclass(frozen=True, slots=True)
class ConverterTable:
    """All converters that are installed."""

    by_type: Mapping[str, Converter]
    by_suffix: Mapping[str, str]
    """Media types by endings of file names, of the converters that say them."""
    lost: tuple[str, ...]
    """A line for each plug-in that cannot be loaded, so that nobody knows what it would have read."""


def converter_table() -> ConverterTable:
    """Return what is installed. Raises `PluginError` if two plug-ins read one type."""
    return _table(GROUP.all_plugins())


@lru_cache(maxsize=4)
def _table(plugins: tuple[Plugin, ...]) -> ConverterTable:
    by_type: dict[str, Converter] = {}
    bringers: dict[str, Plugin] = {}
    lost: list[str] = []
    for plugin in plugins:
        try:
            brought = list(_converters(plugin))
        except UserError as error:
            lost.append(str(error))
            logger.warning("%s; the documents that it reads are not converted", error)
            continue
        for converter in brought:
            for name in converter.types:
                other = bringers.setdefault(name, plugin)
                if by_type.setdefault(name, converter) is not converter:
                    raise duplicate_error(f"documents of the type {name} are converted", [other, plugin])
    suffixes = {suffix: one.types[0] for one in by_type.values() for suffix in one.suffixes}
    return ConverterTable(by_type, suffixes, tuple(lost))


def _converters(plugin: Plugin) -> Iterator[Converter]:
    """Yield what a plug-in brings. Raises `UserError` if it cannot be loaded, or is something else."""
    found = plugin.load()
    listed = (found,) if isinstance(found, Converter) or not isinstance(found, Iterable) else found
    for one in listed:
        if not isinstance(one, Converter):
            raise plugin.wrong_type_error("a list of ultracrawl.content.converters.registry.Converter")
        yield one


def converter_for(media_type: str) -> Converter | None:
    """Return the converter of a media type, whether what it needs is there or not."""
    return converter_table().by_type.get(media_type)


@lru_cache(maxsize=64)
def is_there(module: str) -> bool:
    """Return whether a module of another package is installed."""
    return find_spec(module) is not None


def missing(media_type: str) -> str:
    """Return why documents of a type cannot be converted here, and what to install; empty if they can."""
    table = converter_table()
    converter = table.by_type.get(media_type)
    if converter is None:
        return "; ".join((f"there is no converter for {media_type}", *table.lost))
    if all(map(is_there, converter.needs)):
        return ""
    return (
        f"the converter for {media_type} is not installed; install it with: pip install '{converter.install}'"
    )


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
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    return _TYPES.get(suffix) or converter_table().by_suffix.get(suffix, "")
