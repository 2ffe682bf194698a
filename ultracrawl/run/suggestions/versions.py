"""Finds pages that are there in several versions: `/1.2/x`, `/stable/x` and `/latest/x`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ultracrawl.model import UrlRecord
from ultracrawl.rules.duplicates.likeness import Look
from ultracrawl.rules.duplicates.marks import SKETCH_SIZE, read_sketch
from ultracrawl.rules.urls.canonical import host_of, url_key
from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind, Tally, has_content
from ultracrawl.stores import Store

_PREFERRED = ("stable", "latest", "current")
"""Names of the version to keep; after them the highest number, and last what is in the making."""
_NAMES = r"stable|latest|current|main|master|dev|devel|develop|nightly|next|edge"
_VERSION = re.compile(
    rf"(https?://[^/]+(?:/[^/?]+){{0,3}}?)/({_NAMES}|v\d+|v?\d+(?:\.\d+){{1,3}}(?:\.x)?)(/.*)"
)
_MOST_BRANCHES, _MOST_VERSIONS = 500, 200
_LEAST = 5
"""Pages of a version that have to be like those of the kept one."""
_SHARE = 0.8
"""Share of the pages of a version that have to be so."""


class _Place(NamedTuple):
    """The parts of a URL with a version."""

    branch: str
    """What is before the version."""
    version: str
    page: str


class VersionSurvey:
    """Compares each version below a path with the one that is kept: the stable one, or that with the highest number.

    The first pass counts versions, the second one compares pages.
    """

    def __init__(self, seeds: Iterable[str]) -> None:
        self._seeds = tuple(seeds)
        self._hosts: set[str] = set()
        self._versions: dict[str, Counter[str]] = {}
        self._kept: dict[str, str] = {}
        self._alike: dict[tuple[str, str], Tally] = {}
        self._others: Counter[tuple[str, str]] = Counter()

    def count(self, record: UrlRecord) -> None:
        """Count a page for its version."""
        if not has_content(record):
            return
        if len(self._hosts) < 2:
            self._hosts.add(host_of(record.url))
        place = _place(record.url)
        if place is None:
            return
        if place.branch not in self._versions and len(self._versions) >= _MOST_BRANCHES:
            return
        versions = self._versions.setdefault(place.branch, Counter())
        if place.version in versions or len(versions) < _MOST_VERSIONS:
            versions[place.version] += 1

    def choose(self) -> None:
        """Choose the version to keep of each path that has several."""
        for branch, versions in self._versions.items():
            if len(versions) > 1:
                self._kept[branch] = max(versions, key=_rank)

    def compare(self, state: Store, records: Sequence[UrlRecord]) -> None:
        """Compare those of some pages that are of a version which is not kept."""
        if not self._kept:
            return
        twins = [(record, place, twin) for record in records for place, twin in self._twin(record)]
        known = state.records.get_records([url_key(twin) for _, _, twin in twins]) if twins else {}
        for record, place, twin in twins:
            other = known.get(url_key(twin))
            group = place.branch, place.version
            if other is not None and has_content(other) and _is_like(record, other):
                self._alike.setdefault(group, Tally()).add(record.url, other.url)
            else:
                self._others[group] += 1

    def _twin(self, record: UrlRecord) -> Iterator[tuple[_Place, str]]:
        place = _place(record.url)
        kept = self._kept.get(place.branch) if place else None
        if place and kept and kept != place.version and has_content(record):
            yield place, f"{place.branch}/{kept}{place.page}"

    def suggestions(self) -> Iterator[Suggestion]:
        """Yield an exclusion for each version whose pages are nearly all like those of the kept one."""
        for (branch, version), alike in self._alike.items():
            others, folder = self._others[branch, version], f"{branch}/{version}/"
            is_like = alike.number >= max(_LEAST, _SHARE * (alike.number + others))
            if not is_like or any(seed.startswith(folder) for seed in self._seeds):
                continue
            path = folder[folder.index("/", len("https://")) :]
            on_host = () if len(self._hosts) == 1 else ("boundary", "paths", host_of(folder))
            counts = {"alike": alike.number, "others": others}
            option = (*on_host, "exclude")
            yield Suggestion(SuggestionKind.VERSION, path, counts, tuple(alike.examples), option, path)


def _place(url: str) -> _Place | None:
    found = _VERSION.fullmatch(url)
    return None if found is None else _Place(*found.groups())


def _rank(version: str) -> tuple[int, tuple[int, ...]]:
    if version in _PREFERRED:
        return 2 + len(_PREFERRED) - _PREFERRED.index(version), ()
    numbers = tuple(map(int, re.findall(r"\d+", version)))
    return (1, numbers) if numbers else (0, ())


def _is_like(record: UrlRecord, other: UrlRecord) -> bool:
    """Return whether two pages have one content, or nearly the same words, as far as their sketches tell."""
    if record.fingerprint and record.fingerprint == other.fingerprint:
        return True
    one, two = read_sketch(record.sketch), read_sketch(other.sketch)
    if not one or not two:
        return False
    end = min(max(marks) if len(marks) >= SKETCH_SIZE else 1 << 32 for marks in (one, two))
    ours, theirs = (Look("", frozenset(), frozenset(m for m in marks if m <= end)) for marks in (one, two))
    return ours.is_like(theirs)
