"""Makes Scrapy responses and documents of the entries of listers and fetchers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from ultracrawl.agents.entry_texts import content_key
from ultracrawl.agents.port import Entry
from ultracrawl.content.file_names import media_type_of
from ultracrawl.model import Document
from ultracrawl.model.dates import http_date
from ultracrawl.rules.access.readers import NOBODY, is_typed
from ultracrawl.rules.recrawl.change import checksum

if TYPE_CHECKING:
    from ultracrawl.sources import DataSource

_RECIPE_LENGTH = 8


def entry_headers(url: str, entry: Entry, validators: str) -> dict[bytes, bytes]:
    """Return the response headers for the document of an entry, as a web server would send them."""
    values = {
        b"Content-Type": entry.content_type or media_type_of(url),
        b"ETag": validators,
        b"Last-Modified": http_date(entry.last_modified) if entry.last_modified else "",
    }
    return {name: value.encode() for name, value in values.items() if value}


def entry_response(url: str, entry: Entry, validators: str) -> Response:
    """Return the response with the document of an entry, and its validators in their stored form."""
    headers, body = entry_headers(url, entry, validators), entry.body or b""
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    return kind(url, status=200, headers=headers, body=body)


class StoredValidators:
    """Makes the form of the validators of entries in which URL records store them; empty for an entry without any.

    They change with the recipe of the source too. So a document that another recipe made is made anew when it is
    listed, even if that happens several runs later because the listings were partial. Where readers are derived, a mark
    of those in the index follows, which earlier versions did not have.
    """

    def __init__(self, source: DataSource, recipe: str) -> None:
        self._source = source
        self._recipe = recipe[:_RECIPE_LENGTH]

    def of(self, entry: Entry) -> str:
        """Return the stored form of today."""
        content = self.of_content(entry)
        readers = self.readers_of(entry) if self._source.derives_readers and content else ()
        if not readers:
            return content
        return (
            f"{content} {checksum(repr(sorted(readers)).encode('utf-8', 'replace')).hex()[:_RECIPE_LENGTH]}"
        )

    def of_content(self, entry: Entry) -> str:
        """Return the stored form without readers, which is also that of earlier versions."""
        if not entry.validators:
            return ""
        return f"{entry.validators.encode('ascii', 'backslashreplace').decode()} {self._recipe}"

    def readers_of(self, entry: Entry) -> tuple[str, ...]:
        """Return the readers by which the index knows the document of an entry."""
        return self._source.indexed_readers(entry.acl, entry.access_url)


def entry_of_today(entry: Entry, source: DataSource) -> Entry:
    """Return a stored entry; it is for nobody if an earlier version derived its readers, of which none has a type.

    Else the index would take them for names that people wrote, and show a file of a user to the group of that name.
    """
    if not source.derives_readers or all(name == NOBODY or is_typed(name) for name in entry.acl):
        return entry
    return replace(entry, acl=(NOBODY,))


def describe(document: Document, entry: Entry) -> None:
    """Set the title, attributes, owner and access list of a document from its entry."""
    if not entry.reads_metadata:
        document.title, document.attributes = "", {}
    document.title = entry.title or document.title or entry.name
    document.language = entry.language or document.language
    document.attributes.update({name.lower(): list(values) for name, values in entry.attributes.items()})
    if entry.owner:
        document.attributes["owner"] = [entry.owner]
    document.acl = list(entry.acl)


def content_checksum(entry: Entry | None, body: bytes, recipe: str) -> bytes:
    """Return the checksum of a document together with the metadata of its entry and the recipe of the source."""
    metadata = b"" if entry is None else content_key(entry).encode()
    return checksum(recipe.encode() + metadata + body)
