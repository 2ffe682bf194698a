"""Routes for search, completion and documents, with the JSON objects of `ultracrawl search --json`."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from ultracrawl.errors import UserError
from ultracrawl.index.filters import all_of
from ultracrawl.index.hits.result_json import DisplayNames, answer_json, completions_json, hit_json
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Requester, State, Visitor
from ultracrawl.service.api.problems import NotFoundError, json_answer
from ultracrawl.service.api.state import ApiState
from ultracrawl.sources.kinds import hit_codes

router = APIRouter(tags=["search"])
Texts = Annotated[list[str], Query()]
_LONGEST_QUERY = 2000


@router.get("/search", responses=shapes.answers(shapes.SearchAnswer))
async def search(
    state: State,
    requester: Visitor,
    q: Annotated[str, Query(max_length=_LONGEST_QUERY)] = "",
    source: Texts = [],  # noqa: B006 - a default of FastAPI, which copies it
    group: Texts = [],  # noqa: B006
    where: Texts = [],  # noqa: B006
    every: Annotated[list[str], Query(alias="all")] = [],  # noqa: B006
    facet: Texts = [],  # noqa: B006
    like: str = "",
    sort: str = "",
    language: str = "",
    index: str = "",
    limit: Annotated[int, Query(ge=0, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> Response:
    """Search the index, as `ultracrawl search --json` does; only documents that the requester may see are found."""
    order: dict[str, Any] = {
        "sources": source, "groups": group, "filters": [*where, *all_of(every)], "facets": facet, "like": like,
        "sort": sort, "language": language, "limit": limit, "offset": offset,
    }  # fmt: skip
    return json_answer(
        await state.searching.run(requester.name, partial(_search, state, requester, q, index, order))
    )


def _search(
    state: ApiState, requester: Requester, text: str, index: str, order: dict[str, Any]
) -> dict[str, object]:
    with state.searchers.searcher_for(state.project, index, requester.principals) as searcher:
        names = DisplayNames.of_searcher(searcher, order["language"])
        started = time.perf_counter()
        result = searcher.search(text, **order)
        return answer_json(text, result, (time.perf_counter() - started) * 1000, names, _codes(state))


def _codes(state: ApiState) -> dict[str, int]:
    return hit_codes(state.project.known_sources.values())


@router.get("/suggest", responses=shapes.answers(shapes.Completions))
async def suggest(
    state: State,
    requester: Visitor,
    q: Annotated[str, Query(max_length=_LONGEST_QUERY)] = "",
    source: Texts = [],  # noqa: B006
    group: Texts = [],  # noqa: B006
    index: str = "",
    limit: Annotated[int, Query(ge=0, le=100)] = 8,
) -> Response:
    """Complete a query that is being typed, as `ultracrawl search --complete --json` does."""

    def completed() -> dict[str, object]:
        with state.searchers.searcher_for(state.project, index, requester.principals) as searcher:
            return completions_json(q, searcher.complete(q, limit=limit, sources=source, groups=group))

    return json_answer(await state.searching.run(requester.name, completed))


@router.get("/documents", responses=shapes.answers(shapes.Hit))
async def document(state: State, requester: Visitor, source: str, url: str, index: str = "") -> Response:
    """Return a document by source and URL, as hits have them. 404 also if the token may not see it."""

    def found() -> dict[str, object]:
        with state.searchers.searcher_for(state.project, index, requester.principals) as searcher:
            hit = searcher.document(source, url)
        if hit is None:
            raise NotFoundError(f"there is no document {url} of {source} that this token may see")
        return hit_json(hit, _codes(state))

    if not url:
        raise UserError("url: is empty")
    return json_answer(await state.searching.run(requester.name, found))
