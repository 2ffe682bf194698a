"""Shows other processes what is kept here, and keeps two processes from keeping the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from ultracrawl.errors import UserError
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.sources import Project
from ultracrawl.stores.opening import schedules_folder
from ultracrawl.stores.runner_sign import RunnerBadge


@contextmanager
def shown_as_kept(project: Project, plans: Iterable[Plan]) -> Iterator[RunnerBadge | None]:
    """Show other processes, inside the block, what is kept here. Raises `UserError` if another one keeps some of it."""
    folder = schedules_folder(project)
    if folder is None:
        yield None
        return
    with closing(RunnerBadge(folder)) as badge:
        show_kept(badge, plans)
        yield badge


def show_kept(badge: RunnerBadge | None, plans: Iterable[Plan]) -> None:
    """Show what is kept here from now on. Raises `UserError` if another process keeps some of it."""
    if badge is None:
        return
    kept = list(plans)
    names = [plan.name for plan in kept if not plan.own]
    sources = [source for plan in kept for source in plan.sources]
    other = badge.show_kept(names, sources)
    if other is not None:
        same = sorted({*other.schedules & set(names), *other.sources & set(sources)})
        raise UserError(f"{', '.join(same)}: kept by process {other.pid} already; stop that first")
