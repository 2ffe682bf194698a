"""Adds the pages to the application of the API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from ultracrawl.service.pages import cached_copy, preferences, search_routes
from ultracrawl.service.pages.account import login, own_account, provider_login
from ultracrawl.service.pages.admin.approvals import approval_routes
from ultracrawl.service.pages.admin.definitions import definition_routes, new_source, suggestions_page
from ultracrawl.service.pages.admin.records import (
    access_page,
    log_routes,
    query_routes,
    token_routes,
    user_routes,
)
from ultracrawl.service.pages.admin.rendering import OVERVIEW_TEMPLATES
from ultracrawl.service.pages.admin.schedules import schedule_routes
from ultracrawl.service.pages.admin.sources import (
    order_routes,
    overview_routes,
    source_routes,
    url_page,
    url_routes,
)
from ultracrawl.service.pages.rendering import prepare_templates
from ultracrawl.service.pages.static_files import static_response


@asynccontextmanager
async def _preparing(_app: FastAPI) -> AsyncIterator[None]:
    """Prepare the overview in a thread while the service begins."""
    preparing = asyncio.create_task(to_thread.run_sync(prepare_templates, OVERVIEW_TEMPLATES))
    yield
    await preparing


_static = APIRouter(lifespan=_preparing)
_PAGES = (search_routes, cached_copy, preferences, login, provider_login, own_account)
_ADMINISTRATION = (
    overview_routes,
    source_routes,
    order_routes,
    url_routes,
    url_page,
    approval_routes,
    schedule_routes,
    new_source,
    definition_routes,
    suggestions_page,
    query_routes,
    log_routes,
    access_page,
    user_routes,
    token_routes,
)


@_static.get("/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """Return a static file."""
    return static_response(request, name)


def add_pages(app: FastAPI) -> None:
    """Add the routes of the pages to the application."""
    for router in (_static, *(module.router for module in (*_PAGES, *_ADMINISTRATION))):
        app.include_router(router, include_in_schema=False)
