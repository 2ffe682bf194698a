"""Makes every document of sources again from what is stored, without a request."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from ultracrawl.errors import UserError
from ultracrawl.model import RunReport
from ultracrawl.service.run import Watcher, run_sources
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.fetching.access_options import AccessOptions
from ultracrawl.stores.opening import open_state, stored_documents_exist

_HANDLER = "ultracrawl.handlers.stored.StoredDownloadHandler"
_SETTINGS = {
    "ULTRACRAWL_REINDEX": True,
    "SCHEDULER": "ultracrawl.scheduler.replay.ReplayScheduler",
    "DOWNLOAD_HANDLERS": {"http": _HANDLER, "https": _HANDLER, "ftp": _HANDLER},
}


def reindex_sources(
    project: Project,
    sources: Iterable[DataSource],
    *,
    sites: Iterable[str] = (),
    settings: dict[str, object] | None = None,
    watcher: Watcher | None = None,
) -> list[RunReport]:
    """Make the documents of the sources again by their present definition; see `run_sources`.

    `sites` are hosts, with their port if that is not the usual one; of these alone documents are made again, of all if
    none is named, and sources that know none of them are left out. All but the network is as in a crawl.
    Raises `UserError` for a source without a store.
    """
    chosen = list(sources)
    for source in chosen:
        if not stored_documents_exist(project, source):
            raise UserError(
                f"no documents of {source.name} are stored; write `storage: {{keep: true}}` and crawl it with --force"
            )
        if source.javascript.use:
            raise UserError(
                f"the pages of {source.name} are opened in a browser, and what their scripts fetch is not stored; "
                f"`ultracrawl crawl {source.name} --force` makes its documents again"
            )
    only = sorted({site.lower() for site in sites})
    knowing = [source for source in chosen if not only or _knows(project, source, only)]
    offline = [
        _offline(source) for source in knowing or chosen
    ]  # all if none knows one, so that this is said
    merged = {**(settings or {}), **_SETTINGS, "ULTRACRAWL_REINDEX_SITES": only}
    return run_sources(project, offline, force=True, settings=merged, watcher=watcher)


def _knows(project: Project, source: DataSource, sites: list[str]) -> bool:
    with closing(open_state(project, source.name, read_only=True)) as state:
        return any(state.sites.get_site(site) is not None for site in sites)


def _offline(source: DataSource) -> DataSource:
    """Return a source that asks nobody: no robots.txt, no sitemap, no login, no handlers of its own."""
    own = {name: value for name, value in source.settings.items() if name not in _SETTINGS}
    access = {
        name: field.get_default(call_default_factory=True)
        for name, field in AccessOptions.model_fields.items()
    }
    return source.model_copy(
        update={
            **access,
            "robots": source.robots.model_copy(update={"obey": False, "obey_delay": False}),
            "sitemaps": source.sitemaps.model_copy(update={"use": False}),
            "settings": own,
        }
    )
