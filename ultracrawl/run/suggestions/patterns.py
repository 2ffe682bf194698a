"""Finds patterns of URLs that brought no content of their own: only duplicates, and pages that are not there."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ultracrawl.model import CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.suggestions.suggestion import EXAMPLES, Suggestion, SuggestionKind, Tally
from ultracrawl.sources.reading.tree import Data
from ultracrawl.stores import Store

WASTED = (UrlOutcome.DUPLICATE, UrlOutcome.GONE)
LEAST = 10
"""URLs that a pattern needs."""
_MOST = 50_000
"""Patterns that are counted at a time; those with the fewest URLs are forgotten then."""
_LEVELS = 4
_PAIRS = re.compile(r"[&?]")
URIS = ("boundary", "uris", "exclude")
_FOLDERS = ("exclude",)


class Pattern(NamedTuple):
    """A pattern of URLs, on all hosts of a source, that one rule of its boundary excludes."""

    kind: str
    """`folder`, `parameter` or `end`."""
    text: str

    @property
    def option(self) -> tuple[str, ...]:
        """The list that has such rules."""
        return _FOLDERS if self.kind == "folder" else URIS

    @property
    def rule(self) -> Data:
        """The rule that excludes the URLs."""
        if self.kind == "folder":
            return self.text
        if self.kind == "end":
            return {"suffix": self.text}
        return {"regexp": rf".*[?&]{re.escape(self.text)}([=&?].*)?"}

    def __str__(self) -> str:
        return f"?{self.text}=" if self.kind == "parameter" else self.text


class PatternSurvey:
    """Counts the URLs of each pattern in three passes: those that are wasted, those that are not, and each once."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self._wasted: defaultdict[Pattern, int] = defaultdict(int)
        self._waiting: defaultdict[Pattern, int] = defaultdict(int)
        self._seeds = {pattern for url in seeds for pattern in patterns_of(url)}
        self._tallies: defaultdict[Pattern, dict[UrlOutcome, Tally]] = defaultdict(
            lambda: {outcome: Tally() for outcome in WASTED}
        )

    def count_wasted(self, record: UrlRecord) -> None:
        """Count a URL that brought nothing."""
        for pattern in patterns_of(record.url):
            self._wasted[pattern] += 1
        if len(self._wasted) > _MOST:
            least = sorted(self._wasted.values())[_MOST // 2]
            kept = ((one, number) for one, number in self._wasted.items() if number > least)
            self._wasted = defaultdict(int, kept)

    def keep_large(self) -> None:
        """Forget patterns of few URLs, and those of start URLs."""
        large = {one: number for one, number in self._wasted.items() if number >= LEAST}
        self._wasted = defaultdict(int, {one: large[one] for one in large.keys() - self._seeds})

    def note(self, state: Store, records: Iterable[UrlRecord]) -> None:
        """Forget the patterns of URLs that brought something, may have, or have led to something."""
        found = [(record, patterns) for record in records if (patterns := self._left_of(record.url))]
        leading = _leading(state, (record for record, _ in found if is_wasted(record)))
        for record, patterns in found:
            if is_wasted(record) and record.url not in leading:
                continue
            is_waiting = record.outcome is UrlOutcome.QUEUED and not record.searchable
            for pattern in patterns:
                if is_waiting:
                    self._waiting[pattern] += 1
                else:
                    self._wasted.pop(pattern, None)

    def _left_of(self, url: str) -> list[Pattern]:
        return [one for one in patterns_of(url) if one in self._wasted] if self._wasted else []

    def assign(self, record: UrlRecord) -> None:
        """Count a URL that brought nothing for the pattern with the most of them, which explains it best."""
        if found := self._left_of(record.url):
            best = max(found, key=lambda one: (self._wasted[one], -len(one.text)))
            self._tallies[best][record.outcome].add(*filter(None, (record.url, _holder(record))))

    def suggestions(self) -> Iterator[Suggestion]:
        """Yield an exclusion for each pattern that is left."""
        kind = SuggestionKind.PATTERN
        for one, tallies in self._tallies.items():
            counts = {outcome.value.lower(): tally.number for outcome, tally in tallies.items()}
            if sum(counts.values()) >= LEAST:
                examples = [example for tally in tallies.values() for example in tally.examples]
                counts["waiting"] = self._waiting[one]
                yield Suggestion(kind, str(one), counts, tuple(examples[:EXAMPLES]), one.option, one.rule)


def is_wasted(record: UrlRecord) -> bool:
    """Return whether a visit brought nothing; a duplicate of a URL that is more complicated may have the better one."""
    if record.searchable or record.pending:
        return False
    if record.outcome is UrlOutcome.GONE:
        return True
    holder = _holder(record)
    return bool(holder) and _complexity(holder) <= _complexity(record.url)


def _leading(state: Store, duplicates: Iterable[UrlRecord]) -> set[str]:
    """Return those of some duplicates by which documents may have been found: the links of duplicates are followed.

    These documents are deeper, and the URL that stands for the duplicate does not link to them.
    """
    pages = [(one, url_key(_holder(one))) for one in duplicates if one.links and _holder(one)]
    holders = state.records.get_records([key for _, key in pages]) if pages else {}
    own = [(one, _links(one) - _links(holders.get(key))) for one, key in pages]
    children = state.records.get_records(sorted(set[int]().union(*(keys for _, keys in own)))) if own else {}
    depths = {key: child.depth for key, child in children.items() if child.searchable or child.pending}
    return {one.url for one, keys in own if any(depths.get(key, 0) > one.depth for key in keys)}


def _links(record: UrlRecord | None) -> set[int]:
    return set(array("q", record.links)) if record is not None else set()


def _holder(record: UrlRecord) -> str:
    names_one = record.cause.code in (CauseCode.SAME_CONTENT, CauseCode.CANONICAL)
    return record.cause.subject if record.outcome is UrlOutcome.DUPLICATE and names_one else ""


def _complexity(url: str) -> tuple[int, int]:
    path, _, query = url.partition("?")
    return len(_PAIRS.split(query)) if query else 0, path.count("/")


def patterns_of(url: str) -> set[Pattern]:
    """Return the patterns of a canonical URL: its folders, its parameters, and the end of its path."""
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    found = {Pattern("parameter", name) for pair in _PAIRS.split(query) if (name := pair.partition("=")[0])}
    for level in range(1, min(len(segments), _LEVELS + 1)):
        found.add(Pattern("folder", f"/{'/'.join(segments[:level])}/"))
    if not query:
        last = "/".join(segments[-2:]) if segments[-1:] == [""] else segments[-1] if segments else ""
        if len(segments) > 1 and last.strip("/"):
            found.add(Pattern("end", f"/{last}"))
    return found
