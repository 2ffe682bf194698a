"""Routes for search, completion and documents, with the JSON objects of `ultracrawl search --json`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from ultracrawl.errors import UserError
from ultracrawl.index.engine import MAX_SECTIONS
from ultracrawl.index.filters import all_of
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Address, Reader, State, Visitor
from ultracrawl.service.api.problems import json_answer
from ultracrawl.service.api.public_keys import public_answer
from ultracrawl.service.searching.orders import DocumentOrder, SearchOrder, SuggestOrder

router = APIRouter(tags=["search"])
Texts = Annotated[list[str], Query()]
_LONGEST_QUERY = 2000


@router.get("/search", responses=shapes.answers(shapes.SearchAnswer))
async def search(
    state: State,
    requester: Visitor,
    address: Address,
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
    typing: bool = False,
    as_typed: bool = False,
    limit: Annotated[int, Query(ge=0, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
    sections: Annotated[int, Query(ge=0, le=MAX_SECTIONS)] = 0,
    disjunctive_facets: bool = False,
    count_sources: bool = False,
) -> Response:
    """Search the index, as `ultracrawl search --json` does; only documents that the requester may see are found."""
    order = SearchOrder(
        q, tuple(source), tuple(group), (*where, *all_of(every)), tuple(facet),
        like=like, sort=sort, language=language, index=index, limit=limit, offset=offset, sections=sections,
        disjunctive_facets=disjunctive_facets, count_sources=count_sources,
        typing=typing, as_typed=as_typed,
    )  # fmt: skip
    answer = await state.searching.run(requester, order, address=address)
    if requester.role is None:
        answer = public_answer(answer, state.project, language)
    return json_answer(answer)


@router.get("/suggest", responses=shapes.answers(shapes.Completions))
async def suggest(
    state: State,
    requester: Visitor,
    address: Address,
    q: Annotated[str, Query(max_length=_LONGEST_QUERY)] = "",
    source: Texts = [],  # noqa: B006
    group: Texts = [],  # noqa: B006
    index: str = "",
    limit: Annotated[int, Query(ge=0, le=100)] = 8,
) -> Response:
    """Complete a query that is being typed, as `ultracrawl search --complete --json` does."""
    order = SuggestOrder(q, tuple(source), tuple(group), index, limit)
    return json_answer(await state.searching.run(requester, order, address=address))


@router.get("/documents", responses=shapes.answers(shapes.Document))
async def document(
    state: State, requester: Reader, address: Address, source: str, url: str, index: str = ""
) -> Response:
    """Return a document by source and URL, as hits have them. 404 also if the requester may not see it."""
    if not url:
        raise UserError("url: is empty")
    order = DocumentOrder(source, url, index)
    return json_answer(await state.searching.run(requester, order, address=address))
