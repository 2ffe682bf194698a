"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes).
"""

from ultracrawl.state.sqlite import SqliteState
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = ["QueueEntry", "RunMark", "SqliteState", "StateCounts", "StateStore"]
