"""Which living nodes take a plan when it is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from ultracrawl.errors import StateError
from ultracrawl.service.schedules.optimisation import all_plans
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.sources import Project
from ultracrawl.stores.port.node_store import KeptNode, NodeStore
from ultracrawl.stores.project_stores import has_nodes, open_nodes


class Takers:
    """The nodes of a project, and what was released to them, as they were when this was made."""

    def __init__(self, nodes: Sequence[KeptNode] = (), released: Mapping[str, str] | None = None) -> None:
        self._nodes = [node for node in nodes if node.alive and not node.draining]
        self._released = released or {}

    @classmethod
    def of_store(cls, store: NodeStore) -> Takers:
        """Read the nodes from their store. Raises `StateError`."""
        return cls(store.nodes(), store.released())

    def of(self, plan: Plan) -> list[str]:
        """Return the names of the living nodes of which one takes a plan when it is due."""
        return [node.name for node in self._nodes if plan.node in {"", node.name} and self._has(node, plan)]

    def _has(self, node: KeptNode, plan: Plan) -> bool:
        """Return whether a node has the sources of a plan as they were released."""
        sources = plan.sources if self._released and plan.launcher is None else ()
        return all(node.facts.digests.get(source) == self._released.get(source) for source in sources)


def taking_nodes(project: Project, schedule: str) -> list[str] | None:
    """Return the nodes that take a schedule; none if they cannot be read, None if the state is on one machine."""
    if not has_nodes(project):
        return None
    plan = next((plan for plan in all_plans(project) if plan.name == schedule and not plan.own), None)
    with suppress(StateError), closing(open_nodes(project, read_only=True)) as store:
        return [] if plan is None else Takers.of_store(store).of(plan)
    return []
