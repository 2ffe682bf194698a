"""The source's own rewriter: loaded by its dotted path, opened before the first link, closed after the last."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.sources import DataSource
from ultracrawl.system.plugins import REWRITERS, load_dotted_path

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext


def load_rewriter(source: DataSource) -> UrlRewriter | None:
    """Return a new rewriter of a source, None if it has none. Raises `UserError` if it cannot be made."""
    path = source.urls.rewriter
    return None if path is None else make_rewriter(path, f"source {source.name!r}: rewriter {path!r}")


def make_rewriter(path: str, place: str) -> UrlRewriter:
    """Return a new rewriter of a dotted path, or a plug-in's. Raises `UserError`; lines about it begin with `place`."""
    made = load_dotted_path(path, place) if "." in path else REWRITERS.load(path)
    if not (isinstance(made, type) and issubclass(made, UrlRewriter)):
        raise UserError(f"{place} has to be a subclass of ultracrawl.rules.boundary.UrlRewriter")
    try:
        return made()
    except Exception as error:  # the edge to the user's class: one line is worth more than its traceback
        raise UserError(f"{place} cannot be made: {type(error).__name__}: {error}") from error


class SourceRewriter:
    """The rewriter of a source during a crawl: open from the begin of the crawl to its end."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.rewriter = load_rewriter(context.source)
        """What every link goes through; None if there is none, or if it could not be opened."""

    def open(self) -> bool:
        """Get the rewriter ready; if it cannot be, nothing of the source is crawled (Ultra Search 10)."""
        if self.rewriter is None:
            return True
        try:
            open_rewriter(self.rewriter)
        except WorkError as error:
            self.rewriter = None
            self._context.run.failed = True
            self._context.run.note_problem(error)
            return False
        return True

    def close(self) -> None:
        """Let the rewriter release what it holds."""
        if self.rewriter is None:
            return
        try:
            close_rewriter(self.rewriter)
        except WorkError as error:
            self._context.run.note_problem(error)


def open_rewriter(rewriter: UrlRewriter) -> None:
    """Call its `open`. Raises `WorkError` with whatever it raises."""
    with _failing(rewriter, "open"):
        rewriter.open(logging.getLogger(f"{type(rewriter).__module__}.{type(rewriter).__qualname__}"))


def close_rewriter(rewriter: UrlRewriter) -> None:
    """Call its `close`. Raises `WorkError` with whatever it raises."""
    with _failing(rewriter, "close"):
        rewriter.close()


@contextmanager
def opened_rewriter(source: DataSource) -> Iterator[UrlRewriter | None]:
    """Give the rewriter of a source, open for as long as the block lasts. Raises `UserError`, `WorkError`."""
    rewriter = load_rewriter(source)
    if rewriter is None:
        yield None
        return
    open_rewriter(rewriter)
    try:
        yield rewriter
    finally:
        close_rewriter(rewriter)


@contextmanager
def _failing(rewriter: UrlRewriter, method: str) -> Iterator[None]:
    """Turn whatever a method of the user's class raises into a `WorkError` of one line."""
    try:
        yield
    except Exception as error:  # the edge to the user's class
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise WorkError(f"the rewriter {type(rewriter).__qualname__} failed in {method}: {what}") from error
