"""Routes of the search page: start page, results, suggestions, progress of the first crawl, OpenSearch description."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from markupsafe import Markup
from starlette.responses import Response

from ultracrawl.errors import UserError, WorkError
from ultracrawl.index.hits.highlighting import collapse_controls
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.service.access.requester import Requester, Role
from ultracrawl.service.api.access import Address, State, Visitor
from ultracrawl.service.api.problems import headers_of_problem, log_failure, without_folders
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.first_crawl import FirstCrawl, first_crawl
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import FRAGMENT_HEADER, chosen_language, page_url, render
from ultracrawl.service.pages.result_view import marked_beginnings, path_of, result_view, safe_link
from ultracrawl.service.pages.search_address import SearchAddress
from ultracrawl.service.pages.searching import PageSearches, search_order, suggest_order
from ultracrawl.service.pages.stored_copies import documents_with_copies
from ultracrawl.service.searching.orders import SearchEndedError, SearchRefusedError
from ultracrawl.stores.project_stores import state_to_read

if TYPE_CHECKING:
    from ultracrawl.sources import Project

_OPERATORS = frozenset({"AND", "OR", "NOT"})
_MOST_WORDS = 5
"""Words of a query that found nothing that are searched by themselves."""
_MOST_QUERIES = 3
"""Frequent queries that are suggested."""
router = APIRouter(route_class=PageRoute)


async def _searches(state: State, requester: Visitor, client: Address) -> PageSearches:
    return PageSearches(state, requester, client)


Shown = Annotated[SearchAddress, Depends(SearchAddress.of_request)]
Searches = Annotated[PageSearches, Depends(_searches)]


@router.get("/")
async def search_page(
    request: Request, state: State, requester: Visitor, searches: Searches, shown: Shown
) -> Response:
    """Return the search page: with results if its URL has a query, else the start page."""
    if not shown.is_search and _is_part(request):
        start = page_url(request, "/", _own_language(request))
        return Response(status_code=204, headers={"HX-Redirect": start})
    crawl = await _first_crawl(state, requester)
    if not shown.is_search:
        held = await searches.count_documents()
        return _Page(request, shown).rendered(crawl=crawl, documents=held)
    page = _Page(request, shown)
    removed = await _removed(request, state, requester)
    try:
        documents = None if crawl is None else await searches.count_documents()
        answer = await searches.answer(search_order(state.project, shown, chosen_language(request)))
    except UserError as error:
        return page.rendered(400, problem="query", detail=without_folders(request, error))
    except WorkError as error:
        log_failure(request, error)
        return page.rendered(503, headers=headers_of_problem(error), problem=_problem_of(error))
    documents_found = [(hit["source"], hit["url"]) for hit in answer["hits"]]
    copies = await to_thread.run_sync(documents_with_copies, state.project, documents_found)
    result = result_view(shown, answer, copies)
    advice = None if result.total else await _advice(state, requester, searches, shown, result.suggested)
    return page.rendered(crawl=crawl, documents=documents, result=result, advice=advice, removed=removed)


def _problem_of(error: WorkError) -> str:
    """Return the word of the template for why there is no answer."""
    if isinstance(error, SearchEndedError):
        return "ended"
    return "busy" if isinstance(error, SearchRefusedError) else "failed"


@router.get("/progress")
async def progress(
    request: Request, state: State, requester: Visitor, searches: Searches, shown: Shown
) -> Response:
    """Return the line about the first crawl, which replaces itself until the crawl has ended."""
    crawl = await _first_crawl(state, requester)
    documents = await searches.count_documents()
    return render(request, "progress.html", address=shown, crawl=crawl, documents=documents)


class Suggestion(NamedTuple):
    """A name or title that completes the query."""

    number: int
    text: str
    marked: Markup
    place: str
    url: str
    is_section: bool


@router.get("/suggestions")
async def suggestions(request: Request, state: State, searches: Searches, shown: Shown) -> Response:
    """Return the list of suggestions for a query that is being typed: queries, pages, then sections."""
    answer = await searches.answer(suggest_order(shown))
    titles = [
        (collapse_controls(one["text"]).strip(), safe_link(one["url"])) for one in answer["completions"]
    ]
    titles.sort(key=lambda one: "#" in one[1])
    listed = [
        Suggestion(
            number,
            text,
            marked_beginnings(text, shown.text),
            path_of(url).rpartition("/")[2],
            url,
            "#" in url,
        )
        for number, (text, url) in enumerate((one for one in titles if one[1]), 1)
    ]
    queries = state.queries.frequent_beginning_with(shown.text, _MOST_QUERIES)
    marked = [(one, marked_beginnings(one, shown.text)) for one in queries]
    return render(request, "suggestions.html", query=shown.text, queries=marked, suggestions=listed)


@router.get("/opensearch.xml")
async def opensearch(request: Request, state: State) -> Response:
    """Return the OpenSearch description, by which a browser can search here."""
    origin = f"{'https' if state.cookies.is_secure else 'http'}://{request.url.netloc}"
    page = render(request, "opensearch.xml", origin=origin, own_language=_own_language(request))
    page.headers["Content-Type"] = "application/opensearchdescription+xml; charset=utf-8"
    return page


def _is_part(request: Request) -> bool:
    """Return whether htmx asks for the part of the page that a search replaces."""
    return FRAGMENT_HEADER in request.headers and "HX-History-Restore-Request" not in request.headers


class _Page:
    """The search page of one request."""

    def __init__(self, request: Request, shown: SearchAddress) -> None:
        self._request = request
        self._context: dict[str, Any] = {
            "address": shown,
            "crawl": None,
            "documents": None,
            "own_language": _own_language(request),
            "clicks": request.app.state.api.project.search_page.statistics,
            "former_queries": request.app.state.api.project.search_page.former_queries,
            "result": None,
            "problem": "",
            "detail": "",
            "advice": None,
            "removed": None,
        }

    def rendered(self, status: int = 200, headers: dict[str, str] | None = None, **found: Any) -> Response:
        """Return the page; to htmx only the part of it that a search replaces."""
        template = "results_part.html" if _is_part(self._request) else "search.html"
        return render(self._request, template, status, headers=headers, **{**self._context, **found})


class Removed(NamedTuple):
    """A document that an editor has removed at its hit."""

    source: str
    url: str


async def _removed(request: Request, state: ApiState, requester: Requester) -> Removed | None:
    """Return the document whose removal led to this page, if it is removed still."""
    query = request.query_params
    removed = Removed(query.get("removed_from", ""), query.get("removed", ""))
    if (
        not removed.url
        or not requester.allows(Role.EDITOR)
        or removed.source not in state.project.known_sources
    ):
        return None
    return removed if await to_thread.run_sync(_is_removed, state.project, removed) else None


def _is_removed(project: Project, document: Removed) -> bool:
    with state_to_read(project, document.source) as store:
        if store is None:
            return False
        records = (
            store.records.get_record(url_key(document.url)),
            *store.records.with_display_url(document.url),
        )
        return any(record.removed for record in records if record is not None)


class Advice(NamedTuple):
    """What is shown beside an empty result."""

    suggested: int | None
    """The number of documents that the corrected query finds."""
    unfiltered: int
    """The number of documents that the query finds without filters."""
    words: tuple[tuple[str, int], ...]
    """The words of the query and how many documents each finds by itself, without filters; none if none finds any."""
    documents: int
    last_end: float | None


async def _advice(
    state: ApiState,
    requester: Requester,
    searches: PageSearches,
    shown: SearchAddress,
    suggested: SearchAddress | None,
) -> Advice:
    ends = [one.last_end for one in state.supervisor.sources() if one.last_end and requester.sources is None]
    return Advice(
        None if suggested is None else await searches.count_matches(suggested),
        await searches.count_matches(shown.without_filters()) if shown.is_filtered else 0,
        await _words_alone(searches, shown),
        await searches.count_documents(),
        max(ends, default=None),
    )


async def _words_alone(searches: PageSearches, shown: SearchAddress) -> tuple[tuple[str, int], ...]:
    words = plain_words(shown.text)[:_MOST_WORDS]
    everywhere = shown.without_filters()
    counts = [
        (word, await searches.count_matches(everywhere.with_text(word).searched_as_typed()))
        for word in words[1:] and words
    ]
    return tuple(counts) if any(count for _, count in counts) else ()


def plain_words(text: str) -> list[str]:
    """Return the words of a query, each once, without quotation marks, signs, parentheses and operators."""
    found = (one.strip("\"'()+-,;") for one in text.split())
    return list(dict.fromkeys(one for one in found if one and one not in _OPERATORS))


async def _first_crawl(state: ApiState, requester: Requester) -> FirstCrawl | None:
    return await to_thread.run_sync(first_crawl, state, requester, time.time())


def _own_language(request: Request) -> list[tuple[str, str]]:
    """Return the part of a query that keeps the language in the URL."""
    return [one for one in request.query_params.multi_items() if one[0] == "language"][:1]
