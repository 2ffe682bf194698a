"""The fork server of the service, from which it starts all its processes.

It has imported the modules of the processes and does nothing else: a process starts within milliseconds, shares the
memory of the modules, and inherits no socket, lock or thread of the service.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import ForkServerContext

_PROGRAMS = [
    "ultracrawl.service.supervisor.child",
    "ultracrawl.service.searching.worker",
    "ultracrawl.index.whoosh.index_searcher",  # imported by the first search of an index
]


def fork_server() -> ForkServerContext:
    """Return the context that starts processes; the fork server starts with the first of them."""
    context: ForkServerContext = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PROGRAMS)
    return context
