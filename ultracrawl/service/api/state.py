"""The state shared by all requests: the project, the supervisor, tokens, and searching."""

from __future__ import annotations

from collections.abc import Callable

from anyio import CapacityLimiter

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import NotFoundError
from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.api.middleware.cookies import Cookies
from ultracrawl.service.api.problems import FailureLog
from ultracrawl.service.api.public_keys import PublicKeys
from ultracrawl.service.metrics.holdings import HoldingsReader
from ultracrawl.service.metrics.indexes import IndexFactsReader
from ultracrawl.service.orders import Supervision
from ultracrawl.service.searching.requests import Searching
from ultracrawl.service.statistics.recorder import QueryRecorder
from ultracrawl.sources import Catalog, DataSource, Project


@dataclass(frozen=True, slots=True)
class ApiState:
    """The state shared by all requests."""

    project_now: Callable[[], Project]
    supervisor: Supervision
    accounts: Accounts
    searching: Searching
    queries: QueryRecorder
    holdings: HoldingsReader = field(default_factory=HoldingsReader)
    indexes: IndexFactsReader = field(default_factory=IndexFactsReader)
    failures: FailureLog = field(default_factory=FailureLog)
    checking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    """For `/readyz`, which waits for no other request."""
    public_keys: PublicKeys = field(default_factory=PublicKeys)
    cookies: Cookies = field(default_factory=Cookies)
    may_save_definitions: bool = True

    @property
    def project(self) -> Project:
        """The project by the present definitions."""
        return self.project_now()

    def known_source(self, name: str) -> DataSource:
        """Return a source, valid or not. Raises `NotFoundError`."""
        source = self.project.known_sources.get(name)
        if source is None:
            raise NotFoundError(f"no source is named {name!r}")
        return source

    def valid_source(self, name: str) -> DataSource:
        """Return a source whose definition has no mistakes. Raises `NotFoundError`, `DefinitionError`."""
        self.known_source(name)
        return Catalog(self.project).find(name)
