"""Makes the documents of sources again from stored answers, without requests."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from ultracrawl.errors import UserError
from ultracrawl.model import RunReport
from ultracrawl.service.crawling import crawl_sources
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.fetching.access_options import AccessOptions
from ultracrawl.stores.project_stores import open_state, stored_documents_exist

if TYPE_CHECKING:
    from ultracrawl.service.orders import Show
    from ultracrawl.service.run import Watcher

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
    show: Show | None = None,
) -> list[RunReport]:
    """Make the documents of the sources again with their present definitions; see `crawl_sources`.

    `sites` restricts this to some hosts (with the port if it is not the default one), and to the sources that know one
    of them. Everything but the network is as in a crawl. Raises `UserError` for a source without stored answers.
    """
    chosen = list(sources)
    for source in chosen:
        if not stored_documents_exist(project, source):
            raise UserError(
                f"no documents of {source.name} are stored; write `storage: {{keep: true}}` and crawl it with --force"
            )
        if source.runs_scripts:
            raise UserError(
                f"the pages of {source.name} are opened in a browser, and what their scripts fetch is not stored; "
                f"`ultracrawl crawl {source.name} --force` makes its documents again"
            )
    hosts = sorted({site.lower() for site in sites})
    matching = [source for source in chosen if not hosts or _knows_site(project, source, hosts)]
    # If no source knows a site, all are run, so that their reports say so.
    offline = [_offline(source) for source in matching or chosen]
    merged = {**(settings or {}), **_SETTINGS, "ULTRACRAWL_REINDEX_SITES": hosts}
    return crawl_sources(project, offline, force=True, settings=merged, watcher=watcher, show=show)


def _knows_site(project: Project, source: DataSource, sites: list[str]) -> bool:
    with closing(open_state(project, source.name, read_only=True)) as state:
        return any(state.sites.get_site(site) is not None for site in sites)


def _offline(source: DataSource) -> DataSource:
    """Return a source that uses no network: no sitemaps, logins or download handlers of its own."""
    own = {name: value for name, value in source.settings.items() if name not in _SETTINGS}
    access = {
        name: field.get_default(call_default_factory=True)
        for name, field in AccessOptions.model_fields.items()
    }
    return source.model_copy(
        update={
            **access,
            "sitemaps": source.sitemaps.model_copy(update={"use": False}),
            "settings": own,
        }
    )
