"""JSON responses, and error responses in the format of RFC 9457 (`application/problem+json`)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from ultracrawl.errors import IndexStoreError, NotFoundError, StateError, UserError, WorkError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.searching.orders import SearchEndedError, SearchRefusedError

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"
_JSON = "application/json"
_NO_JSON = "no_json"
"""The type of the mistake that a body has another media type."""
_SILENT_SECONDS = 60.0
"""Seconds for which the same failure is not logged again."""


class Problem(BaseModel):
    """A problem object (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""


class RequestBody(BaseModel):
    """The JSON object of a request. Unknown members are refused, and text that cannot be stored in UTF-8."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_text(cls, data: object) -> object:
        if isinstance(data, bytes):  # FastAPI reads JSON alone, by its media type
            raise PydanticCustomError(_NO_JSON, "a body is JSON, and its Content-Type says so")
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            found = ascii(error.object[error.start : error.end])
            raise ValueError(f"{found} is half of a surrogate pair, which is no text") from None
        return data


class Conflict(WorkError):  # noqa: N818 - what the status is called
    """The present state does not allow the request (status 409)."""


def json_answer(value: object, status: int = 200) -> Response:
    """Return a JSON response, serialised as by the command line."""
    # Half a surrogate pair has no UTF-8; with a backslash it is the escape that JSON has for it.
    body = json.dumps(value, ensure_ascii=False, default=str).encode(errors="backslashreplace")
    return Response(body, status, media_type=_JSON)


def problem_answer(status: int, detail: str = "", headers: dict[str, str] | None = None) -> Response:
    """Return an error response."""
    problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    return Response(problem.model_dump_json(), status, headers=headers, media_type=MEDIA_TYPE)


def add_error_handlers(app: FastAPI) -> None:
    """Convert all exceptions of an application into problem responses."""

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        detail = "" if error.detail == HTTPStatus(error.status_code).phrase else str(error.detail)
        headers = dict(error.headers or {})
        # The route that was asked knows its own methods only.
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods_at(request))
        return problem_answer(error.status_code, detail, headers)

    @app.exception_handler(RequestValidationError)
    async def of_values(_request: Request, error: RequestValidationError) -> Response:
        mistakes = error.errors()
        if any(one["type"] == _NO_JSON for one in mistakes):
            return problem_answer(415, mistakes[0]["msg"], {"Accept": _JSON})
        return problem_answer(422, "; ".join(map(_validation_message, mistakes)))

    @app.exception_handler(UserError)
    async def of_mistake(request: Request, error: UserError) -> Response:
        status = 404 if isinstance(error, NotFoundError) else 400
        return problem_answer(status, without_folders(request, error))

    @app.exception_handler(WorkError)
    async def of_work(request: Request, error: WorkError) -> Response:
        status = 409 if isinstance(error, Conflict) else 503
        if isinstance(error, StateError | IndexStoreError):
            log_failure(request, error)
        return problem_answer(status, without_folders(request, error), headers_of_problem(error))

    @app.exception_handler(Exception)
    async def of_bug(request: Request, error: Exception) -> Response:
        logger.error("%s %s: %s: %s", request.method, request.url.path, type(error).__name__, error)
        return problem_answer(500)


def _methods_at(request: Request) -> list[str]:
    """Return the methods that the path of a request has (RFC 9110, 15.5.6)."""
    routes, scope = request.app.router.routes, request.scope
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]


def headers_of_problem(error: WorkError) -> dict[str, str]:
    """Return the headers of the response for an error: when it is worth trying again, if that is known."""
    return {"Retry-After": str(error.retry_after)} if error.retry_after else {}


class FailureLog:
    """Logs failures. While a server is down every search fails: the same message is logged once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[str, float] = {}

    def note(self, error: Exception) -> None:
        """Log the message of an error, unless it was logged in the last minute."""
        now, message = self._clock(), str(error)
        self._logged = {one: at for one, at in self._logged.items() if now < at + _SILENT_SECONDS}
        if message not in self._logged:
            self._logged[message] = now
            logger.warning("%s", message)


def log_failure(request: Request, error: Exception) -> None:
    """Log an error by the `FailureLog` of the service."""
    request.app.state.api.failures.note(error)


def without_folders(request: Request, error: Exception) -> str:
    """Return a message with the names of files only: where they are is nobody's business but the administrator's.

    Public keys see no message that may name sources or indexes, and only editors see why an index cannot be read: its
    servers are named in it, and what they answered.
    """
    requester: Requester | None = getattr(request.state, "requester", None)
    is_key = requester is not None and requester.kind is RequesterKind.KEY
    if is_key and not isinstance(error, SearchEndedError | SearchRefusedError):
        return "this cannot be searched for" if isinstance(error, UserError) else ""
    is_editor = requester is not None and requester.allows(Role.EDITOR)
    if isinstance(error, IndexStoreError) and not is_editor:
        return "the index cannot be read at the moment; the log of the service says why"
    text, project = str(error), request.app.state.api.project
    sections = (project.state, project.cache, project.documents, project.logs, project.index)
    folders = {str(section.path) for section in (*sections, *project.indexes.values())} | {str(project.base)}
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder.rstrip('/')}/", "").replace(folder, "its folder")
    return text


def _validation_message(mistake: dict[str, Any]) -> str:
    """Return the path of an invalid value and what is wrong with it."""
    if mistake["type"] == "json_invalid":
        return f"the body is not valid JSON at character {mistake['loc'][-1] + 1}"
    return f"{'.'.join(map(str, mistake['loc'][1:] or mistake['loc']))}: {mistake['msg']}"
