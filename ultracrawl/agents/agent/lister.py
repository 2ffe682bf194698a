"""The lister of the kind `agent`: calls the agent for documents and makes entries of them (Ultra Search 8.2)."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from time import monotonic
from urllib.parse import quote

from ultracrawl.agents.agent.crawler_agent import AgentError, AttributeLovs, AttributeValue, UrlData
from ultracrawl.agents.agent.loading import load_agent, parameter_values
from ultracrawl.agents.agent.section import SCHEME, AgentSection
from ultracrawl.agents.agent.session import AgentThread
from ultracrawl.agents.port import (
    Batch,
    Complete,
    Entry,
    KindSetup,
    LeftOut,
    Listed,
    Lister,
    attribute_texts,
)
from ultracrawl.rules.attributes.schema import ListedValue, ValueList

MAX_BATCH_DOCUMENTS = 100
MAX_BATCH_BYTES = 4 << 20
MAX_BATCH_SECONDS = 1.0
"""Seconds after which a batch is returned as it is, so that documents of a slow agent do not wait for each other."""


class AgentLister(Lister):
    """Calls the methods of an agent in the documented order; opens the agent at the first call that needs it."""

    def __init__(self, setup: KindSetup[AgentSection]) -> None:
        """Load the class and check the parameters. Raises `UserError`."""
        self._setup = setup
        self._agent = load_agent(setup)
        self._agent.definition_folder = setup.base
        self._values = parameter_values(self._agent.parameters, setup)
        self._name = type(self._agent).__qualname__
        self._thread: AgentThread | None = None
        self._open = False
        self._started = False
        self._unacknowledged: deque[Sequence[UrlData]] = deque()

    def check_connection(self) -> None:
        """Open the agent."""
        self._opened()

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield the documents of the agent in its order; batches have no cursor, an agent cannot resume a listing.

        A document whose fields are wrong costs only itself.
        """
        thread = self._opened()
        smart = bool(thread.call_agent(self._agent.is_delta_crawling_capable))
        started = datetime.fromtimestamp(self._setup.clock(), UTC).isoformat()
        self._start(thread, since)
        fetched: Iterator[object] = iter(lambda: thread.call_agent(self._agent.fetch), None)
        while documents := self._next_documents(fetched):
            self._unacknowledged.append(documents)
            yield self._batch_of(documents)
        yield Complete(started, changes_only=smart)

    def _batch_of(self, documents: Sequence[UrlData]) -> Batch:
        entries, left_out = list[Entry](), list[LeftOut]()
        for document in documents:
            try:
                entries.append(entry_of(document, self._setup.source.name))
            except (TypeError, ValueError, AttributeError) as error:  # fields of other types than declared
                what = f"document that the agent {self._name} describes wrongly"
                left_out.append(LeftOut(what, f"{str(document)!a}: {type(error).__name__}: {error}"))
        return Batch(entries, left_out=left_out)

    def resume_queued(self, since: str) -> None:
        """Start the agent without fetching documents (Ultra Search 8.4)."""
        self._start(self._opened(), since)

    def received(self, batch: Batch) -> None:
        """Acknowledge the documents of the oldest unacknowledged batch."""
        thread = self._opened()
        for document in self._unacknowledged.popleft():
            thread.call_agent(self._agent.received, document)

    def credential_for(self, host: str, realm: str, url: str) -> tuple[str, str] | None:
        """Return the credential that the agent has for a server. Raises `AgentError` if it returns something else."""
        credential = self._opened().call_agent(self._agent.get_credential, host, realm, url)
        if credential is None:
            return None
        if not (isinstance(credential, tuple) and len(credential) == 2):
            raise AgentError(
                f"the agent {self._name} failed in get_credential(): it returned no user and password"
            )
        return str(credential[0]), str(credential[1])

    def value_lists(self) -> Sequence[ValueList]:
        """Return the lists of values of the agent."""
        lovs = AttributeLovs()
        if not self._opened().call_agent(self._agent.get_attribute_lovs, lovs):
            return ()
        return [
            ValueList(name, tuple(ListedValue(value, names) for value, names in values.items()))
            for name, values in lovs.lists.items()
        ]

    def close(self) -> None:
        """Stop and close the agent."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        try:
            if self._started:
                thread.call_agent(self._agent.stop_crawling)
        finally:
            try:
                if self._open:
                    thread.call_agent(self._agent.close)
            finally:
                thread.end_thread()

    def _opened(self) -> AgentThread:
        if self._thread is None:
            self._thread = AgentThread(self._name, self._setup.options.call_timeout)
        if not self._open:
            self._thread.call_agent(self._agent.open, self._values)
            self._open = True
        return self._thread

    def _start(self, thread: AgentThread, since: str) -> None:
        last = datetime.fromisoformat(since) if since else None
        thread.call_agent(self._agent.start_crawling, self._setup.force, last)
        self._started = True

    def _next_documents(self, fetched: Iterator[object]) -> Sequence[UrlData]:
        """Return the documents of the next batch; none after the last."""
        documents: list[UrlData] = []
        size, deadline = 0, monotonic() + MAX_BATCH_SECONDS
        for document in fetched:
            if not isinstance(document, UrlData):
                problem = f"it returned {type(document).__name__}, not UrlData"
                raise AgentError(f"the agent {self._name} failed in fetch(): {problem}")
            documents.append(document)
            size += len(document.body) + len(document.text)
            if len(documents) >= MAX_BATCH_DOCUMENTS or size >= MAX_BATCH_BYTES or monotonic() > deadline:
                break
        return documents


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
    body = document.body or document.text.encode("utf-8", "replace")
    content_type = document.content_type if document.body else _PLAIN_TEXT
    entry = replace(entry, content_type=content_type)
    digest = hashlib.sha256(repr(sorted(asdict(entry).items())).encode())
    digest.update(body)
    return replace(entry, body=body, validators=digest.hexdigest())


def _key(text: str) -> str:
    """Return a key quoted for an access URL, or its hash if it is too long or only dots.

    File names that are no text have surrogates, which are quoted like other characters.
    """
    quoted = quote(text, safe="", errors="surrogatepass")
    if len(quoted) > _MAX_KEY_LENGTH or not text.strip("."):
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return quoted


def _as_values(value: AttributeValue | Sequence[AttributeValue]) -> Sequence[AttributeValue]:
    return [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
