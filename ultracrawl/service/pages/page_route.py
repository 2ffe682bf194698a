"""The class of the routes of pages: errors are pages too, and visitors who are not signed in get the log-in form."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import NotFoundError, UserError, WorkError
from ultracrawl.service.api.problems import Conflict, headers_of_problem, log_failure, without_folders
from ultracrawl.service.pages.rendering import FRAGMENT_HEADER, page_url, render

LOGIN = "/login"
PROVIDER = f"{LOGIN}/oidc"
ADMIN = "/admin"


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route."""
        handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except HTTPException as error:
                if error.status_code == HTTPStatus.UNAUTHORIZED:
                    return login_redirect(request)
                return error_page(request, error.status_code, str(error.detail), error.headers)
            except RequestValidationError:
                return error_page(request, HTTPStatus.BAD_REQUEST)
            except NotFoundError as error:
                return error_page(request, HTTPStatus.NOT_FOUND, str(error))
            except UserError as error:
                return error_page(request, HTTPStatus.BAD_REQUEST, without_folders(request, error))
            except Conflict as error:
                return error_page(request, HTTPStatus.CONFLICT, without_folders(request, error))
            except WorkError as error:
                log_failure(request, error)
                return error_page(request, HTTPStatus.SERVICE_UNAVAILABLE, headers=headers_of_problem(error))

        return handled


def login_redirect(request: Request) -> Response:
    """Return the redirect to the log-in form, which leads back to this page.

    A session that waits for its provider leads there at once: it says who the user is without a form, as long as it
    knows that.
    """
    way = PROVIDER if getattr(request.state, "asks_provider", False) else LOGIN
    target = page_url(request, way, [("next", _own_url(request))])
    if FRAGMENT_HEADER in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": target})
    return RedirectResponse(target, HTTPStatus.SEE_OTHER)


def error_page(request: Request, status: int, detail: str = "", headers: Any = None) -> Response:
    """Return the page of an error: what failed, and what to do.

    htmx, which would put it into another page, is told to go to the search page that it asked for; a part that asks
    again by itself stays as it is.
    """
    if FRAGMENT_HEADER in request.headers:
        is_search = _path_of(request) == "/"
        return Response(status_code=204, headers={"HX-Redirect": _own_url(request)} if is_search else None)
    return render(request, "error.html", status, headers=dict(headers or {}), code=status, detail=detail)


def _own_url(request: Request) -> str:
    """Return the URL of the page that a request is for.

    Parts that htmx replaces belong to the search page, or to a page of the administration; a form leads to its start.
    """
    path = _path_of(request)
    is_admin = f"{path}/".startswith(f"{ADMIN}/")
    if request.method not in {"GET", "HEAD"}:
        return page_url(request, ADMIN if is_admin else "/")
    if FRAGMENT_HEADER in request.headers and not is_admin:
        path = "/"
    return page_url(request, path, request.query_params.multi_items())


def _path_of(request: Request) -> str:
    return request.url.path.removeprefix(page_url(request, ""))
