"""The conformance kit of agents: what a crawl takes for granted of one, as tests that authors run over their own.

    from ultracrawl.agents.testing import AgentSuite

    class TestMyAgent(AgentSuite):
        agent_class = MyAgent
        parameters = {"url": "http://127.0.0.1:8000/"}
        wrong_parameters = {"url": "http://127.0.0.1:1/"}

A test whose hook is not written is skipped. The agent is called as in a crawl: in a thread, in the order of the port.
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

FETCHABLE = frozenset({"http", "https", "ftp"})
MOST = 10_000
"""Documents after which a listing is not looked at further."""


class AgentCrawl:
    """One crawl as the agent sees it: opened, started, asked, stopped."""

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
        """Start a crawl; returns whether the agent names changes alone."""
        smart = bool(self._thread.call_agent(self._agent.is_delta_crawling_capable))
        self._thread.call_agent(self._agent.start_crawling, force, since)
        self._started = True
        return smart

    def named(self, most: int = MOST) -> list[UrlData]:
        """Return the documents that are named, each acknowledged; at most so many."""
        found: list[UrlData] = []
        while len(found) < most:
            one = self._thread.call_agent(self._agent.fetch)
            if one is None:
                break
            assert isinstance(one, UrlData), f"fetch() has to return UrlData or None, not {one!r}"
            found.append(one)
            self._thread.call_agent(self._agent.received, one)
        return found

    def lists(self) -> AttributeLovs:
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
    """Tests of an agent; subclass it as `Test…`, and say which and of what."""

    agent_class: type[CrawlerAgent]
    parameters: Mapping[str, Any] = MappingProxyType({})
    """What the agent is opened with, of a source that has documents. A fixture may set it."""
    wrong_parameters: Mapping[str, Any] | None = None
    """What it cannot be opened with, or cannot name documents with: a server that is not there, a wrong password."""
    call_timeout: float = 60.0

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
        """Give a new agent that is open for as long as the block lasts."""
        given = self.parameters if parameters is None else parameters
        crawl = AgentCrawl(self.agent_class(), given, self.call_timeout)
        try:
            yield crawl
        finally:
            crawl.end_crawl()

    def documents(self, since: datetime | None = None, *, force: bool = False) -> dict[str, UrlData]:
        """Return what a crawl is told, by display URL."""
        with self.crawl() as crawl:
            crawl.start(since, force=force)
            return {one.display_url: one for one in crawl.named()}

    def is_smart(self) -> bool:
        """Return whether the agent names changes alone."""
        with self.crawl() as crawl:
            return crawl.start()

    # ---- tests

    def test_parameters_are_declared(self) -> None:
        """A source may say what the tests say, and nothing that is required is missing."""
        declared = {one.name: one for one in self.agent_class.parameters}
        assert set(self.parameters) <= set(declared), "declare every parameter in `parameters` of the class"
        missing = [one.name for one in declared.values() if one.required and one.name not in self.parameters]
        assert not missing, f"required parameters are missing: {missing}"
        assert all(one.description for one in declared.values()), "describe every parameter"

    def test_it_opens_and_closes_without_being_asked(self) -> None:
        """After an interruption an agent may be opened, and asked for nothing."""
        with self.crawl():
            pass
        with self.crawl() as crawl:
            crawl.start()

    def test_it_names_documents_and_comes_to_an_end(self) -> None:
        """`fetch` returns None at the end."""
        with self.crawl() as crawl:
            crawl.start()
            found = crawl.named()
            assert found, "the source of the tests has to have documents"
            assert len(found) < MOST, f"fetch() has not returned None after {MOST} documents"

    def test_display_urls_are_urls_and_unique(self) -> None:
        """The second document of a display URL is not stored (956), one without a scheme cannot be shown (1010)."""
        with self.crawl() as crawl:
            crawl.start()
            urls = [one.display_url for one in crawl.named() if not one.deleted]
        assert [url for url in urls if not urlsplit(url).scheme] == [], "display URLs have to be absolute"
        assert len(urls) == len(set(urls)), "display URLs have to be unique in a source"

    def test_documents_are_delivered_or_can_be_fetched(self) -> None:
        """What is not delivered is fetched, which needs an address of the web."""
        for one in self.documents().values():
            url = one.access_url or one.display_url
            if not (one.delivered or one.deleted):
                assert urlsplit(url).scheme in FETCHABLE, f"{url}: deliver `text` or `body`, or give a URL"

    def test_it_says_the_same_of_an_unchanged_source(self) -> None:
        """What is said of a document must not change with the time, else each is indexed again in every run."""
        assert self.documents(force=True) == self.documents(force=True)

    def test_an_interrupted_listing_begins_anew(self) -> None:
        """The next agent gets the same time and names everything again, also what was acknowledged."""
        whole = set(self.documents())
        with self.crawl() as crawl:
            crawl.start()
            crawl.named(1)
        assert set(self.documents()) == whole

    def test_force_asks_for_everything(self) -> None:
        """With `force_recrawl` a time does not matter."""
        assert set(self.documents(_now(), force=True)) == set(self.documents())

    def test_a_smart_agent_names_nothing_if_nothing_changed(self) -> None:
        """What has not changed since the time stays out."""
        if not self.is_smart():
            pytest.skip("it is no smart agent")
        assert self.documents(_now()) == {}

    def test_a_change_is_named(self) -> None:
        """A changed document is named by the same URL, and says something else or is fetched."""
        before, since = self.documents(), _now()
        url = self.change_document()
        after = self.documents(since if self.is_smart() else None)
        assert url in after
        assert not after[url].delivered or after[url] != before.get(url)

    def test_a_deletion_is_told(self) -> None:
        """A smart agent names what is gone as `deleted`; another one names it no more."""
        since = _now()
        url = self.delete_document()
        after = self.documents(since if self.is_smart() else None)
        assert after[url].deleted if self.is_smart() else url not in after

    def test_lists_of_values_have_values(self) -> None:
        """Lists are of attributes by name, and no value or name is empty."""
        with self.crawl() as crawl:
            lists = crawl.lists().lists
        for name, values in lists.items():
            assert name, "a list needs the name of its attribute"
            assert all(values), f"a value of {name} is empty"

    def test_what_fails_is_told_in_a_line(self) -> None:
        """A source that cannot be read raises, so that nothing is taken for gone; an empty listing would delete all."""
        if self.wrong_parameters is None:
            pytest.skip("wrong_parameters is not written")
        with pytest.raises(WorkError):
            self._list_wrongly(self.wrong_parameters)

    def _list_wrongly(self, parameters: Mapping[str, Any]) -> None:
        with self.crawl(parameters) as crawl:
            crawl.start()
            crawl.named()


def _now() -> datetime:
    """Return the begin of the second that begins next, when it has begun: many sources know no less of a time."""
    begun = int(time.time())
    while int(time.time()) == begun:
        time.sleep(0.02)
    return datetime.fromtimestamp(int(time.time()), UTC)
