"""The item that travels through the pipelines into the index, and what a converter makes of one that is not HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ultracrawl.model.page import Section

AttributeValue = str | float | datetime
"""A search attribute's value: string, number or date (Ultra Search 5.2)."""


@dataclass(slots=True)
class Document:
    """One document of one source on its way to the index.

    `url` is the display URL, `access_url` the one that was fetched. `attributes` are document attributes as
    found (META, headers; names in lower case); `search_attributes` is filled by the attribute pipeline.
    """

    url: str
    access_url: str
    source: str
    title: str = ""
    text: str = ""
    language: str = ""
    mimetype: str = ""
    last_modified: str = ""
    checksum: bytes = b""
    attributes: dict[str, list[str]] = field(default_factory=dict)
    search_attributes: dict[str, list[AttributeValue]] = field(default_factory=dict)
    acl: list[str] = field(default_factory=list)
    """The principals (users, groups) that may see it, as searches name them; empty: everybody may."""
    sections: tuple[Section, ...] = ()
    """The parts of `text`, as long as it is the text of the page."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Text and metadata of a document; `metadata` has the names that `docs/conversion.md` lists, in lower case."""

    title: str = ""
    text: str = ""
    """All text in reading order, white space folded."""
    language: str = ""
    metadata: dict[str, list[str]] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    """Targets as written in the document, each once."""
    truncated: str = ""
    """What was left unread and why, in a few words, or empty."""
