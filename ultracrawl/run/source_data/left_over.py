"""Sources that have stored data and that no file defines, and whose data they should probably be."""

from __future__ import annotations

from contextlib import suppress

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, url_key
from ultracrawl.settings.adhoc import sites_of
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import (
    is_left_over,
    state_exists,
    state_options,
    state_to_read,
    stored_sources,
)
from ultracrawl.system.nouns import counted


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A source with stored data that no file defines, or one of `crawl --url` whose site defined sources crawl too."""

    source: str
    documents: int
    """The documents that it has in its index; searches leave them out unless it is one of `crawl --url`."""
    heirs: tuple[str, ...] = ()
    """Defined sources with one of its start URLs, or of its site, that were never crawled."""
    rivals: tuple[str, ...] = ()
    """Of one of `crawl --url`: the defined sources that crawl its site."""

    @property
    def problem(self) -> str:
        """A sentence about it."""
        if self.rivals:
            return f"`crawl --url` made it, and its site is in the definitions, too: {', '.join(self.rivals)}"
        return (
            f"no file defines it any more, and searches leave out its {counted(self.documents, 'document')}"
        )

    @property
    def instead(self) -> str:
        """The commands to write."""
        renamed = (f"`ultracrawl rename {self.source} {heir}`" for heir in self.heirs)
        return " or ".join([f"`ultracrawl remove {self.source}`", *renamed])

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of `ultracrawl status --json`."""
        return {"source": self.source, "documents": self.documents, "same_start": list(self.heirs)}


def left_over_sources(project: Project) -> list[LeftOver]:
    """Return the sources of the state of a project that no file defines, sorted by name.

    Sources of `crawl --url` are among them if defined sources crawl their sites and none takes them over. While the
    definitions have mistakes there are none, because it is not known what they define.
    """
    if project.has_mistakes:
        return []
    known = project.known_sources
    state = project.state
    found = [
        _left_over(project, name)
        for name in stored_sources(project)
        if name not in known
        and is_left_over(state.engine, state.path, name, project.definitions, state_options(project))
    ]
    for source in project.adhoc_sources.values():
        if (rivals := heirs_of(project, source)) and not _is_taken_over(project, source):
            free = tuple(name for name in rivals if not state_exists(project, name))
            found.append(LeftOver(source.name, _documents(project, source.name), free, tuple(rivals)))
    return sorted(found, key=lambda one: one.source)


def heirs_of(project: Project, adhoc: DataSource) -> list[str]:
    """Return the defined sources that have a start URL of a site of a source of `crawl --url`."""
    sites, others = sites_of(adhoc.start_urls), project.adhoc_sources
    return [
        name
        for name, source in project.known_sources.items()
        if name not in others and sites & sites_of(source.seed_urls)
    ]


def heir_of(project: Project, adhoc: DataSource) -> str:
    """Return the source that takes over one of `crawl --url`: the only one with a start URL of each of its sites.

    Empty if there is none, or more than one source has such a start URL.
    """
    heirs = heirs_of(project, adhoc)
    if len(heirs) != 1:
        return ""
    has_all = sites_of(adhoc.start_urls) <= sites_of(project.known_sources[heirs[0]].seed_urls)
    return heirs[0] if has_all else ""


def _is_taken_over(project: Project, adhoc: DataSource) -> bool:
    """Return whether the next crawl of a defined source takes over one of `crawl --url`."""
    heir = heir_of(project, adhoc)
    return bool(heir) and not state_exists(project, heir)


def _left_over(project: Project, name: str) -> LeftOver:
    heirs = []
    with suppress(UltracrawlError), state_to_read(project, name) as state:
        for other, source in project.known_sources.items():
            if state is None or other in project.adhoc_sources or state_exists(project, other):
                continue
            starts = filter(None, map(DEFAULT_POLICY.canonical, source.seed_urls))
            records = state.records.get_records([url_key(url) for url in starts])
            if any(not record.depth for record in records.values()):
                heirs.append(other)
    return LeftOver(name, _documents(project, name), tuple(heirs))


def _documents(project: Project, name: str) -> int:
    """Return how many documents the state of a source knows to be indexed; 0 if it cannot be read."""
    with suppress(UltracrawlError), state_to_read(project, name) as state:
        return 0 if state is None else state.records.count_urls().indexed
    return 0
