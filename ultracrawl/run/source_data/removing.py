"""Removes a source with everything that is stored of it."""

from __future__ import annotations

from contextlib import closing

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.run.source_data.documents import remove_documents
from ultracrawl.run.source_data.places import delete_places, require_idle
from ultracrawl.run.source_data.renaming import finish_rename
from ultracrawl.settings.adhoc import forget_adhoc_source, is_adhoc
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import open_state, remove_state


@dataclass(frozen=True, slots=True)
class RemovedSource:
    """What was removed."""

    source: str
    documents: int
    """Documents that left the indexes and other destinations."""
    urls: int
    """URLs that were known."""
    defined: bool
    """Whether a file still defines the source, so that its next crawl starts anew."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of `ultracrawl remove --json`."""
        return asdict(self)


def remove_source(project: Project, name: str) -> RemovedSource:
    """Remove the documents of a source from everything that it fed, and delete all that is stored of it.

    Its definition stays, but for one of `crawl --url`. The store goes last: after a kill the source is still there, and
    the next call, or the next crawl, makes up for what is missing. Raises `UserError` while it is being crawled or a
    service keeps it, `WorkError` if a destination does not take the deletions.
    """
    finish_rename(project, name)
    require_idle(project, name)
    defined = name in project.known_sources and not is_adhoc(project, name)
    with closing(open_state(project, name, renew=True)) as state:
        urls = state.records.count_urls().known
        documents = remove_documents(project, name, state)
        delete_places(project, name)
        forget_adhoc_source(project, name)
        remove_state(project, name)
    return RemovedSource(name, documents, urls, defined)
