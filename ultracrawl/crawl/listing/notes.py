"""The progress of a listing, as the store keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext


@dataclass(frozen=True, slots=True)
class ListingState:
    """The progress of a run's listing; stored as JSON, so field names are fixed."""

    scope: str
    """Digests of scope and recipe of the definition; after a change everything is listed."""
    since: str = ""
    cursor: str = ""
    whole: bool = False
    """The listing has reached its end."""
    changes_only: bool = False
    token: str = ""
    done: bool = False
    """The run ended well: the next listing starts from the token."""


class ListingNotes:
    """The state of the listing of a crawl; changes become durable with the next flush."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.state = ListingState(f"{context.rules.scope}.{context.rules.recipe}")

    def begin(self, *, fresh: bool) -> None:
        """Resume an interrupted listing, or start from the token of the last good one, or from nothing if `fresh`."""
        stored = ((run, ListingState(**json.loads(text))) for run, text in self._context.store.listings())
        for run, state in stored:
            if run == self._context.mark.number:
                self.state = state
                return
            if state.done:
                restart = fresh or state.scope != self.state.scope
                self.state = replace(self.state, since="" if restart else state.token)
                return

    def note(self, **changes: Any) -> None:
        """Change fields of the state."""
        self.state = replace(self.state, **changes)
        self._context.store.note_listing(self._context.mark.number, json.dumps(asdict(self.state)))
