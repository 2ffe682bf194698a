"""Jobs of a conversion process, and their results."""

from __future__ import annotations

from typing import NamedTuple

from ultracrawl.content.converters.conversion import ConversionLimits
from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.model import Conversion, Page, StatusCode


class ProcessLimits(NamedTuple):
    """Limits enforced from outside the converter; a page has its own time limit."""

    seconds: float = 60.0
    """Wall-clock seconds for one document; then the process is killed."""
    memory: int = 1 << 30
    """Address space of the process in bytes."""


class Job(NamedTuple):
    """One document to convert."""

    body: bytes
    media_type: str
    content_type: str = ""
    default_charset: str = ""
    limits: ConversionLimits = ConversionLimits()


class PageJob(NamedTuple):
    """One large page to parse."""

    body: bytes
    url: str
    media_type: str
    head: PageHeaders
    reader: PageReader
    seconds: float
    """Wall-clock seconds for parsing; then the process is killed."""


class PageRead(NamedTuple):
    """A page was parsed."""

    page: Page


class PageLost(NamedTuple):
    """A page could not be parsed within its limits."""

    reason: str


class Converted(NamedTuple):
    """A document was converted, possibly in part."""

    conversion: Conversion


class NotConverted(NamedTuple):
    """A document could not be converted completely."""

    status: StatusCode
    """`CONVERSION_FAILED` if the converter refused it, `CONVERTER_MISSING` if it crashed its converter."""
    reason: str
    partial: Conversion | None = None
    """The part converted before, if any."""


JobResult = Converted | NotConverted | PageRead | PageLost
