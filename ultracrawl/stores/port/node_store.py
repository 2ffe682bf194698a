"""Interface of the store of nodes: which machines crawl the sources of a project, and which node runs what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleStore


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node tells of itself when it registers and with each renewal."""

    host: str
    program: str
    """The version of ultracrawl."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """The digest of each source as it compiles it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The digest of each definition file, by its place in the project."""
    capabilities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was found on its machine: `browser`, `converters`, `mounts`."""
    reason: str = ""
    """Why it drains, if nobody has ordered that."""
    place: str = ""
    """The name of its document caches; what waits there is left to it as long as it lives."""


@dataclass(frozen=True, slots=True)
class KeptNode:
    """A node as the store knows it."""

    name: str
    facts: NodeFacts
    schema: int
    """The version of the tables that its program reads and writes."""
    draining: bool
    """Whether an administrator let it finish what it runs and take nothing new."""
    ended: bool
    """Whether it ended by itself, and not by a lease that ran out."""
    left: float
    """Seconds until its lease ends, by the clock of the store; 0 or less: it is over."""
    plans: tuple[str, ...] = ()
    """Keys of the plans that it runs."""
    sources: tuple[str, ...] = ()
    """The sources of these plans."""

    @property
    def alive(self) -> bool:
        """Whether its lease lasts."""
        return self.left > 0 and not self.ended


@dataclass(frozen=True, slots=True)
class NodeWork:
    """What a node looks at to find out what to run."""

    nodes: Sequence[KeptNode]
    kept: Mapping[str, KeptSchedule]
    """The stored states of plans, by key."""
    ordered: Collection[str]
    """Keys of plans for which an order of a person waits."""
    crawled: frozenset[str]
    """Sources that a process on any machine is crawling."""
    released: Mapping[str, str] = field(default_factory=dict)
    """The digests with which nodes may crawl sources; empty until the first release: then any will do."""


class NodeStore(ScheduleStore, Protocol):
    """The nodes of a project, and its schedules as one node may write them: only those of plans that it holds.

    All times are those of the clock of the store. A node is known by its token, a random text; one opened without a
    token can only look and give orders. Every method raises `StateError`.
    """

    def register_node(self, name: str, facts: NodeFacts, seconds: float) -> None:
        """Be the node of this name for so many seconds. Raises `UserError` if another process is."""

    def renew_node(self, facts: NodeFacts, seconds: float) -> bool:
        """Be it for so many seconds from now on; returns False if another process took the name over."""

    def end_node(self) -> None:
        """Give everything back, and stay known as a node that has ended."""

    def nodes(self) -> list[KeptNode]:
        """Return all nodes, by name."""

    def node_work(self) -> NodeWork:
        """Return what there is to do, and by whom; of the facts of nodes only host and program are known then."""

    def release(self, digests: Mapping[str, str], files: Mapping[str, str]) -> None:
        """Let nodes crawl these sources with these digests only, which were made from files with those digests."""

    def released(self) -> Mapping[str, str]:
        """Return the released digest of each source; empty until the first release."""

    def released_files(self, source: str) -> Mapping[str, str]:
        """Return the digests of the files from which the release of a source was made; empty if there is none."""

    def take_plan(self, key: str, sources: Sequence[str]) -> bool:
        """Hold a plan; returns False if another node holds it whose lease lasts, or if this one is draining."""

    def give_back(self, keys: Collection[str]) -> None:
        """Hold these plans no more."""

    def drain_node(self, name: str) -> bool:
        """Have a node take nothing new; returns False if there is none of this name."""

    def remove_node(self, name: str) -> bool:
        """Forget a node; returns False if there is none of this name. Raises `UserError` if it lives."""
