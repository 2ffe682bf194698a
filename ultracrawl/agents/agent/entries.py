"""Converts documents of an agent into entries of a listing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from urllib.parse import quote

from ultracrawl.agents.agent.crawler_agent import AttributeValue, UrlData
from ultracrawl.agents.agent.section import SCHEME
from ultracrawl.agents.port import Entry, attribute_texts

_MAX_KEY_LENGTH = 1_500
_PLAIN_TEXT = "text/plain; charset=utf-8"


def entry_of(document: UrlData, source: str) -> Entry:
    """Return the entry of a document."""
    if document.deleted:
        return _deletion(document, source)
    fetched = document.access_url or document.display_url
    entry = Entry(
        _delivered_url(document.doc_key or fetched, source) if document.delivered else fetched,
        document.display_url,
        key="" if document.delivered else document.doc_key,
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
    return _with_body(entry, document) if document.delivered else entry


def _deletion(document: UrlData, source: str) -> Entry:
    """Return the entry of a deleted document, which may have been delivered or downloaded."""
    names = dict.fromkeys(filter(None, (document.doc_key, document.access_url, document.display_url)))
    delivered = [_delivered_url(name, source) for name in names]
    urls = (document.doc_key and delivered[0], document.access_url, *delivered)
    first, *others = dict.fromkeys(filter(None, urls))
    return Entry(
        first,
        document.display_url or document.access_url,
        key=document.doc_key,
        deleted=True,
        also=tuple(others),
    )


def _delivered_url(name: str, source: str) -> str:
    """Return the access URL of a delivered document with this key, or with this URL if it has no key."""
    return f"{SCHEME}://{source}/{_key(name)}"


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
