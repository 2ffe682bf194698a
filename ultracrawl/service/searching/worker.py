"""A search process: answers the tasks of the service one after the other."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from contextlib import suppress
from multiprocessing.connection import Connection

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.service.searching.answers import answer_of
from ultracrawl.service.searching.messages import Answer, Request, Task
from ultracrawl.service.searching.searchers import Searchers
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects
from ultracrawl.system.parent_watch import exit_with_parent

logger = logging.getLogger(__name__)

READY = b"ready"
"""The first message of a process."""
BEGUN = b"begun"
"""Sent before each answer: the task has arrived."""


def serve_searches(service: Connection, document_cache: int, patience: float) -> None:
    """Answer tasks until the service closes its end of the pipe, or ends; see `Searchers`."""
    os.setsid()  # only the service shall get the SIGINT of Ctrl-C
    os.dup2(2, 1)  # prints of libraries go to standard error
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    exit_with_parent()
    restrict_umask()
    freeze_loaded_objects()
    searchers = Searchers(document_cache, patience)
    with suppress(EOFError, OSError):
        service.send_bytes(READY)
        while True:
            message = service.recv_bytes()
            service.send_bytes(BEGUN)
            task = pickle.loads(message)  # noqa: S301 - from the service itself
            service.send_bytes(pickle.dumps(_answer(searchers, task)))


def _answer(searchers: Searchers, task: Task) -> Answer:
    if task.project is not None:
        searchers.use(task.project)
    try:
        return _found(searchers, task.request)
    except UltracrawlError as error:
        return Answer(error=_portable(error))
    except Exception as error:  # a bug ends no process
        logger.exception("a search failed")
        return Answer(error=RuntimeError(f"{type(error).__name__}: {error}"))


def _found(searchers: Searchers, request: Request) -> Answer:
    order = request.order
    with searchers.searcher_for(order.index, request.principals, request.sources) as searcher:
        before = searcher.commit_id()
        found = answer_of(order, searcher, searchers.codes)
        unchanged = before is not None and searcher.commit_id() == before
        return Answer(found, basis=searchers.basis(searcher.index, before) if unchanged else None)


def _portable(error: UltracrawlError) -> Exception:
    """Return the error, or one that the service knows if that is of a plug-in and cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # pickling runs its code
        return WorkError(str(error))
    return error
