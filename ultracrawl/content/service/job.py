"""Jobs of a conversion process, and their results."""

from __future__ import annotations

from typing import NamedTuple

from ultracrawl.content.converters.conversion import ConversionLimits
from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.model import Conversion, Page, StatusCode


class ProcessLimits(NamedTuple):
    """Limits enforced from outside the converter; a page has its own time limit."""

    seconds: float = 60.0
    """Seconds of processor time for one document; then the process is killed (see `system.wall_guard`)."""
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
    """Seconds of processor time for parsing; then the process is killed (see `system.wall_guard`)."""


class PageRead(NamedTuple):
    """A page was parsed."""

    page: Page


class PageLost(NamedTuple):
    """A page could not be parsed within its limits."""

    reason: str
    may_pass: bool = False
    """Whether a second attempt may help: the process met its limit on the wall, or was ended by somebody else."""


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
    may_pass: bool = False
    """As for `PageLost`."""


JobResult = Converted | NotConverted | PageRead | PageLost
