"""A launcher that starts crawls which are bound to a node only if this process is that node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing

from ultracrawl.errors import WorkError
from ultracrawl.service.orders import CompletingLauncher, CrawlHandle, CrawlOrder
from ultracrawl.sources import Project
from ultracrawl.stores.port.node_store import KeptNode
from ultracrawl.stores.project_stores import open_nodes, source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure


class BoundLauncher:
    """Passes on orders that any process may carry out, and those for its own node; all others fail."""

    def __init__(self, local: CompletingLauncher, project: Callable[[], Project], own: str) -> None:
        """`own` is the name of the node that this process is; empty for none."""
        self._local, self._project, self._own = local, project, own

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Start a crawl. Raises `UserError`, `WorkError`."""
        if order.node and order.node != self._own:
            raise await asyncio.to_thread(_refusal, self._project(), order)
        return await self._local.launch(order)

    async def complete_dead(self, order: CrawlOrder, death: str) -> CrawlHandle | None:
        """Start the completion command for a crawl that died."""
        return await self._local.complete_dead(order, death)


def _refusal(project: Project, order: CrawlOrder) -> WorkError:
    """Return why an order for another node fails here, and note it for `status`. Raises `UserError`, `StateError`."""
    with closing(open_nodes(project, read_only=True)) as store:
        node = next((node for node in store.nodes() if node.name == order.node), None)
    bound = f"the schedule {order.schedule!r}" if order.schedule else f"the source {order.source!r}"
    text = f"{bound} runs on the node {order.node!r} only, which {_state_of(node)}"
    note_failure(source_notes(project, order.source), FailureNote(time.time(), text))
    return WorkError(text)


def _state_of(node: KeptNode | None) -> str:
    if node is None:
        return "is not registered"
    if node.ended:
        return "has ended"
    if not node.alive:
        return f"has not been heard of for {-node.left:.0f} s after its lease"
    return "is draining" if node.draining else "lives; this process is another one"
