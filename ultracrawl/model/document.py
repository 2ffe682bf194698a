"""The item of the item pipelines, and the result of converting a document that is not HTML."""

from __future__ import annotations

from datetime import datetime

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model.page import Section

AttributeValue = str | float | datetime
"""A search attribute's value: string, number or date (Ultra Search 5.2)."""


@dataclass(slots=True)
class Document:
    """One document of one source on its way to the index.

    `url` is the display URL, `access_url` the fetched one. `attributes` are the document attributes as
    found (META, headers; names in lower case); the attribute pipeline fills `search_attributes`.
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
    """The principals (users, groups) that may see it, in the form that searches pass; empty: everybody."""
    sections: tuple[Section, ...] = ()
    """The sections of `text`, if it is still the text of the page."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Text and metadata of a converted document; `docs/conversion.md` lists the names in `metadata` (lower case)."""

    title: str = ""
    text: str = ""
    """All text in reading order, with white space collapsed."""
    language: str = ""
    metadata: dict[str, list[str]] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    """Targets as written in the document, each once."""
    truncated: str = ""
    """Which part was not read and why, in a few words, or empty."""
