"""What adaptive refreshing chose, with the parts of each score (FAST 5.6 scheduler)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from ultracrawl.rules.recrawl.adaptive import ScoreParts

if TYPE_CHECKING:
    from ultracrawl.crawl.logs.columns import ColumnLog
    from ultracrawl.rules.recrawl.adaptive import Choice, KnownPage, Scorer

_PARTS = tuple(field.name for field in fields(ScoreParts))


class ScoreLog:
    """Has of each URL that was chosen: `known` or `new`, its score, the URL, and what each scorer adds."""

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def chosen(self, choice: Choice, pages: Iterable[KnownPage], scorer: Scorer) -> None:
        """Note the pages of a choice, the best first; `pages` are all that it was made from."""
        order = {one.key: place for place, one in enumerate(choice.pages)}
        found = sorted((page for page in pages if page.key in order), key=lambda page: order[page.key])
        for page in found:
            parts = scorer.parts(page)
            added = (f"{name}={getattr(parts, name):.3f}" for name in _PARTS)
            kind = "known" if page.last_fetched else "new"
            self._log.add(kind, f"{parts.total:.3f}", page.url, *added)
