"""The conformance tests for agents: authors subclass `AgentSuite` to test that their agent keeps to the interface.

    from ultracrawl.agents.testing import AgentSuite

    class TestMyAgent(AgentSuite):
        agent_class = MyAgent
        parameters = {"url": "http://127.0.0.1:8000/"}
        wrong_parameters = {"url": "http://127.0.0.1:1/"}

A test whose hook is not overridden is skipped. The agent is called as in a crawl: in a thread, in the same order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import pytest

from ultracrawl.agents import AttributeLovs, CrawlerAgent, UrlData
from ultracrawl.agents.agent.session import AgentThread
from ultracrawl.errors import WorkError

FETCHABLE_SCHEMES = frozenset({"http", "https", "ftp"})
MAX_DOCUMENTS = 10_000
"""Number of documents at which reading a listing stops."""


class AgentCrawl:
    """The calls that an agent gets in one crawl: open, start, fetch, stop, close."""

    def __init__(self, agent: CrawlerAgent, parameters: Mapping[str, Any], timeout: float) -> None:
        self._agent = agent
        self._thread = AgentThread(type(agent).__qualname__, timeout)
        self._started = False
        try:
            self._thread.call_agent(agent.open, parameters)
        except WorkError:
            self._thread.end_thread()
            raise

    def start(self, since: datetime | None = None, *, force: bool = False) -> bool:
        """Start a crawl; returns whether the agent lists only changes."""
        smart = bool(self._thread.call_agent(self._agent.is_delta_crawling_capable))
        self._thread.call_agent(self._agent.start_crawling, force, since)
        self._started = True
        return smart

    def fetch_documents(self, limit: int = MAX_DOCUMENTS) -> list[UrlData]:
        """Return and acknowledge the documents that the agent lists, at most `limit`."""
        documents: list[UrlData] = []
        while len(documents) < limit:
            document = self._thread.call_agent(self._agent.fetch)
            if document is None:
                break
            assert isinstance(document, UrlData), f"fetch() has to return UrlData or None, not {document!r}"
            documents.append(document)
            self._thread.call_agent(self._agent.received, document)
        return documents

    def attribute_lovs(self) -> AttributeLovs:
        """Return the lists of values of the agent."""
        lovs = AttributeLovs()
        self._thread.call_agent(self._agent.get_attribute_lovs, lovs)
        return lovs

    def end_crawl(self) -> None:
        """Stop the crawl, and close the agent."""
        try:
            if self._started:
                self._thread.call_agent(self._agent.stop_crawling)
            self._thread.call_agent(self._agent.close)
        finally:
            self._thread.end_thread()


class AgentSuite:
    """Tests of an agent; subclass it as `Test…`, and set `agent_class` and `parameters`."""

    agent_class: type[CrawlerAgent]
    parameters: Mapping[str, Any] = MappingProxyType({})
    """Parameters of the agent, for a source that has documents. A fixture may set them."""
    wrong_parameters: Mapping[str, Any] | None = None
    """Parameters with which opening or listing has to fail: an unreachable server, a wrong password."""
    call_timeout: float = 60.0
    """Seconds that a call of the agent may take."""

    # ---- to be overridden

    def change_document(self) -> str:
        """Change a document of the source, and return its display URL."""
        pytest.skip("change_document() is not written")

    def delete_document(self) -> str:
        """Delete a document of the source, and return its display URL."""
        pytest.skip("delete_document() is not written")

    # ---- how an agent is used

    @contextmanager
    def crawl(self, parameters: Mapping[str, Any] | None = None) -> Iterator[AgentCrawl]:
        """Open a new agent for the duration of the block."""
        given = self.parameters if parameters is None else parameters
        crawl = AgentCrawl(self.agent_class(), given, self.call_timeout)
        try:
            yield crawl
        finally:
            crawl.end_crawl()

    def documents(self, since: datetime | None = None, *, force: bool = False) -> dict[str, UrlData]:
        """Return the documents that a crawl lists, by display URL."""
        return {document.display_url: document for document in self.listing(since, force=force)}

    def listing(self, since: datetime | None = None, *, force: bool = False) -> list[UrlData]:
        """Return what a crawl lists, in order."""
        with self.crawl() as crawl:
            crawl.start(since, force=force)
            return crawl.fetch_documents()

    def is_smart(self) -> bool:
        """Return whether the agent lists only changes."""
        with self.crawl() as crawl:
            return crawl.start()

    # ---- tests

    def test_parameters_are_declared(self) -> None:
        """All parameters of the tests are declared and described, and no required one is missing."""
        declared = {parameter.name: parameter for parameter in self.agent_class.parameters}
        assert set(self.parameters) <= set(declared), "declare every parameter in `parameters` of the class"
        missing = [name for name in declared if declared[name].required and name not in self.parameters]
        assert not missing, f"required parameters are missing: {missing}"
        assert all(parameter.description for parameter in declared.values()), "describe every parameter"

    def test_opens_and_closes_without_fetching(self) -> None:
        """After an interruption an agent may be opened or started without being called for documents."""
        with self.crawl():
            pass
        with self.crawl() as crawl:
            crawl.start()

    def test_lists_documents_and_ends(self) -> None:
        """`fetch` returns documents, then None."""
        with self.crawl() as crawl:
            crawl.start()
            documents = crawl.fetch_documents()
            assert documents, "the source of the tests has to have documents"
            assert len(documents) < MAX_DOCUMENTS, (
                f"fetch() has not returned None after {MAX_DOCUMENTS} documents"
            )

    def test_display_urls_are_urls_and_unique(self) -> None:
        """A second document with the same display URL is not stored (956); a URL without a scheme is invalid (1010)."""
        with self.crawl() as crawl:
            crawl.start()
            urls = [document.display_url for document in crawl.fetch_documents() if not document.deleted]
        assert [url for url in urls if not urlsplit(url).scheme] == [], "display URLs have to be absolute"
        assert len(urls) == len(set(urls)), "display URLs have to be unique in a source"

    def test_documents_are_delivered_or_can_be_fetched(self) -> None:
        """A document that is not delivered is downloaded, so it needs a web URL."""
        for document in self.documents().values():
            url = document.access_url or document.display_url
            if not (document.delivered or document.deleted):
                assert urlsplit(url).scheme in FETCHABLE_SCHEMES, (
                    f"{url}: deliver `text` or `body`, or give a URL"
                )

    def test_unchanged_source_lists_equal_documents(self) -> None:
        """Documents of an unchanged source stay equal, else each is indexed again in every run."""
        assert self.documents(force=True) == self.documents(force=True)

    def test_interrupted_listing_starts_again(self) -> None:
        """The next agent gets the same time and lists everything again, acknowledged documents included."""
        whole = set(self.documents())
        with self.crawl() as crawl:
            crawl.start()
            crawl.fetch_documents(1)
        assert set(self.documents()) == whole

    def test_force_lists_everything(self) -> None:
        """With `force_recrawl` the time of the last crawl is ignored."""
        assert set(self.documents(_now(), force=True)) == set(self.documents())

    def test_smart_agent_lists_nothing_if_nothing_changed(self) -> None:
        """Documents unchanged since the last crawl are not listed."""
        if not self.is_smart():
            pytest.skip("it is no smart agent")
        assert self.documents(_now()) == {}

    def test_change_is_listed(self) -> None:
        """A changed document is listed with the same URL, and either has other content or is to be fetched."""
        before, since = self.documents(), _now()
        url = self.change_document()
        after = self.documents(since if self.is_smart() else None)
        assert url in after
        assert not after[url].delivered or after[url] != before.get(url)

    def test_deletion_is_listed(self) -> None:
        """A smart agent lists a deleted document as `deleted`; other agents do not list it any more.

        The deletion has the key, the access URL or the display URL with which the document was listed.
        """
        before, since = self.documents(), _now()
        url = self.delete_document()
        after = self.listing(since if self.is_smart() else None)
        existing = {document.display_url for document in after if not document.deleted}
        assert url not in existing, f"{url} is listed as if it were not deleted"
        if self.is_smart():
            deletions = [document for document in after if document.deleted]
            known = before.get(url, UrlData(url))
            assert any(_is_named(known, deletion) for deletion in deletions), (
                f"no deletion has the key, the access URL or the display URL of {url}"
            )

    def test_lists_of_values_have_values(self) -> None:
        """Lists of values have an attribute name and no empty values."""
        with self.crawl() as crawl:
            lists = crawl.attribute_lovs().lists
        for name, values in lists.items():
            assert name, "a list needs the name of its attribute"
            assert all(values), f"a value of {name} is empty"

    def test_unreadable_source_raises(self) -> None:
        """A source that cannot be read raises an error: an empty listing would delete all documents."""
        if self.wrong_parameters is None:
            pytest.skip("wrong_parameters is not written")
        with pytest.raises(WorkError):
            self._list_with(self.wrong_parameters)

    def _list_with(self, parameters: Mapping[str, Any]) -> None:
        with self.crawl(parameters) as crawl:
            crawl.start()
            crawl.fetch_documents()


def _is_named(known: UrlData, deletion: UrlData) -> bool:
    """Return whether a deletion names a document, as a crawl finds it."""
    if known.doc_key and deletion.doc_key:
        return known.doc_key == deletion.doc_key
    if known.access_url and deletion.access_url:
        return known.access_url == deletion.access_url
    return known.display_url == deletion.display_url


def _now() -> datetime:
    """Wait for the next full second and return it: many sources store times in seconds."""
    started = int(time.time())
    while int(time.time()) == started:
        time.sleep(0.02)
    return datetime.fromtimestamp(int(time.time()), UTC)
