"""Documents of an agent as entries of a listing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from urllib.parse import quote

from ultracrawl.agents.agent.crawler_agent import AttributeValue, UrlData
from ultracrawl.agents.agent.section import SCHEME
from ultracrawl.agents.port import Entry, attribute_texts

_LONGEST = 1_500
_TEXT = "text/plain; charset=utf-8"


def entries_of(document: UrlData, source: str) -> Iterator[Entry]:
    """Yield a document of a source as an entry. One that is gone may have been delivered or fetched: that is two."""
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
    """Return the entry of a delivered document; it is unchanged as long as all that the agent gives is."""
    body = document.body or document.text.encode()
    content_type = document.content_type if document.body else _TEXT
    entry = replace(entry, content_type=content_type)
    said = hashlib.sha256(repr(sorted(asdict(entry).items())).encode())
    said.update(body)
    return replace(entry, body=body, validators=said.hexdigest())


def _key(text: str) -> str:
    """Return what stands for a key in an access URL."""
    quoted = quote(text, safe="")
    if len(quoted) > _LONGEST or not text.strip("."):
        return hashlib.sha256(text.encode()).hexdigest()
    return quoted


def _as_values(value: AttributeValue | Sequence[AttributeValue]) -> Sequence[AttributeValue]:
    return [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
