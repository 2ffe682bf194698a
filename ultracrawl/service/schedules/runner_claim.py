"""Claims schedules and sources for the runner of this process, so that no two processes run the same ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Protocol

from ultracrawl.service.schedules.plans import Plan
from ultracrawl.sources import Project
from ultracrawl.stores.port.schedule_store import KeptSchedule
from ultracrawl.stores.project_stores import service_notes
from ultracrawl.stores.runner_registry import RunnerRegistration


class Share(Protocol):
    """What a node has of the plans of a project."""

    def held(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return those plans that it runs."""

    def row_of(self, plan: Plan) -> KeptSchedule:
        """Return the state of a plan that it does not run, as it was last seen."""

    def may_take(self, source: str) -> bool:
        """Return whether it may crawl a source now: it does not drain, and has the source as it was released."""

    def watches(self, source: str) -> bool:
        """Return whether it watches the folders of a source that is bound to no node."""


class RunnerClaim:
    """The claim of this process; without a registration (the state is in memory) it is not visible to others."""

    def __init__(self, registration: RunnerRegistration | None = None, node: str = "") -> None:
        self._registration = registration
        self.node = node
        """The name of the node that this process is; empty for none."""
        self.by_time_only = False
        """Whether no order of an earlier service has this process crawl."""
        self.share: Share | None = None
        """On a node: the plans that it runs now; None: all."""

    @property
    def number(self) -> str:
        """What tells the registration apart from all others; empty without one."""
        return self._registration.number if self._registration is not None else ""

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
