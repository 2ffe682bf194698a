"""The registry of converters by media type, and media types by file name."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from typing import NamedTuple

from ultracrawl import __version__
from ultracrawl.content.mime import ARCHIVES
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.system.plugins import CONVERTERS as GROUP
from ultracrawl.system.plugins import Plugin, duplicate_error

logger = logging.getLogger(__name__)

_OOXML = "application/vnd.openxmlformats-officedocument"
_MACRO = "macroenabled.12"
_ODF = "application/vnd.oasis.opendocument"


class Converter(NamedTuple):
    """A converter for some media types; entry points of the group `ultracrawl.converters` name lists of these.

    The list is imported when definitions are read, the module only in the conversion process.
    """

    module: str
    """The dotted path of its module, a `convert.ConverterModule`."""
    types: tuple[str, ...]
    """Media types in lower case; each has one converter."""
    needs: tuple[str, ...] = ()
    """Required modules of other packages."""
    install: str = ""
    """The arguments of `pip install` for them."""
    suffixes: tuple[str, ...] = ()
    """File name extensions, without the dot, for the first type, for files without a declared type."""


def _built_in(module: str, types: tuple[str, ...], needs: tuple[str, ...] = (), extra: str = "") -> Converter:
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
OUTLOOK = ("application/vnd.ms-outlook",)
SEVEN_ZIP = ("application/x-7z-compressed",)
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/tiff", "image/webp")

CONVERTERS = (
    _built_in("pdf", PDF, ("pypdfium2",), "convert"),
    _built_in("office.office", (*WORD, *SLIDES)),
    _built_in("office.spreadsheets", (*SHEETS, *EXCEL), ("python_calamine", "olefile"), "convert"),
    _built_in("office.opendocument", OPEN_DOCUMENT),
    _built_in("epub", EPUB),
    _built_in("office.rtf", RTF, ("striprtf",), "convert"),
    _built_in("office.legacy", LEGACY, ("kreuzberg", "olefile"), "convert,legacy"),
    _built_in("markdown", MARKDOWN),
    _built_in("tables", CSV),
    _built_in("xml", XML),
    _built_in("json", JSON),
    _built_in("mail", MAIL),
    _built_in("office.outlook", OUTLOOK, ("oxmsg", "olefile"), "convert"),
    _built_in("archives.archives", ARCHIVES),
    _built_in("archives.sevenzip", SEVEN_ZIP, ("py7zr",), "sevenzip"),
    _built_in("images.images", IMAGES, ("PIL",), "convert"),
)

BUILT_IN_TYPES = tuple(sorted(name for converter in CONVERTERS for name in converter.types))
"""Media types of the built-in converters."""

GROUPS: dict[str, tuple[str, ...]] = {
    "documents": (*PDF, *WORD, *SHEETS, *SLIDES, *LEGACY, *EXCEL, *OPEN_DOCUMENT, *RTF, *EPUB, *MARKDOWN),
    "data": (*CSV, *XML, *JSON),
    "mail": (*MAIL, *OUTLOOK),
    "archives": (*ARCHIVES, *SEVEN_ZIP),
    "images": IMAGES,
}
"""Names for groups of media types in definitions."""


@dataclass(frozen=True, slots=True)
class ConverterTable:
    """All installed converters."""

    by_type: Mapping[str, Converter]
    by_suffix: Mapping[str, str]
    """Media types by the file name extensions of the converters."""
    load_errors: tuple[str, ...]
    """A message for each plug-in that cannot be loaded; its media types are unknown."""


def converter_table() -> ConverterTable:
    """Return the installed converters. Raises `PluginError` if two plug-ins have the same media type."""
    return _table(GROUP.all_plugins())


@lru_cache(maxsize=4)
def _table(plugins: tuple[Plugin, ...]) -> ConverterTable:
    by_type: dict[str, Converter] = {}
    plugin_by_type: dict[str, Plugin] = {}
    load_errors: list[str] = []
    for plugin in plugins:
        try:
            converters = list(_converters(plugin))
        except UserError as error:
            load_errors.append(str(error))
            logger.warning("%s; documents of its types are not converted", error)
            continue
        for converter in converters:
            for name in converter.types:
                first = plugin_by_type.setdefault(name, plugin)
                if by_type.setdefault(name, converter) is not converter:
                    raise duplicate_error(f"documents of the type {name} are converted", [first, plugin])
    by_suffix = {
        suffix: converter.types[0] for converter in by_type.values() for suffix in converter.suffixes
    }
    return ConverterTable(by_type, by_suffix, tuple(load_errors))


def _converters(plugin: Plugin) -> Iterator[Converter]:
    """Yield the converters of a plug-in. Raises `UserError` if it cannot be loaded or has another type."""
    loaded = plugin.load()
    members = (loaded,) if isinstance(loaded, Converter) or not isinstance(loaded, Iterable) else loaded
    for converter in members:
        if not isinstance(converter, Converter):
            raise plugin.wrong_type_error("a list of ultracrawl.content.converters.registry.Converter")
        yield converter


def converter_for(media_type: str) -> Converter | None:
    """Return the converter for a media type, even if packages that it needs are missing."""
    return converter_table().by_type.get(media_type)


@lru_cache(maxsize=1)
def version_of_all() -> bytes:
    """Return 8 bytes that change with the version of ultracrawl, of Python, and of the packages that convert documents.

    What could not be converted is read again when they do.
    """
    from importlib.metadata import packages_distributions, version  # noqa: PLC0415 - slow, for failures only

    plugins, names = GROUP.all_plugins(), packages_distributions()
    modules = {module.partition(".")[0] for one in converter_table().by_type.values() for module in one.needs}
    modules.update(plugin.reference.partition(".")[0] for plugin in plugins)
    packages = sorted({package for module in modules for package in names.get(module, ())})
    told = [__version__, sys.version, *(f"{package} {version(package)}" for package in packages)]
    return sha256("\n".join(told).encode()).digest()[:8]


@lru_cache(maxsize=64)
def is_installed(module: str) -> bool:
    """Return whether a module of another package is installed."""
    return find_spec(module) is not None


def missing(media_type: str) -> str:
    """Return why documents of a type cannot be converted here, and what to install; empty if they can."""
    table = converter_table()
    converter = table.by_type.get(media_type)
    if converter is None:
        return "; ".join((f"there is no converter for {media_type}", *table.load_errors))
    if all(map(is_installed, converter.needs)):
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
    """Return the media type for the extension of a file name, or empty."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    return _TYPES.get(suffix) or converter_table().by_suffix.get(suffix, "")
