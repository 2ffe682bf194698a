"""What a fetcher brings, as answers like those of web servers, so that all that follows knows what to do with them."""

from __future__ import annotations

import re
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from ultracrawl.agents.entry_texts import content_of, entry_text, read_entry
from ultracrawl.content.file_names import media_type_of
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.rules.recrawl.change import checksum

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.model import Document

ENTRY = "X-Ultracrawl-Entry"
"""The header with what lister and fetcher say of a document; it means something in sources that are listed alone."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f]+")


def entry_headers(url: str, entry: Entry) -> dict[bytes, bytes]:
    """Return the headers of the answer with the document of an entry, as a web server would send them."""
    named = {
        b"Content-Type": entry.content_type or media_type_of(url),
        b"ETag": stored_validators(entry),
        b"Last-Modified": formatdate(entry.last_modified, usegmt=True) if entry.last_modified else "",
    }
    return {name: value.encode() for name, value in named.items() if value}


def entry_response(url: str, entry: Entry) -> Response:
    """Return the answer to a visit with the document of an entry."""
    headers, body = entry_headers(url, entry), entry.body or b""
    headers[ENTRY.encode()] = entry_text(entry).encode()
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    return kind(url, status=200, headers=headers, body=body)


def with_entry(response: Response, entry: Entry) -> Response:
    """Return the answer of a web server, with what the lister says of the document."""
    response.headers[ENTRY] = entry_text(entry)
    if entry.validators:
        response.headers["ETag"] = stored_validators(entry)
    return response


def stored_validators(entry: Entry) -> str:
    """Return the validators of an entry as the record of its URL has them after a visit."""
    return entry.validators.encode("ascii", "backslashreplace").decode()


def is_display_url(text: str) -> bool:
    """Whether a text can be shown as the URL of a document."""
    return bool(_URL.fullmatch(text))


def entry_of(response: Response) -> Entry | None:
    """Return what lister and fetcher say of the document of an answer."""
    text = header_of(response, ENTRY)
    return _read(text) if text else None


@lru_cache(maxsize=128)
def _read(text: str) -> Entry:
    return read_entry(text)


def describe(document: Document, response: Response) -> None:
    """Have a document say what lister and fetcher say of it."""
    entry = entry_of(response)
    if entry is None:
        return
    if not entry.reads_metadata:
        document.title, document.attributes = "", {}
    document.title = entry.title or document.title or entry.name
    document.language = entry.language or document.language
    document.attributes.update({name.lower(): list(values) for name, values in entry.attributes.items()})
    if entry.owner:
        document.attributes["owner"] = [entry.owner]
    document.acl = list(entry.acl)


def content_checksum(response: Response) -> bytes:
    """Return the checksum of a document together with what is said of it."""
    entry = entry_of(response)
    said = b"" if entry is None else content_of(entry).encode()
    return checksum(said + response.body)
