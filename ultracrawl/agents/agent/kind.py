"""The kind `agent`: documents that an agent lists, delivered by it or downloaded from web servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ultracrawl.agents import agent
from ultracrawl.agents.agent.section import SCHEME, AgentSection
from ultracrawl.agents.port import LISTED, Entry, Failure, Fetcher, KindSetup, ListedKind, Lister, Wanted


class AgentKind(ListedKind[AgentSection]):
    """Sources listed by a user-written class."""

    section = AgentSection
    schemes = frozenset({SCHEME})
    keeps_attributes = True
    # Documents that are not delivered are downloaded from web servers, with robots.txt and politeness.
    fixed: ClassVar = {name: value for name, value in LISTED.items() if name not in {"robots", "politeness"}}
    unfit: ClassVar = {
        "start_urls": "remove it: the agent names the documents",
        "start_url_files": "remove it: the agent names the documents",
        "sitemaps": "remove it: the agent names the documents",
        "feeds": "remove it: the agent names the documents",
        "depth": "remove it: links are not followed",
    }

    def check_definition(self, setup: KindSetup[AgentSection]) -> None:
        """Check that the class can be loaded and accepts the parameters. Raises `UserError`."""
        agent.check_parameters(agent.load_class(setup).parameters, setup)

    def make_lister(self, setup: KindSetup[AgentSection]) -> Lister:
        """Return the lister that calls the agent. Raises `UserError` if its class or parameters cannot be used."""
        return agent.AgentLister(setup)

    def make_fetcher(self, setup: KindSetup[AgentSection]) -> Fetcher:
        """Return a fetcher that always fails: only the agent can deliver a document, and only in a listing."""
        return FailingFetcher()


class FailingFetcher(Fetcher):
    """Fails for every document, since agents deliver documents with the listing only."""

    batch_size = 100

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return failures: the agent has to list the documents again."""
        return [Failure(958, "the agent delivers it with its next listing") for _ in wanted]


KIND = AgentKind()
