"""Makes Scrapy responses and documents of the entries of listers and fetchers."""

from __future__ import annotations

from email.utils import formatdate

from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from ultracrawl.agents.entry_texts import content_key
from ultracrawl.agents.port import Entry
from ultracrawl.content.file_names import media_type_of
from ultracrawl.model import Document
from ultracrawl.rules.recrawl.change import checksum

_RECIPE_LENGTH = 8


def entry_headers(url: str, entry: Entry, recipe: str) -> dict[bytes, bytes]:
    """Return the response headers for the document of an entry, as a web server would send them."""
    values = {
        b"Content-Type": entry.content_type or media_type_of(url),
        b"ETag": stored_validators(entry, recipe),
        b"Last-Modified": formatdate(entry.last_modified, usegmt=True) if entry.last_modified else "",
    }
    return {name: value.encode() for name, value in values.items() if value}


def entry_response(url: str, entry: Entry, recipe: str) -> Response:
    """Return the response with the document of an entry."""
    headers, body = entry_headers(url, entry, recipe), entry.body or b""
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    return kind(url, status=200, headers=headers, body=body)


def stored_validators(entry: Entry, recipe: str) -> str:
    """Return the validators of an entry in the form in which URL records store them; empty if it has none.

    They change with the recipe of the source too. So a document that another recipe made is made anew when it is
    listed, even if that happens several runs later because the listings were partial.
    """
    if not entry.validators:
        return ""
    return f"{entry.validators.encode('ascii', 'backslashreplace').decode()} {recipe[:_RECIPE_LENGTH]}"


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
