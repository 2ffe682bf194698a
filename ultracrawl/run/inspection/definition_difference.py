"""Compares what two versions of a definition do with the known URLs of a source, without requests."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import Decision, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.filters.source_filters import filtering_of, with_filters
from ultracrawl.run.inspection.forecast import Forecast
from ultracrawl.run.inspection.source_inspection import forecast_of
from ultracrawl.run.removal.scope import ScopeCheck
from ultracrawl.run.rewriters import opened_rewriter
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores import Store
from ultracrawl.stores.project_stores import state_to_read

MOST_URLS = 100
"""URLs that are listed."""


class ChangedUrl(NamedTuple):
    """A known URL about which the versions decide differently."""

    url: str
    rule: str
    """What excludes it, by one of the versions."""
    leaves: bool
    """Whether the new version excludes it; otherwise the old one did, and it may stay."""


@dataclass(slots=True)
class DefinitionDifference:
    """What the next run would do by a new version, and would not do by the present one."""

    forecast: Forecast
    """The next run by the new version."""
    urls: list[ChangedUrl] = field(default_factory=list)
    """The first URLs about which they differ, those that leave first."""
    leaving: Counter[str] = field(default_factory=Counter)
    """Number of known URLs that the new version alone excludes, by rule."""
    leaving_documents: Counter[str] = field(default_factory=Counter)
    """Number of documents of the index among them, by rule."""
    returning: Counter[str] = field(default_factory=Counter)
    """Number of known URLs that the present version alone excludes, by rule."""
    start_urls: list[str] = field(default_factory=list)
    """Start URLs that are added."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference; `forecast` is a member of `sources` of `ultracrawl plan --json`."""
        return {
            "leaving": self.leaving.total(),
            "leaving_by": dict(self.leaving.most_common()),
            "leaving_documents": self.leaving_documents.total(),
            "leaving_documents_by": dict(self.leaving_documents.most_common()),
            "returning": self.returning.total(),
            "returning_by": dict(self.returning.most_common()),
            "urls": [one._asdict() for one in self.urls],
            "start_urls_added": self.start_urls,
            "forecast": self.forecast.as_json(),
        }


def definition_difference(
    project: Project, before: DataSource | None, after: DataSource
) -> DefinitionDifference:
    """Return what is different by the version `after`; `before` is None if the present version has mistakes.

    Raises `UserError`, `StateError`.
    """
    result = DefinitionDifference(forecast_of(project, after))
    known = set(forecast_of(project, before).start_urls) if before is not None else set[str]()
    result.start_urls = [url for url in result.forecast.start_urls if url not in known]
    with closing(HostAddresses()) as hosts, state_to_read(project, after.name) as state:
        if state is None or result.forecast.listed:
            return result
        now = _refusals(project, state, after, hosts)
        former = _refusals(project, state, before, hosts) if before is not None else {}
    for key, (record, refusal) in now.items():
        if key not in former:
            result.leaving[refusal.rule] += 1
            result.leaving_documents[refusal.rule] += record.searchable
            result.urls.append(ChangedUrl(record.shown_url, refusal.rule, leaves=True))
    for key, (record, refusal) in former.items():
        if key not in now:
            result.returning[refusal.rule] += 1
            result.urls.append(ChangedUrl(record.shown_url, refusal.rule, leaves=False))
    del result.urls[MOST_URLS:]
    return result


def _refusals(
    project: Project, state: Store, source: DataSource, hosts: HostAddresses
) -> dict[int, tuple[UrlRecord, Decision]]:
    """Return the known URLs that a version excludes, by their keys."""
    rules = with_filters(compile_source(source, project, hosts), filtering_of(source, None))
    with opened_rewriter(source) as rewriter:
        refusals = ScopeCheck(state, rules, rewriter).refusals()
        return {url_key(record.url): (record, refusal) for record, refusal in refusals}
