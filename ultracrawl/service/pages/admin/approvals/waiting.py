"""What waits for the word of a person: held deletions, held new versions, and documents for approval, with previews."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ultracrawl.errors import StateError
from ultracrawl.index.values import unpack_document
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.service.approval import revision_of, revision_of_one, waiting_records
from ultracrawl.service.held_back import CHANGES, DELETIONS
from ultracrawl.stores import Retained, Store
from ultracrawl.stores.project_stores import state_to_read

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.service.access.requester import Requester
    from ultracrawl.service.api.state import ApiState

SHOWN = 50
"""Documents of each kind and source that are listed."""
_WORTH_GROUPING = 5
"""Documents of a source from which on they are listed by folders."""
_PREVIEW = 400
"""Characters of a text that are shown."""


class WaitingDocument(NamedTuple):
    """A document that waits."""

    record: UrlRecord
    cause: str = ""
    title: str = ""
    text: str = ""
    """The beginning of its new text; empty if it has none, or the requester may not see it."""

    @property
    def choice(self) -> str:
        """What a form sends to choose it as it was shown: its own revision, and its URL."""
        return f"{revision_of_one(self.record)} {self.record.url}"


class WaitingSource(NamedTuple):
    """What waits of one source."""

    name: str
    deletions: list[WaitingDocument]
    changes: list[WaitingDocument]
    approvals: list[WaitingDocument]
    counts: dict[str, int]
    """The numbers of `deletions`, `changes` and `approvals`, listed or not."""
    revisions: dict[str, str]
    """The revisions of all of them, listed or not."""
    page: int = 1
    """Which part of them is listed, `SHOWN` of each kind."""
    problem: str = ""
    """Why its state cannot be read."""

    @property
    def last_page(self) -> int:
        """The last part that has any."""
        return max(1, -(-max(self.counts.values(), default=0) // SHOWN))

    @property
    def groups(self) -> list[tuple[str, list[WaitingDocument]]]:
        """The listed documents for approval by their folder, the first one below the host; one without name if few."""
        found = dict[str, list[WaitingDocument]]()
        for one in self.approvals:
            found.setdefault(folder_of(one.record.shown_url), []).append(one)
        if len(self.approvals) < _WORTH_GROUPING or not 1 < len(found) < len(self.approvals):
            return [("", self.approvals)]
        return list(found.items())


def folder_of(url: str) -> str:
    """Return a URL up to its first folder, as https://a.example/guide/; of a page beside the folders up to its host."""
    parts = urlsplit(url)
    first, slash, _ = parts.path.lstrip("/").partition("/")
    return f"{parts.scheme}://{parts.netloc}/{first + slash if slash else ''}"


def waiting_sources(
    state: ApiState, requester: Requester, only: str = "", page: int = 1
) -> list[WaitingSource]:
    """Return the sources of which something waits, or the one with this name; of long lists the part `page`.

    If there are fewer parts, it is the last one. Raises `NotFoundError` for no source.
    """
    names = [state.known_source(only).name] if only else list(state.project.known_sources)
    found = []
    for name in names:
        numbers = state.holdings.holdings_of(state.project, name).numbers
        if not (numbers["leaving"] or numbers["held_back"] or numbers["pending"]):
            continue
        try:
            with state_to_read(state.project, name) as store:
                if store is not None:
                    found.append(_of_source(name, store, requester, page))
        except StateError as error:
            found.append(WaitingSource(name, [], [], [], {}, {}, problem=str(error)))
    return found


def _of_source(name: str, store: Store, requester: Requester, page: int) -> WaitingSource:
    leaving, held, pending = (
        list(store.records.records_to_remove()),
        list(store.records.held_records()),
        waiting_records(store),
    )
    all_of = {"deletions": leaving, "changes": held, "approvals": pending}
    counts = {part: len(records) for part, records in all_of.items()}
    revisions = {part: revision_of(records) for part, records in all_of.items()}
    found = WaitingSource(name, [], [], [], counts, revisions)
    page = min(page, found.last_page)
    listed = slice((page - 1) * SHOWN, page * SHOWN)
    return found._replace(
        deletions=[WaitingDocument(one, DELETIONS.cause_of(one)) for one in leaving[listed]],
        changes=[
            _previewed(one, CHANGES.cause_of(one), _held(store, one), requester) for one in held[listed]
        ],
        approvals=[_previewed(one, one.reason, _pending(store, one), requester) for one in pending[listed]],
        page=page,
    )


def _held(store: Store, record: UrlRecord) -> IndexDocument | None:
    data = store.documents.retained_document(Retained.CHANGE, url_key(record.url))
    with suppress(KeyError, TypeError, ValueError):  # another version of the program wrote it
        found = unpack_version(data) if data else None
        return found[1] if found is not None else None
    return None


def _pending(store: Store, record: UrlRecord) -> IndexDocument | None:
    data = store.documents.retained_document(Retained.APPROVAL, url_key(record.url))
    return unpack_document(data) if data else None


def _previewed(
    record: UrlRecord, cause: str, document: IndexDocument | None, requester: Requester
) -> WaitingDocument:
    """Return a document, with the beginning of its text where the requester may see it for sure."""
    if document is None or not requester.finds_in(document.source):
        return WaitingDocument(record, cause)
    if document.acl and requester.principals is not None:  # its readers are not known here
        return WaitingDocument(record, cause)
    return WaitingDocument(record, cause, document.title, document.text[:_PREVIEW])
