"""Loads, opens and closes the URL rewriter class of a source."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.run.hooks import Feature
from ultracrawl.sources import DataSource
from ultracrawl.system.plugins import REWRITERS, PluginError, load_dotted_path

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext


def load_rewriter(source: DataSource) -> UrlRewriter | None:
    """Return a new rewriter of a source, None if it has none. Raises `UserError`."""
    path = source.urls.rewriter
    return None if path is None else make_rewriter(path, f"source {source.name!r}: rewriter {path!r}")


def make_rewriter(path: str, label: str) -> UrlRewriter:
    """Return a new rewriter by dotted path or plug-in name. Raises `UserError`; its text begins with `label`."""
    rewriter = load_dotted_path(path, label) if "." in path else REWRITERS.load(path)
    if not (isinstance(rewriter, type) and issubclass(rewriter, UrlRewriter)):
        raise PluginError(
            f"{label} is no subclass of ultracrawl.rules.boundary.UrlRewriter", "derive it from that class"
        )
    try:
        return rewriter()
    except Exception as error:  # user code: one line says more to the user than a traceback
        raise UserError(f"{label} cannot be created: {type(error).__name__}: {error}") from error


class SourceRewriter(Feature):
    """The rewriter of a source, open from the begin of a crawl to its end."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.rewriter = load_rewriter(context.source)
        """The rewriter applied to every link; None if there is none or it could not be opened."""

    def open(self) -> bool:
        """Open the rewriter; False if that fails: the source is not crawled then (Ultra Search 10)."""
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

    async def fetching_ended(self) -> None:
        """Close the rewriter; a failure is reported as a problem."""
        if self.rewriter is None:
            return
        try:
            close_rewriter(self.rewriter)
        except WorkError as error:
            self._context.run.note_problem(error)


def open_rewriter(rewriter: UrlRewriter) -> None:
    """Call `open` of a rewriter. Raises `WorkError` for any exception."""
    with _one_line_errors(rewriter, "open"):
        rewriter.open(logging.getLogger(f"{type(rewriter).__module__}.{type(rewriter).__qualname__}"))


def close_rewriter(rewriter: UrlRewriter) -> None:
    """Call `close` of a rewriter. Raises `WorkError` for any exception."""
    with _one_line_errors(rewriter, "close"):
        rewriter.close()


@contextmanager
def opened_rewriter(source: DataSource) -> Iterator[UrlRewriter | None]:
    """Yield the rewriter of a source, open within the block. Raises `UserError`, `WorkError`."""
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
def _one_line_errors(rewriter: UrlRewriter, method: str) -> Iterator[None]:
    """Turn any exception of a method of the user class into a `WorkError` of one line."""
    try:
        yield
    except Exception as error:  # user code
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise WorkError(f"the rewriter {type(rewriter).__qualname__} failed in {method}: {what}") from error
