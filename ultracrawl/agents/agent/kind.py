"""Sources of the type `agent`: the documents that an agent names, delivered or fetched over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ultracrawl.agents.agent.section import SCHEME, AgentSection
from ultracrawl.agents.port import LISTED, Entry, Failure, Fetcher, KindSetup, ListedKind, Wanted

if TYPE_CHECKING:
    from ultracrawl.agents.port import Lister


class AgentKind(ListedKind[AgentSection]):
    """Names documents by a class of somebody's own."""

    section = AgentSection
    schemes = frozenset({SCHEME})
    keeps_attributes = True
    # Documents that are not delivered are fetched from web servers, as gently as others.
    fixed: ClassVar = {name: value for name, value in LISTED.items() if name not in {"robots", "politeness"}}
    unfit: ClassVar = {
        "start_urls": "remove it: the agent names the documents",
        "start_url_files": "remove it: the agent names the documents",
        "sitemaps": "remove it: the agent names the documents",
        "feeds": "remove it: the agent names the documents",
        "depth": "remove it: links are not followed",
    }

    def check_definition(self, setup: KindSetup[AgentSection]) -> None:
        """See whether the class can be loaded, and takes the parameters. Raises `UserError`."""
        from ultracrawl.agents.agent.loading import (  # noqa: PLC0415 - as below
            check_parameters,
            load_class,
        )

        check_parameters(load_class(setup).parameters, setup)

    def make_lister(self, setup: KindSetup[AgentSection]) -> Lister:
        """Return what has the agent name documents. Raises `UserError` if its class or parameters cannot be used."""
        from ultracrawl.agents.agent.lister import AgentLister  # noqa: PLC0415 - definitions are read without it

        return AgentLister(setup)

    def make_fetcher(self, setup: KindSetup[AgentSection]) -> Fetcher:
        """Return what answers for documents that were delivered once, and are not delivered now."""
        return NothingToFetch()


class NothingToFetch(Fetcher):
    """Delivered documents come with the listing; nobody can be asked for one."""

    batch_size = 100

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return that the agent has to deliver them again."""
        return [Failure(958, "the agent delivers it when it names it the next time") for _ in wanted]


KIND = AgentKind()
