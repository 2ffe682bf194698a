"""Converts documents of an agent into entries of a listing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from urllib.parse import quote

from ultracrawl.agents.agent.crawler_agent import AttributeValue, UrlData
from ultracrawl.agents.agent.section import SCHEME
from ultracrawl.agents.port import Entry, attribute_texts

_MAX_KEY_LENGTH = 1_500
_PLAIN_TEXT = "text/plain; charset=utf-8"


def entries_of(document: UrlData, source: str) -> Iterator[Entry]:
    """Yield the entry of a document; for a deleted one two, as it may have been delivered or downloaded before."""
    delivered = f"{SCHEME}://{source}/{_key(document.doc_key or document.access_url or document.display_url)}"
    fetched = document.access_url or document.display_url
    if document.deleted:
        for url in (delivered, fetched):
            if url:
                yield Entry(url, document.display_url, deleted=True)
        return
    entry = Entry(
        delivered if document.delivered else fetched,
        document.display_url,
        title=document.title,
        language=document.language,
        attributes={
            name.lower(): attribute_texts(*_as_values(value)) for name, value in document.attributes.items()
        },
        acl=tuple(document.acl),
        owner=document.owner,
        owner_format=document.owner_format,
        reads_metadata=document.parse_doc,
    )
    yield _with_body(entry, document) if document.delivered else entry


def _with_body(entry: Entry, document: UrlData) -> Entry:
    """Return the entry of a delivered document; its validators are a hash of all fields and the body."""
    body = document.body or document.text.encode()
    content_type = document.content_type if document.body else _PLAIN_TEXT
    entry = replace(entry, content_type=content_type)
    digest = hashlib.sha256(repr(sorted(asdict(entry).items())).encode())
    digest.update(body)
    return replace(entry, body=body, validators=digest.hexdigest())


def _key(text: str) -> str:
    """Return a key quoted for an access URL, or its hash if it is too long or only dots."""
    quoted = quote(text, safe="")
    if len(quoted) > _MAX_KEY_LENGTH or not text.strip("."):
        return hashlib.sha256(text.encode()).hexdigest()
    return quoted


def _as_values(value: AttributeValue | Sequence[AttributeValue]) -> Sequence[AttributeValue]:
    return [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
