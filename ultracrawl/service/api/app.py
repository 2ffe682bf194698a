"""The ASGI application of the API: routes, middleware, health checks and metrics."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from starlette.responses import PlainTextResponse, Response

from ultracrawl import __version__
from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.api import approvals, definitions, schedules, searches, sources
from ultracrawl.service.api import queries as query_routes
from ultracrawl.service.api.access import UNREADABLE, Reader, State
from ultracrawl.service.api.audit import AuditTrail
from ultracrawl.service.api.middleware.cookies import Cookies, LateCookies
from ultracrawl.service.api.middleware.guard import RequestGuard
from ultracrawl.service.api.middleware.proxy import ReverseProxy
from ultracrawl.service.api.middleware.slashes import redirect_slashes
from ultracrawl.service.api.problems import (
    MEDIA_TYPE,
    Problem,
    add_error_handlers,
    json_answer,
    problem_answer,
)
from ultracrawl.service.api.public_keys import CrossOrigin
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.metrics.collector import Metrics
from ultracrawl.service.orders import Supervision
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.requests import Searching
from ultracrawl.service.statistics.recorder import QueryRecorder
from ultracrawl.sources import Project

logger = logging.getLogger(__name__)
PREFIX = "/api/v1"
_PROBLEM = {
    "description": "What went wrong (RFC 9457)",
    "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}},
}
_RESPONSES: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """The options of the API."""

    hosts: Collection[str] = ()
    """Allowed host names of this server, beside those of loopback; requests for other hosts are refused."""
    metrics_open: bool = False
    """Show `/metrics` without a token."""
    cookies: Cookies = field(default_factory=Cookies)
    """The names of cookies, which say the port, the root path, and whether browsers come by TLS."""
    behind_proxy: bool = False
    """Take the addresses of clients from the proxy."""
    search: SearchingOptions = field(default_factory=SearchingOptions)
    read_only_definitions: bool = False
    """Save no changes of definitions."""


def make_app(
    project: Callable[[], Project], supervisor: Supervision, options: ApiOptions = ApiOptions()
) -> FastAPI:
    """Return the ASGI application of a service; `project` returns the present project."""
    queries = QueryRecorder(project)
    searching = Searching(project, queries.note_search, options.search)
    state = ApiState(
        project,
        supervisor,
        Accounts(project),
        searching,
        queries,
        cookies=options.cookies,
        may_save_definitions=not options.read_only_definitions,
    )
    metrics = Metrics(project, supervisor, state.holdings, state.indexes)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with supervisor.events().listening(metrics.count_event):
            async with queries.running():
                yield
        await to_thread.run_sync(state.searching.close)

    app = FastAPI(
        title="ultracrawl",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.api = state
    redirect_slashes(app.router)
    add_error_handlers(app)
    _add_health(app, state)
    _add_metrics(app, metrics, open_to_all=options.metrics_open)
    api = APIRouter(prefix=PREFIX, responses=_RESPONSES)
    for module in (sources, definitions, searches, approvals, schedules, query_routes):
        api.include_router(module.router)

    @api.get("/openapi.json", include_in_schema=False)
    async def openapi(_requester: Reader) -> Response:
        return json_answer(_openapi(app))

    app.include_router(api)
    app.add_middleware(AuditTrail)
    app.add_middleware(LateCookies)
    app.add_middleware(CrossOrigin, tokens=state.accounts.tokens)
    app.add_middleware(RequestGuard, hosts={*LOOPBACK_NAMES, *options.hosts})
    app.add_middleware(ReverseProxy, root_path=options.cookies.root_path, is_trusted=options.behind_proxy)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description; the summary of an operation is the first clause of its description."""
    openapi = app.openapi()
    for methods in openapi["paths"].values():
        for method in methods.values():
            method["summary"] = re.split(r"[.;,:]", method["description"])[0]
    return openapi


def _add_health(app: FastAPI, state: ApiState) -> None:
    @app.get("/healthz", tags=["health"], response_class=PlainTextResponse)
    async def healthz() -> Response:
        """Report that the service is alive. No log-in."""
        return PlainTextResponse("ok\n")

    @app.get("/readyz", tags=["health"], response_class=PlainTextResponse, responses={503: _PROBLEM})
    async def readyz() -> Response:
        """Report whether the service is ready: its definitions are loaded, its tokens can be read. No log-in."""
        try:
            for read in (state.accounts.tokens.all_tokens, state.accounts.users.all_users):
                await to_thread.run_sync(read, limiter=state.checking)
            state.supervisor.sources()
        except WorkError as error:
            logger.warning("%s", error)
            return problem_answer(503, UNREADABLE)
        return PlainTextResponse("ready\n")


def _add_metrics(app: FastAPI, metrics: Metrics, *, open_to_all: bool) -> None:
    async def answer() -> Response:
        body, media_type = await to_thread.run_sync(metrics.exposition)
        return Response(body, media_type=media_type)

    if open_to_all:

        @app.get("/metrics", tags=["metrics"], response_class=PlainTextResponse, responses=_RESPONSES)
        async def open_metrics() -> Response:
            """Return the numbers of the service for Prometheus."""
            return await answer()

    else:

        @app.get("/metrics", tags=["metrics"], response_class=PlainTextResponse, responses=_RESPONSES)
        async def metrics_for_readers(_state: State, _requester: Reader) -> Response:
            """Return the numbers of the service for Prometheus."""
            return await answer()
