"""Has an agent name the documents of a source (Ultra Search 8.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from time import monotonic

from ultracrawl.agents.agent.crawler_agent import AgentError, AttributeLovs, UrlData
from ultracrawl.agents.agent.entries import entries_of
from ultracrawl.agents.agent.loading import load_agent, parameter_values
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.agents.agent.session import AgentThread
from ultracrawl.agents.port import Batch, Complete, KindSetup, Listed, Lister
from ultracrawl.rules.attributes.schema import ListedValue, ValueList

MOST_DOCUMENTS = 100
MOST_BYTES = 4 << 20
LONGEST = 1.0
"""Seconds that a document waits for others, so that what a slow agent names does not."""


class AgentLister(Lister):
    """Calls an agent in the order that its methods tell of; it is opened by the first thing that is asked of it."""

    def __init__(self, setup: KindSetup[AgentSection]) -> None:
        """Load the class. Raises `UserError`, also for parameters that it cannot be given."""
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
        """Yield what the agent names, in its order; a listing has no place to go on from but its beginning."""
        thread = self._opened()
        smart = bool(thread.call_agent(self._agent.is_delta_crawling_capable))
        begun = datetime.fromtimestamp(self._setup.clock(), UTC).isoformat()
        self._start(thread, since)
        named: Iterator[object] = iter(lambda: thread.call_agent(self._agent.fetch), None)
        while documents := self._next_documents(named):
            self._unacknowledged.append(documents)
            yield Batch([entry for one in documents for entry in entries_of(one, self._setup.source.name)])
        yield Complete(begun, changes_only=smart)

    def resume_queued(self, since: str) -> None:
        """Start the agent, and ask it for nothing (Ultra Search 8.4)."""
        self._start(self._opened(), since)

    def received(self, batch: Batch) -> None:
        """Acknowledge the documents of the oldest batch that is not acknowledged yet."""
        thread = self._opened()
        for one in self._unacknowledged.popleft():
            thread.call_agent(self._agent.received, one)

    def credential_for(self, host: str, realm: str, url: str) -> tuple[str, str] | None:
        """Return what the agent has for a server that asks."""
        found = self._opened().call_agent(self._agent.get_credential, host, realm, url)
        if found is None:
            return None
        if not (isinstance(found, tuple) and len(found) == 2):
            raise AgentError(
                f"the agent {self._name} failed in get_credential(): it returned no user and password"
            )
        return str(found[0]), str(found[1])

    def value_lists(self) -> Sequence[ValueList]:
        """Return the lists that the agent has."""
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

    def _next_documents(self, named: Iterator[object]) -> Sequence[UrlData]:
        """Return documents that are named within a short time; none: there are no more."""
        documents: list[UrlData] = []
        size, until = 0, monotonic() + LONGEST
        for found in named:
            if not isinstance(found, UrlData):
                what = f"it returned {type(found).__name__}, not UrlData"
                raise AgentError(f"the agent {self._name} failed in fetch(): {what}")
            documents.append(found)
            size += len(found.body) + len(found.text)
            if len(documents) >= MOST_DOCUMENTS or size >= MOST_BYTES or monotonic() > until:
                break
        return documents
