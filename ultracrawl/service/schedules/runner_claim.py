"""Claims schedules and sources for the runner of this process, so that no two processes run the same ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from ultracrawl.service.schedules.plans import Plan
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import service_notes
from ultracrawl.stores.runner_registry import RunnerRegistration

Share = Callable[[Sequence[Plan]], list[Plan]]
"""Returns those of the plans of a project that a process runs."""


class RunnerClaim:
    """The claim of this process; without a registration (the state is in memory) it is not visible to others."""

    def __init__(self, registration: RunnerRegistration | None = None, node: str = "") -> None:
        self._registration = registration
        self.node = node
        """The name of the node that this process is; empty for none."""
        self.share: Share | None = None
        """On a node: which plans it runs now; None: all."""

    def claim(self, schedules: Collection[str], sources: Collection[str]) -> str:
        """Claim schedules and sources; returns a message if another process has claimed some of them, else "".

        In that case nothing is claimed.
        """
        other = self._registration.claim(schedules, sources) if self._registration is not None else None
        if other is None:
            return ""
        same = sorted({*other.schedules.intersection(schedules), *other.sources.intersection(sources)})
        return f"{', '.join(same)}: {other.process} runs this already; stop it first"

    def publish_waiting(self, sources: Collection[str]) -> None:
        """Publish the sources whose crawls wait for a slot."""
        if self._registration is not None:
            self._registration.publish_waiting(sources)


@contextmanager
def open_runner_claim(project: Project, node: str = "") -> Iterator[RunnerClaim]:
    """Open the claim of this process, or of the node that it is, on schedules and sources of a project."""
    notes = service_notes(project)
    if notes is None:
        yield RunnerClaim(node=node)
        return
    with closing(RunnerRegistration(notes, node)) as registration:
        yield RunnerClaim(registration, node)
