"""New versions of documents on their way into the index, as the store retains them until they are decided about."""

from __future__ import annotations

import json
from typing import Any

from ultracrawl.dataclass import dataclass, fields, replace
from ultracrawl.index import IndexDocument
from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.run.page_links import pack_links, unpack_links
from ultracrawl.run.results import FetchResult, PageResult
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry

_HEX = frozenset({"checksum", "links", "fingerprint", "sketch", "parts"})


@dataclass(frozen=True, slots=True)
class NewVersion:
    """What a visit found out about a page, without the document itself."""

    depth: int = 0
    display_url: str = ""
    status: int = 200
    size: int = 0
    etag: str = ""
    last_modified: str = ""
    media_type: str = ""
    truncated: str = ""
    checksum: bytes = b""
    links: bytes = b""
    fingerprint: bytes = b""
    sketch: bytes = b""
    preference: int = 1
    hides_text: bool = False
    expires: bool = False
    unrendered: tuple[str, str, str] = ("", "", "")
    related: dict[str, list[str]] | None = None
    description_ends: float = 0.0
    canonical: str = ""
    language: str = ""
    waits_for_others: bool = False
    """Whether it waits until the change guard has decided; otherwise for the page that it names."""
    page_links: list[Any] | None = None
    """Its links, not followed yet."""
    live: bool = False
    parts: bytes = b""

    @classmethod
    def of(cls, visit: Visit, *, waits_for_others: bool = False) -> NewVersion:
        """Return the version that a visit found."""
        links = visit.deferred_links
        fetch, page, why = visit.fetch, visit.page, visit.page.unrendered
        return cls(
            visit.depth, visit.entry.display_url, fetch.status, fetch.size, fetch.etag, fetch.last_modified,
            fetch.media_type, fetch.truncated, visit.checksum, visit.links, page.fingerprint, page.sketch,
            page.preference, page.hides_text, page.expires, (why.code.value, why.subject, why.detail),
            {name: list(urls) for name, urls in page.related.items()}, page.description_ends,
            page.canonical, page.language, waits_for_others, pack_links(links) if links is not None else None,
            page.live, page.parts,
        )  # fmt: skip

    def visit(self, key: int, record: UrlRecord) -> Visit:
        """Return a visit that goes on from here, without a request."""
        code, subject, detail = self.unrendered
        links = unpack_links(self.page_links) if self.page_links is not None else None
        return Visit(
            QueueEntry(key, record.url, site_of(record.url), self.depth, 0, display_url=self.display_url),
            record,
            without_request=True,
            revived=True,
            fetch=FetchResult(
                status=self.status,
                size=self.size,
                etag=self.etag,
                last_modified=self.last_modified,
                media_type=self.media_type,
                truncated=self.truncated,
            ),
            checksum=self.checksum,
            page=PageResult(
                fingerprint=self.fingerprint,
                sketch=self.sketch,
                preference=self.preference,
                hides_text=self.hides_text,
                expires=self.expires,
                unrendered=Cause(CauseCode(code), subject, detail) if code else NO_CAUSE,
                related=self.related or {},
                description_ends=self.description_ends,
                canonical=self.canonical,
                language=self.language,
                live=self.live,
                parts=self.parts,
            ),
            links=self.links,
            deferred_links=links,
        )

    def accepted(self, record: UrlRecord) -> UrlRecord:
        """Return the record of a document whose new version a person lets into the index.

        If its links have not been followed, the next visit reads it again; if scripts made it, that opens it again.
        """
        changed = replace(
            record,
            depth=self.depth,
            display_url=self.display_url,
            outcome=UrlOutcome.MODIFIED if record.searchable else UrlOutcome.NEW,
            status_code=StatusCode.OK,
            cause=NO_CAUSE,
            etag="" if self.live else self.etag,
            last_modified="" if self.live else self.last_modified,
            checksum=self.checksum,
            links=self.links or record.links,
            fingerprint=self.fingerprint,
            sketch=self.sketch,
            preference=self.preference,
            language=self.language,
            submitted=True,
            indexed=False,
            removal=None,
            failed_runs=0,
        )
        return without_validators(changed) if self.page_links and self.page_links[0] else changed


def pack_version(version: NewVersion, key: int, document: IndexDocument) -> bytes:
    """Return a version and its document in the form of the state store."""
    values = {field.name: getattr(version, field.name) for field in fields(version)}
    values |= {name: values[name].hex() for name in _HEX}
    return json.dumps(values).encode() + b"\n" + pack_document(key, document)


def unpack_version(data: bytes) -> tuple[NewVersion, IndexDocument] | None:
    """Return version and document of `pack_version`; None if another version of the program wrote them."""
    head, _, packed = data.partition(b"\n")
    document = unpack_document(packed)
    if document is None:
        return None
    values: dict[str, Any] = json.loads(head)
    values |= {name: bytes.fromhex(values[name]) for name in _HEX & values.keys()}
    values["unrendered"] = tuple(values["unrendered"])
    return NewVersion(**values), document
