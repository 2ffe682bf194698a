"""Recognises crawler traps by what the pages of a crawl bring, and remembers them from run to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.candidates.traps import Trap, TrapPatterns
from ultracrawl.rules.duplicates.marks import Marks, marks_of, read_sketch
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.run.hooks import Feature
from ultracrawl.run.run_counters import MAX_NAMED
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.traps import note_traps, trap_rows
from ultracrawl.system.nouns import counted

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

_WITH_WORDS = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED})
_WITHOUT = frozenset({UrlOutcome.DUPLICATE, UrlOutcome.GONE, UrlOutcome.HTTP_ERROR})
_SAMPLE = 10_000
"""Documents whose words are read again where an earlier run has met a trap."""


def traps_of(rules: CompiledSource, rows: list[list[Any]] | None = None) -> TrapPatterns:
    """Return the patterns of a source, with what is remembered of them."""
    limits = rules.traps
    return TrapPatterns(lambda site: limits.at(site).trap_pages, limits.allowed, rows or ())


def remembered_traps(project: Project, source: str, rules: CompiledSource) -> TrapPatterns:
    """Return the patterns of a source as its last crawl left them, or as the present one has remembered them."""
    return traps_of(rules, trap_rows(source_notes(project, source)))


def known_traps(project: Project, source: DataSource) -> list[Trap]:
    """Return the patterns of a source that are slow or bounded, without those that its definition excludes."""
    rows = trap_rows(source_notes(project, source.name))
    return list(_not_excluded(source, traps_of(compile_source(source, project), rows))) if rows else []


def _not_excluded(source: DataSource, patterns: TrapPatterns) -> Iterator[Trap]:
    """Yield the patterns that are slow or bounded, unless a rule of the source is their exclusion."""
    excluded = {rule.text for rule in source.boundary.uris.exclude}
    return (trap for trap in patterns.traps() if trap.exclusion not in excluded)


class TrapRecognition(Feature):
    """Counts what each new page brings, by the patterns of its URL (`rules.candidates.traps`).

    What is remembered is behind the state, never ahead: a killed crawl repeats some visits, and counts none twice.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._words: dict[int, Marks] = {}
        """All words of pages whose visits are about to end, by key."""
        self._noted: dict[str, bool] = {}
        """What was slow or bounded when it was remembered last."""
        self._started = 0.0
        """When the run began, in seconds since the epoch."""
        self._due: list[list[Any]] | None = None
        self._knows_words = True
        """Whether nothing is to be read of the words that earlier runs met."""
        self.patterns = traps_of(context.rules)

    def opened(self) -> None:
        """Go on with what earlier runs remember."""
        context = self._context
        self._started = context.mark.started
        rows = trap_rows(source_notes(context.project, context.source.name))
        self.patterns = traps_of(context.rules, rows)
        self._noted = dict(self.patterns.suspects)
        self._knows_words = not rows

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Look at all words of a page where those of its sketch may not be enough."""
        if self.patterns.suspects and self.patterns.needs_words(visit.url):
            self._words[visit.entry.key] = marks_of(document.title, document.text)
        return document

    def visit_ended(self, visit: Visit) -> None:
        """Count a page that was read for the first time, or that has changed."""
        outcome, words = visit.outcome, self._words.pop(visit.entry.key, None) if self._words else None
        if visit.from_store or visit.sitemap is not None:
            return
        if outcome in _WITH_WORDS and visit.page.sketch:
            marks = read_sketch(visit.page.sketch) if words is None else words
            is_whole = words is not None
        elif outcome in _WITHOUT and not visit.record.last_fetched:
            marks, is_whole = Marks(), True
        else:
            return
        if not self._knows_words:
            self._read_words()
        self.patterns.note_page(visit.url, visit.entry.site, marks, self._started, is_whole=is_whole)

    def _read_words(self) -> None:
        """Read the words of documents again; a run without a new page needs none."""
        self._knows_words = True
        for record in self._context.store.records.some_documents(_SAMPLE):
            self.patterns.note_words(site_of(record.url), read_sketch(record.sketch))

    def before_flush(self) -> None:
        """Take what is to be remembered once this flush is durable."""
        if self.patterns.suspects != self._noted:
            self._noted, self._due = dict(self.patterns.suspects), self.patterns.as_rows()

    def after_flush(self) -> None:
        """Remember it."""
        due, self._due = self._due, None
        notes = None if due is None else source_notes(self._context.project, self._context.source.name)
        if notes is not None:
            note_traps(notes, due or [])

    def run_ended(self) -> None:
        """Name the traps in the report, and remember also what may become one."""
        if self._context.run.replay:
            return
        self._due = self.patterns.as_rows()
        self.after_flush()
        bounded = [trap for trap in _not_excluded(self._context.source, self.patterns) if trap.bounded]
        for trap in bounded[:MAX_NAMED]:
            self._context.counters.add_new_remark(str(trap))
        if (others := len(bounded) - MAX_NAMED) > 0:
            self._context.counters.add_remark(f"{counted(others, 'other pattern')} are crawler traps as well")
