"""The page of a URL: why it is, or is not, in the index, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Annotated, Any, NamedTuple

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.errors import NotFoundError, WorkError
from ultracrawl.model import Decision, UrlRecord
from ultracrawl.model.advice import advice_for_record
from ultracrawl.rules.access.readers import NOBODY
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.inspection.explanation import Explanation, explain, explain_past
from ultracrawl.run.inspection.url_life import LoggedVisit, linking_pages, logged_visits, prospect_of
from ultracrawl.service.access.reader_names import near_misses
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.seen import Sight, is_unknown, requester_named, why_unseen
from ultracrawl.service.api.access import Address, Editor, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.result_view import safe_link
from ultracrawl.service.searching.orders import DocumentOrder
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import state_to_read

router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)
_MOST_TRIED = 30
"""Users and groups of which a page finds out whether they see its document."""
_MOST, _MOST_LINKING = 50, 10_000
"""Redirects, texts of links and linking pages that are shown, and the latter if all of them are asked for."""


class Life(NamedTuple):
    """What is known of a URL beside its record."""

    redirects: list[str]
    """URLs that redirect to it."""
    link_texts: list[str]
    """Texts of links to it, of all pages together."""
    linking: Sequence[str] = ()
    """Pages that link to it."""
    visits: Sequence[LoggedVisit] = ()
    """Its visits in the log of fetches, the newest first."""
    has_more_linking: bool = False
    """Whether further pages link to it."""


class Seen(NamedTuple):
    """Whether somebody sees a document."""

    sight: Sight
    who: str
    """Who was meant."""
    misses: Sequence[tuple[str, str]] = ()
    """Principals, with the reader from which only its type sets each apart."""


class Readers(NamedTuple):
    """Who sees a document of the index, as searches of theirs find it."""

    everybody: bool
    names: tuple[str, ...] = ()
    """Readers that the definition names or the service knows."""
    are_own: bool = False
    """Whether the document names its readers itself, so that others may see it too."""


@router.get("/{name}/url")
async def url_page(
    request: Request,
    state: State,
    requester: Editor,
    address: Address,
    name: str,
    url: Annotated[str, Query(min_length=1, max_length=2000)],
    as_of_run: Annotated[int | None, Query(ge=1)] = None,
    who: Annotated[str, Query(max_length=2000)] = "",
    more: bool = False,
    all_linking: bool = False,
) -> Response:
    """Return the checks of a URL in their order, by the present rules or as a past run made them, and its life.

    With `who` it says whether somebody sees the document, and why not, to administrators; with `more` also which pages
    link to it, 50 of them unless `all_linking` is given, and each visit that the log has.
    """
    source, project = state.valid_source(name), state.project
    found = await to_thread.run_sync(explain, project, source, url)
    past = None
    if as_of_run is not None:
        past = await to_thread.run_sync(explain_past, project, source, url, as_of_run)
    record, hit = found.record, dict[str, Any]()
    ahead = await to_thread.run_sync(prospect_of, project, name, _forms(found))
    live = next((one for one in state.supervisor.sources() if one.name == name), None)
    is_administrator = requester.allows(Role.ADMINISTRATOR)
    if record is not None and record.indexed:
        with suppress(NotFoundError, WorkError):  # what the requester may not see is not shown
            hit = await state.searching.run(requester, DocumentOrder(name, record.shown_url), address=address)
    readers_now = None
    if is_administrator:
        with suppress(WorkError):  # no searches are possible now
            readers_now = await _readers(state, requester, source, record, address)
    return render_admin(
        request,
        "admin/url.html",
        section="overview",
        source=name,
        found=found,
        deciding=deciding(found),
        ahead=ahead,
        live=live,
        past=None if past is None else past.verdicts,
        as_of_run=as_of_run,
        record=record,
        advice=advice_for_record(record) if record is not None else "",
        life=await to_thread.run_sync(_life, project, source, record, more, all_linking),
        more=more,
        all_linking=all_linking,
        who=who,
        seen=await _sight(state, source, record, who, address) if is_administrator and who else None,
        readers=source.readers_of(record.url, record.shown_url)
        if is_administrator and record is not None
        else (),
        nobody=(NOBODY,),
        readers_now=readers_now,
        is_public=name in project.public_sources,
        hit=hit,
        attributes={"Title": hit["title"], **hit["attributes"]} if hit else {},
        link=safe_link(record.shown_url if record is not None else found.canonical_url),
    )


def deciding(found: Explanation) -> Decision | None:
    """Return the first decision that excludes a URL; None if no rule does."""
    return next((decision for decision in found.decisions if not decision.accept), None)


def _forms(found: Explanation) -> tuple[str, ...]:
    """Return the URLs by which a document is ordered, the access URL first."""
    record = found.record
    return (found.canonical_url or found.url, found.url) if record is None else (record.url, record.shown_url)


async def _readers(
    state: ApiState, requester: Requester, source: DataSource, record: UrlRecord | None, address: str
) -> Readers | None:
    """Return who sees the document of a record; None if the index has none."""
    if record is None or not record.indexed:
        return None
    order = DocumentOrder(source.name, record.shown_url)

    async def is_seen(*principals: str) -> bool:
        try:
            await state.searching.run(replace(requester, principals=principals), order, address=address)
        except NotFoundError:
            return False
        return True

    if await is_seen():
        return Readers(everybody=True)
    defined = [one for one in source.readers_of(record.url, record.shown_url) if one != NOBODY]
    known = [one.requester.principals or () for one in state.accounts.users.all_users()]
    known += [one.principals or () for one in state.accounts.tokens.all_tokens()]
    tried = list(dict.fromkeys([*defined, *chain.from_iterable(known)]))[:_MOST_TRIED]
    names = tuple([one for one in tried if await is_seen(one)])
    are_own = not set(defined) <= set(names) or not defined
    return Readers(everybody=False, names=names, are_own=are_own)


async def _sight(
    state: ApiState, source: DataSource, record: UrlRecord | None, who: str, address: str
) -> Seen:
    """Return whether somebody sees the document of a record, by a search of theirs, and else why not."""
    if record is None or not record.indexed:
        return Seen(Sight.NOT_INDEXED, who)
    # In a thread, because it may ask a directory.
    requester = await to_thread.run_sync(requester_named, state.accounts, state.project, who)
    if not requester.finds_in(source.name):
        is_public = requester.kind is RequesterKind.PUBLIC
        return Seen(Sight.NOT_PUBLIC if is_public else Sight.OTHER_SOURCES, requester.name)
    try:
        await state.searching.run(requester, DocumentOrder(source.name, record.shown_url), address=address)
    except NotFoundError:
        readers = source.readers_of(record.url, record.shown_url)
        if await to_thread.run_sync(is_unknown, state.accounts, state.project, who):
            return Seen(Sight.UNKNOWN, who)
        misses = near_misses(requester.principals or (), readers)
        return Seen(why_unseen(requester, readers), requester.name, misses)
    return Seen(Sight.SEES, requester.name)


def _life(
    project: Project, source: DataSource, record: UrlRecord | None, more: bool, all_linking: bool
) -> Life:
    if record is None:
        return Life([], [])
    with state_to_read(project, source.name) as store:
        if store is None:
            return Life([], [])
        redirects = [one.url for one in store.records.redirecting_to(record.url)]
        key = url_key(record.url)
        texts = store.links.anchor_texts([key]).get(key)
        most = (_MOST_LINKING if all_linking else _MOST) if more else 0
        pages = list(islice(linking_pages(store.links.page_links(), key), most + 1)) if most else []
        linking = [page for page, _ in store.records.known_urls(pages[:most]).values()]
    found = [] if texts is None else [*texts.whole, *(text for _, text in texts.parts)]
    visits = list(islice(logged_visits(project, source.name, record.url), _MOST)) if more else []
    return Life(sorted(redirects)[:_MOST], found[:_MOST], sorted(linking), visits, len(pages) > most)
