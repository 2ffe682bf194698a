"""The pages of queries: what people look for, and one query with its hits and what may be done about them."""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, cast

import yaml
from anyio import to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.index.query.scoring import PINNED_SCORE
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, host_of
from ultracrawl.service.api.access import Address, Editor, State
from ultracrawl.service.api.queries import checked_answers
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.searching.orders import SearchOrder
from ultracrawl.service.statistics.report import DEFAULT_DAYS, MAX_DAYS, query_report
from ultracrawl.service.statistics.store import QueryStore

router = APIRouter(prefix=f"{ADMIN}/queries", route_class=PageRoute)
_ROWS = 100
SEEN = 100
"""Hits among which a page is looked for."""
_SHOWN = 10
_ELSE = "https://www.example.com/page", "OTHER WORDS"
"""What stands in texts to copy until a page and a synonym are given."""


class Wanted(NamedTuple):
    """A page that should come first."""

    url: str
    position: int | None
    """Its position among the hits; None if it is none of the first `SEEN`."""
    sources: list[str]
    """Sources that may have it: those with a start URL on its host."""


@router.get("")
async def queries_page(
    request: Request,
    state: State,
    _requester: Editor,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = DEFAULT_DAYS,
    without_answers: bool = False,
) -> Response:
    """Return which queries are frequent, or found nothing; counts below three are not shown."""
    await state.queries.flush()
    store, today = QueryStore.of_project(state.project), datetime.fromtimestamp(time.time(), UTC).date()
    report = await to_thread.run_sync(
        lambda: query_report(store, today, days=days, without_answers=without_answers, limit=_ROWS)
    )
    return render_admin(
        request,
        "admin/queries.html",
        section="queries",
        report=report,
        days=days,
        without_answers=without_answers,
        is_counted=state.project.search_page.statistics,
        golden=checked_answers(state),
    )


@router.get("/query")
async def query_page(
    request: Request,
    state: State,
    requester: Editor,
    address: Address,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    page: Annotated[str, Query(max_length=2000)] = "",
    synonym: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Return the first hits of a query, as the requester sees them, and texts for a synonym, a pin and a check.

    With `page` it says where that page stands. The search is not counted.
    """
    query, page = _one_line(q), _one_line(page)
    found = await state.searching.run(requester, SearchOrder(query, limit=SEEN), address=address)
    hits = cast("list[dict[str, Any]]", found["hits"])
    options = state.project.search
    return render_admin(
        request,
        "admin/query.html",
        section="queries",
        query=query,
        found=found,
        hits=hits[:_SHOWN],
        pinned_score=PINNED_SCORE,
        wanted=_wanted(state, page, hits) if page else None,
        synonym=_one_line(synonym),
        pin=_flow({"query": query, "urls": [page or _ELSE[0]]}),
        synonyms=f"{_word(query)}, {_word(synonym) or _ELSE[1]}",
        synonym_file=options.synonyms.name if options.synonyms is not None else "",
        check=shlex.join(["ultracrawl", "check-answers", _golden(state), "--add", query, page or _ELSE[0]]),
    )


def _wanted(state: ApiState, page: str, hits: list[dict[str, Any]]) -> Wanted:
    url = page if "://" in page else f"https://{page}"
    whole = _canonical(url)
    places = [number for number, hit in enumerate(hits, 1) if _canonical(hit["url"]) == whole]
    of_hits = [hit["source"] for hit in hits if _canonical(hit["url"]) == whole]
    host = host_of(url)
    near = [name for name, one in state.project.sources.items() if host in map(host_of, one.seed_urls)]
    return Wanted(url, places[0] if places else None, list(dict.fromkeys([*of_hits, *near])))


def _canonical(url: str) -> str:
    address = url.partition("#")[0]
    return DEFAULT_POLICY.canonical(address) or address


def _golden(state: ApiState) -> str:
    file = state.project.search_page.check_answers
    return file.name if file is not None else "golden.yaml"


def _flow(entry: dict[str, Any]) -> str:
    text = yaml.safe_dump(entry, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10_000)
    return text.strip()


def _one_line(text: str) -> str:
    """Return a text in one line, without characters that a terminal would obey."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _word(text: str) -> str:
    """Return a text as an entry of a line of synonyms has it."""
    return _one_line(text.replace(",", " ").replace("=>", " ").lstrip("# "))
