"""Settles a change of how documents are made, once all were made again without a crawl."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.removal.scope import MIXED, change_since, recipes_of, with_recipes

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit


class RecipeSettling(Feature):
    """Lets the next crawl fetch nothing of what was made again from stored responses.

    While documents are made again, the index has some of the former recipe and some of the new one, so the last run is
    marked with a recipe that no definition has: whatever ends the process, and whatever the definition becomes, the
    next crawl makes all of them anew. Once all are indexed, the mark gets the new recipe. Pages that were not made
    again lose their validators, so that the next crawl reads them: those that are not stored, and those whose links the
    new definition sees otherwise, because links are not followed here.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._settles = False
        """Whether this run may settle the change."""
        self._made: set[int] = set()
        self._same_links: dict[int, bool] = {}
        """By key of a visit that goes on: whether its page has the links that are stored."""

    def begin(self, *, of_all_sites: bool) -> None:
        """Mark the last run if its documents were made by another recipe.

        An unfinished run is left alone, and so is a listed source, whose validators hold its recipe. `of_all_sites`:
        all documents are made again.
        """
        context, rules = self._context, self._context.rules
        if not context.mark.finished or rules.listed:
            return
        change = change_since(context.mark, rules)
        if not (change.recipe or change.sites):
            return
        self._mark(MIXED)
        rule = context.source.refresh.rule
        asks_for_all = rule == rule.for_everything
        self._settles = of_all_sites and asks_for_all and rules.focus is None  # hops may differ by language

    def compare_links(self, visit: Visit, hrefs: Iterable[str], base: str) -> None:
        """Note whether the accepted links of a page are those that are stored."""
        if not self._settles:
            return
        rules, depth = self._context.rules, visit.depth + 1
        urls = {
            url_key(url): url for href in hrefs if (url := rules.url_policy.canonical(href, base)) is not None
        }
        known = self._context.store.records.known_urls(list(urls))
        inside = {
            key
            for key, url in urls.items()
            if key in known or rules.boundary.rejects(url, depth, parent=visit.url) is None
        }
        self._same_links[visit.entry.key] = inside == set(array("q", visit.record.links))

    def visit_ended(self, visit: Visit) -> None:
        """Note a page that was made again; one with readers of its own may have lent others the texts of its links."""
        key, outcome = visit.entry.key, visit.outcome
        same_links = self._same_links.pop(key, not visit.record.links)
        was_read = outcome is not None and not outcome.transient
        if self._settles and was_read and same_links and not visit.page.own_readers:
            self._made.add(key)

    def run_committed(self) -> bool:
        """Settle the change; marks no document for removal."""
        if not self._settles:
            return False
        context = self._context
        context.flush()
        left_alone = self._made | context.store.sites.sitemap_keys()
        records = context.store.records
        others = [
            record
            for record in records.all_records()
            if without_validators(record) != record and url_key(record.url) not in left_alone
        ]
        for record in others:
            records.amend_record(url_key(record.url), without_validators(record))
        context.flush()
        self._mark(recipes_of(context.rules))
        return False

    def _mark(self, recipes: str) -> None:
        mark = self._context.mark
        self._context.run.mark = replace(mark, scope=with_recipes(mark.scope, recipes))
        self._context.store.end_run(self._context.run.mark)
