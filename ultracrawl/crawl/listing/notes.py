"""How far a crawl came with its listing, as the store keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext


@dataclass(frozen=True, slots=True)
class ListingState:
    """How far a run came with its listing, as the store has it."""

    scope: str
    """By what rules it was listed: after a change of them everything is listed."""
    since: str = ""
    cursor: str = ""
    whole: bool = False
    """Everything was listed that there is."""
    changes_only: bool = False
    token: str = ""
    done: bool = False
    """The run ended well: the next listing begins from the token."""


class ListingNotes:
    """The state of the listing of one crawl; what is noted becomes durable with the next flush."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.state = ListingState(context.rules.scope)

    def begin(self, *, fresh: bool) -> None:
        """Go on where this run was interrupted, or from what the last good one ended with, unless all is wanted."""
        noted = ((run, ListingState(**json.loads(text))) for run, text in self._context.store.listings())
        for run, state in noted:
            if run == self._context.mark.number:
                self.state = state
                return
            if state.done:
                anew = fresh or state.scope != self.state.scope
                self.state = replace(self.state, since="" if anew else state.token)
                return

    def note(self, **changes: Any) -> None:
        """Note what has changed."""
        self.state = replace(self.state, **changes)
        self._context.store.note_listing(self._context.mark.number, json.dumps(asdict(self.state)))
