"""Carries out the decisions of a person about what the guards hold back, in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.placement.held_changes import HeldChanges
from ultracrawl.run.removal.deletions import Deletions
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.site_orders import SiteAction, SiteOrder

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext

_APPROVING = frozenset({SiteAction.DELETE_HELD, SiteAction.ACCEPT_HELD})


def carry_out_decision(context: CrawlContext, order: SiteOrder) -> None:
    """Decide about what is held back still; what was found since the order is left to the guards."""
    store, writer, wanted = context.store, context.documents.writer, frozenset(order.keys)
    context.flush()
    held = (
        Deletions(store, writer, context.documents.recount)
        if order.action in (SiteAction.DELETE_HELD, SiteAction.KEEP_HELD)
        else HeldChanges(context.source, store, writer, source_notes(context.project, context.source.name))
    )
    chosen = [record for record in held.candidates() if url_key(record.url) in wanted]
    (held.carry_out if order.action in _APPROVING else held.discard)(chosen)
    context.flush()
