"""What is asked of a conversion process, and what it can answer."""

from __future__ import annotations

from typing import NamedTuple

from ultracrawl.content.converters.conversion import ConversionLimits
from ultracrawl.content.reader import AnswerHead, PageReader
from ultracrawl.model import Conversion, Page, StatusCode


class ProcessLimits(NamedTuple):
    """Bounds that are kept from outside the converter; a page has a time of its own."""

    seconds: float = 60.0
    """Wall-clock time of one document; then the process is killed."""
    memory: int = 1 << 30
    """Bytes of address space of the process."""


class Job(NamedTuple):
    """One document to convert."""

    body: bytes
    media_type: str
    content_type: str = ""
    default_charset: str = ""
    limits: ConversionLimits = ConversionLimits()


class PageJob(NamedTuple):
    """One page that is too large to be read while everything else waits."""

    body: bytes
    url: str
    media_type: str
    head: AnswerHead
    reader: PageReader
    seconds: float
    """Wall-clock time that reading it may take; then the process is killed."""


class PageRead(NamedTuple):
    """A page was read."""

    page: Page


class PageLost(NamedTuple):
    """A page could not be read within its bounds."""

    reason: str


class Converted(NamedTuple):
    """A document was converted, if need be in part."""

    conversion: Conversion


class NotConverted(NamedTuple):
    """A document could not be converted, or not to its end."""

    status: StatusCode
    """`CONVERSION_FAILED` if the converter refused it, `CONVERTER_MISSING` if it broke its converter."""
    reason: str
    partial: Conversion | None = None
    """What was read until then, if that was anything."""


Answer = Converted | NotConverted | PageRead | PageLost
