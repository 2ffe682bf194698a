"""Taking over: a defined source gets all that is stored of the source that `crawl --url` made of its site."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.rules import Action, Kind
from ultracrawl.run import source_data
from ultracrawl.run.source_data.renaming import RenamedSource, finish_rename, rename_source
from ultracrawl.settings.adhoc import forget_adhoc_source, is_adhoc
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.compilation.boundary import domain_rules
from ultracrawl.sources.sections.scope.boundary import BoundarySection
from ultracrawl.stores.project_stores import named_stores, state_exists
from ultracrawl.system.nouns import counted


@dataclass(frozen=True, slots=True)
class TakeOver:
    """What a source has taken over before its crawl."""

    remarks: tuple[str, ...] = ()
    """Remarks for the report of the run."""
    is_narrower: bool = False
    """Whether no page has to be read again because of the new boundary: it admits nothing that was excluded."""


def take_over(project: Project, source: DataSource) -> TakeOver:
    """Finish interrupted renames of a source that is about to be crawled, and have it take over one of `crawl --url`.

    Raises `WorkError` if that one is being crawled: nothing has been changed then.
    """
    finished = finish_rename(project, source.name)
    if is_adhoc(project, source.name) or named_stores(project) is None:
        return TakeOver()
    forget_adhoc_source(project, source.name)
    remarks, narrower = list[str](), False
    for adhoc in project.adhoc_sources.values():
        if source.name not in source_data.heirs_of(project, adhoc):
            continue
        if finished is not None and finished.source == adhoc.name:
            remark, narrower = _remark(finished), is_narrower(adhoc, source)
        elif source_data.heir_of(project, adhoc) == source.name:
            remark, narrower = _take(project, source, adhoc)
        else:
            remark = _undecided(project, adhoc.name)
        remarks += [remark] if remark else []
    return TakeOver(tuple(remarks), narrower)


def _take(project: Project, source: DataSource, adhoc: DataSource) -> tuple[str, bool]:
    """Take over a source of `crawl --url`; returns a remark, and whether the boundary became narrower."""
    if not state_exists(project, adhoc.name):
        forget_adhoc_source(project, adhoc.name)
        return "", False
    if state_exists(project, source.name):
        forget_adhoc_source(project, adhoc.name)
        return (
            f"{adhoc.name}, which `crawl --url` made, is left over: `ultracrawl remove {adhoc.name}`",
            False,
        )
    try:
        renamed = rename_source(project, adhoc.name, source.name)
    except UserError as error:
        raise WorkError(
            f"{source.name} cannot take over {adhoc.name}, which `crawl --url` made: {error}"
        ) from error
    return _remark(renamed), is_narrower(adhoc, source)


def _remark(renamed: RenamedSource) -> str:
    return f"took over {counted(renamed.documents, 'document')} of {renamed.source}, which `crawl --url` made"


def _undecided(project: Project, adhoc: str) -> str:
    found = next((one for one in source_data.left_over_sources(project) if one.source == adhoc), None)
    return "" if found is None else f"{adhoc}: {found.problem}; {found.instead}"


def is_narrower(adhoc: DataSource, source: DataSource) -> bool:
    """Return whether a definition admits no URL that the boundary of a source of `crawl --url` excluded.

    Other ports of its hosts do not count: links to them are found when their pages change.
    """
    hosts = {rule.text for rule in domain_rules(adhoc)}
    included = [rule for rule in domain_rules(source) if rule.action is Action.INCLUDE]
    return (
        bool(included)
        and all(rule.kind is Kind.EXACT and rule.text in hosts for rule in included)
        and _openness(source) == _openness(adhoc)
    )


_CONNECTIONS = ("networks", "intranet_hosts", "guard")
"""Options of `boundary` about the addresses of connections."""


def _openness(source: DataSource) -> object:
    """Return the options that decide which URLs are inside, but for those that can only exclude some."""
    default = BoundarySection()
    restricting = ("domains", "paths", "ports", "uris", "start_redirects", *_CONNECTIONS)
    section = source.boundary.model_copy(update={name: getattr(default, name) for name in restricting})
    return section, source.urls, source.limits.url_length, source.sites.aliases, source.feeds
