"""The pages of definitions: their latest versions, and what a changed one would do before it is saved."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.api import definitions
from ultracrawl.service.api.access import Administrator, Form, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, without_folders
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.editing.definition_files import FoundDefinition
from ultracrawl.service.editing.versions import Version as SavedVersion
from ultracrawl.service.editing.versions import Versions
from ultracrawl.service.editing.what_if import WhatIf, draft_lines, what_if
from ultracrawl.service.pages.admin.rendering import leads_to, render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.sources.editing.excerpt import new_source_lines

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
_PLACE, _SCHEDULES = "/sources/{name}/definition", "/definitions/schedules"
Version = Annotated[int | None, Query(ge=1)]


class _Answer(NamedTuple):
    """What was found out about the lines of a form."""

    lines: str
    what_if: WhatIf | None = None
    problem: str = ""
    """Why they were refused as a whole."""
    is_late: bool = False
    """Whether somebody else has changed the definition meanwhile."""


@router.get("/definitions")
def definitions_page(request: Request, state: State, _requester: Administrator) -> Response:
    """Return all sources, and the schedules, with the latest version of the definition of each."""
    names = (None, *state.project.known_sources)
    latest = {name: Versions(state.project, name).all_versions()[:1] for name in names}
    rows = sorted(latest.items(), key=lambda row: (-row[1][0].time if row[1] else 0.0, row[0] or ""))
    return render_admin(request, "admin/definitions.html", section="definitions", rows=rows)


@router.get(_PLACE)
def definition_page(
    request: Request,
    state: State,
    _requester: Administrator,
    name: str,
    version: Version = None,
    start_url: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Return the lines of a definition to be changed, or those of a former version.

    With `start_url` those of a new source, and what they would do.
    """
    if start_url and name not in state.project.known_sources:
        found = definitions.found_definition(state, name, may_be_new=True)
        lines = new_source_lines(found.excerpt, start_url)
        return _page(request, state, name, found, _answered(state, name, found, lines))
    return _shown(request, state, name, version)


@router.get(_SCHEDULES)
def schedules_page(
    request: Request, state: State, _requester: Administrator, version: Version = None
) -> Response:
    """Return the lines of all schedules to be changed, or those of a former version; of none an example."""
    return _shown(request, state, None, version)


@router.post(f"{_PLACE}/what-if")
def ask_what_if(request: Request, state: State, _requester: Administrator, name: str, form: Form) -> Response:
    """Return the page with what the lines of the form would do; nothing is saved."""
    return _asked(request, state, name, form)


@router.post(f"{_SCHEDULES}/what-if")
def ask_what_if_scheduled(request: Request, state: State, _requester: Administrator, form: Form) -> Response:
    """Return the page with when schedules would be launched by the lines of the form."""
    return _asked(request, state, None, form)


@router.post(_PLACE)
async def save_lines(
    request: Request, state: State, _requester: Administrator, name: str, form: Form, details: Details
) -> Response:
    """Save the lines of the form; if they are refused or somebody was faster, the page returns with them."""
    return await _saved(request, state, name, form, details)


@router.post(_SCHEDULES)
async def save_schedules(
    request: Request, state: State, _requester: Administrator, form: Form, details: Details
) -> Response:
    """Save the schedules of the form, as the definition of a source."""
    return await _saved(request, state, None, form, details)


@router.post(f"{_PLACE}/undo")
async def undo(
    request: Request, state: State, _requester: Administrator, name: str, form: Form, details: Details
) -> Response:
    """Take back the latest change."""
    return await _undone(request, state, name, form, details)


@router.post(f"{_SCHEDULES}/undo")
async def undo_schedules(
    request: Request, state: State, _requester: Administrator, form: Form, details: Details
) -> Response:
    """Take back the latest change of schedules."""
    return await _undone(request, state, None, form, details)


def _shown(request: Request, state: ApiState, name: str | None, version: int | None) -> Response:
    found = definitions.found_definition(state, name)
    lines = found.excerpt.shown if version is None else Versions(state.project, name).find(version).lines
    if not lines and name is None:
        lines = _example(state)
    return _page(request, state, name, found, _Answer(lines))


def _example(state: ApiState) -> str:
    """Return a schedule that people change into theirs."""
    first = next(iter(state.project.sources), "NAME")
    return f"schedules:\n  nightly:\n    sources: [{first}]\n    cron: 0 3 * * *"


def _asked(request: Request, state: ApiState, name: str | None, form: dict[str, str]) -> Response:
    found, lines = definitions.found_definition(state, name, may_be_new=True), _lines(form)
    return _page(request, state, name, found, _answered(state, name, found, lines))


async def _saved(
    request: Request, state: ApiState, name: str | None, form: dict[str, str], details: dict[str, Any]
) -> Response:
    order = definitions.NewLines(lines=_lines(form), revision=form.get("revision", "")[:100])
    try:
        await definitions.saved_lines(state, name, order, request.state.requester.name, details)
    except (UserError, WorkError) as error:
        return await to_thread.run_sync(_refused, request, state, name, order, error)
    return _back(request, state, name, "save")


async def _undone(
    request: Request, state: ApiState, name: str | None, form: dict[str, str], details: dict[str, Any]
) -> Response:
    order = definitions.Undo(revision=form.get("revision", "")[:100])
    await definitions.undone(state, name, order, request.state.requester.name, details)
    return _back(request, state, name, "undo")


def _lines(form: dict[str, str]) -> str:
    """Return the lines of a form. Raises `UserError` for too many."""
    lines = form.get("lines", "").replace("\r\n", "\n")
    if len(lines) > definitions.MOST_CHARACTERS:
        raise UserError(f"a definition has at most {definitions.MOST_CHARACTERS:,} characters here")
    return lines


def _answered(state: ApiState, name: str | None, found: FoundDefinition, lines: str) -> _Answer:
    try:
        return _Answer(lines, what_if(state.project, name, found, lines))
    except UserError as error:
        return _Answer(lines, problem=str(error))


def _refused(
    request: Request, state: ApiState, name: str | None, order: definitions.NewLines, error: Exception
) -> Response:
    """Return the page with lines that were not saved, so that nothing is lost."""
    found = definitions.found_definition(state, name, may_be_new=True)
    answer = _answered(state, name, found, order.lines)
    is_late = found.excerpt.revision != order.revision
    problem = without_folders(request, error)
    if isinstance(error, Conflict):
        answer = answer._replace(is_late=is_late, problem=answer.problem or ("" if is_late else problem))
    elif isinstance(error, WorkError) or answer.what_if is None or answer.what_if.can_be_saved:
        answer = answer._replace(problem=problem)
    status = HTTPStatus.SERVICE_UNAVAILABLE if isinstance(error, WorkError) else HTTPStatus.BAD_REQUEST
    if isinstance(error, Conflict):
        status = HTTPStatus.CONFLICT
    return _page(request, state, name, found, answer, status)


def _page(
    request: Request,
    state: ApiState,
    name: str | None,
    found: FoundDefinition,
    answer: _Answer,
    status: int = HTTPStatus.OK,
) -> Response:
    versions = Versions(state.project, name).all_versions()
    findings = answer.what_if.findings if answer.what_if is not None else ()
    rows = draft_lines(found, answer.lines, findings)
    placed = [one for row in rows for one in row.findings]
    return render_admin(
        request,
        "admin/definition.html",
        status,
        section="definitions",
        source=name,
        is_new=name is not None and name not in state.project.known_sources,
        found=found,
        answer=answer,
        rows=rows,
        elsewhere=[one for one in findings if one not in placed],
        versions=versions,
        present=_present(versions, found),
    )


def _present(versions: list[SavedVersion], found: FoundDefinition) -> SavedVersion | None:
    """Return the version that the file has now, if the service has saved it."""
    latest = versions[0] if versions else None
    return latest if latest is not None and latest.revision == found.excerpt.revision else None


def _back(request: Request, state: ApiState, name: str | None, done: str) -> Response:
    place = _SCHEDULES if name is None else f"/sources/{quote(name, '')}/definition"
    if name is not None and name not in state.project.known_sources:  # taken back, or not in force yet
        place = "/definitions"
    return leads_to(request, ADMIN + place, done)
