"""Adds the pages to the application of the API."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from starlette.responses import Response

from ultracrawl.service.api import searches
from ultracrawl.service.api.access import State, Visitor
from ultracrawl.service.pages import login
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import render
from ultracrawl.service.pages.static_files import static_response


def add_pages(app: FastAPI) -> None:
    """Add the routes of the pages to the application."""
    app.include_router(_router, include_in_schema=False)
    app.include_router(login.router, include_in_schema=False)


_router = APIRouter(route_class=PageRoute)


@_router.get("/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """Return a static file."""
    return static_response(request, name)


@_router.get("/")
async def search_page(
    request: Request, state: State, requester: Visitor, q: Annotated[str, Query(max_length=2000)] = ""
) -> Response:
    """Return the search page, with the results of a query if there is one."""
    answer: dict[str, Any] | None = None
    if q:
        found = await searches.search(state, requester, q)
        answer = json.loads(bytes(found.body))
    return render(request, "search.html", query=q, answer=answer)
