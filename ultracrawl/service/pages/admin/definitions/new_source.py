"""The page that adds a source: a URL and a name, which lead to its definition to be looked at and saved."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.model import DefinitionError
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, host_of
from ultracrawl.service.api import definitions
from ultracrawl.service.api.access import Administrator, State
from ultracrawl.service.editing.definition_files import BracedSourcesError
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.rendering import admin_url
from ultracrawl.sources.definition import LONGEST_NAME, to_source_name
from ultracrawl.sources.editing.excerpt import source_to_copy

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
Url = Annotated[str, Query(max_length=2000)]


@router.get("/definitions/new")
def new_source_page(
    request: Request,
    state: State,
    _requester: Administrator,
    url: Url = "",
    name: Annotated[str, Query(max_length=2 * LONGEST_NAME)] = "",
) -> Response:
    """Return the form; with a URL that a source can begin with, lead to the definition of the source. Nothing is saved.

    Where the file has no place for it, the page has the text to copy.

    The name is that of the host, unless one is given.
    """
    copy, url, name, field, problem = "", url.strip(), name.strip(), "new-url", ""
    if url:
        try:
            begin, field = _start_url(url), "new-name"
            name = name or to_source_name(host_of(begin).removeprefix("www."), "source")
            if name in state.project.known_sources:
                raise UserError(f"there is a source named {name!r} already; choose another name")
            definitions.found_definition(state, name, may_be_new=True)
        except (NotFoundError, DefinitionError) as error:  # of the file
            field, problem = "", str(error)
            copy = source_to_copy(name, begin) if isinstance(error, BracedSourcesError) else ""
        except UserError as error:
            problem = str(error)
        else:
            place = f"{ADMIN}/sources/{quote(name, '')}/definition"
            return RedirectResponse(admin_url(request, place, [("start_url", begin)]), HTTPStatus.SEE_OTHER)
    status = HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK
    return render_admin(
        request,
        "admin/new_source.html",
        status,
        section="definitions",
        asked=url,
        name=name,
        problems={field: problem} if problem else {},
        copy=copy,
    )


def _start_url(text: str) -> str:
    """Return a URL as people type it, which may begin with the host. Raises `UserError` for what is none."""
    whole = text if "://" in text else f"https://{text}"
    found = DEFAULT_POLICY.canonical(whole)
    if found is None or not whole.lower().startswith(("http://", "https://")):
        raise UserError(f"{text!r} is not the URL of a website; write it as https://docs.example.com/")
    return whole
