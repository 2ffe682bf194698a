"""Routes for the definition of a source: its lines, what others would do, saving them, and former versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from ultracrawl.model.dates import iso
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Administrator, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody, json_answer
from ultracrawl.service.api.sources import Name
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.editing.definition_files import FoundDefinition, check_new_name, find_definition
from ultracrawl.service.editing.saving import (
    EditedMeanwhileError,
    NotWritableError,
    save_definition,
    undo_change,
)
from ultracrawl.service.editing.versions import Version, Versions
from ultracrawl.service.editing.what_if import WhatIf, what_if
from ultracrawl.sources.editing.excerpt import SCHEDULES
from ultracrawl.sources.editing.hidden_values import source_entry_model
from ultracrawl.sources.editing.option_changes import editable_options
from ultracrawl.sources.sections.schedules import ScheduleSection

router = APIRouter(tags=["definitions"])
_OF_SOURCE, _OF_SCHEDULES = "/sources/{name}/definition", "/definitions/schedules"
MOST_CHARACTERS = 500_000


class Lines(RequestBody):
    """Lines of a source."""

    lines: str = Field(max_length=MOST_CHARACTERS, description="as `lines` of the definition, changed")


class NewLines(Lines):
    """Lines of a source, and those that were changed."""

    revision: str = Field(
        max_length=100, description="`revision` of the lines that were changed; empty for a new source"
    )


class Undo(RequestBody):
    """The version that is taken back."""

    revision: str = Field(max_length=100, description="`revision` of the present lines")


@router.get(_OF_SOURCE, responses=shapes.answers(shapes.DefinitionText))
def definition(state: State, _requester: Administrator, name: Name) -> Response:
    """Return the lines of a source in its definition file, without secrets."""
    return json_answer(_shown(state, name))


@router.post(f"{_OF_SOURCE}/what-if", responses=shapes.answers(shapes.WhatIfAnswer))
def ask_what_if(state: State, _requester: Administrator, name: Name, order: Lines) -> Response:
    """Return what other lines, or those of a new source, would do, without saving them: mistakes and URLs."""
    found = found_definition(state, name, may_be_new=True)
    return json_answer(what_if(state.project, name, found, order.lines).as_json())


@router.put(_OF_SOURCE, responses=shapes.answers(shapes.SavedDefinition))
async def save_lines(
    state: State, requester: Administrator, name: Name, order: NewLines, details: Details
) -> Response:
    """Save other lines of a source, or a new one; 400 for mistakes and what is read-only, 409 after another change."""
    saved = await saved_lines(state, name, order, requester.name, details)
    return json_answer(saved)


@router.post(f"{_OF_SOURCE}/undo", responses=shapes.answers(shapes.SavedDefinition))
async def undo(state: State, requester: Administrator, name: Name, order: Undo, details: Details) -> Response:
    """Take back the latest change that was saved by the service; 409 after another change."""
    saved = await undone(state, name, order, requester.name, details)
    return json_answer(saved)


@router.get(f"{_OF_SOURCE}/versions", responses=shapes.answers(shapes.DefinitionVersions))
def versions(state: State, _requester: Administrator, name: Name) -> Response:
    """Return the versions of a definition that the service has saved, the newest first."""
    state.known_source(name)
    return json_answer({"versions": list(map(_row, Versions(state.project, name).all_versions()))})


@router.get(f"{_OF_SOURCE}/versions/{{number}}", responses=shapes.answers(None))
def version(state: State, _requester: Administrator, name: Name, number: int) -> Response:
    """Return a version of a definition, with its lines."""
    state.known_source(name)
    found = Versions(state.project, name).find(number)
    return json_answer({**_row(found), "lines": found.lines})


@router.get(_OF_SCHEDULES, responses=shapes.answers(shapes.DefinitionText))
def schedules(state: State, _requester: Administrator) -> Response:
    """Return the lines of all schedules in the definition file; what is said of the definition of a source holds."""
    return json_answer(_shown(state, None))


@router.post(f"{_OF_SCHEDULES}/what-if", responses=shapes.answers(shapes.WhatIfAnswer))
def ask_what_if_scheduled(state: State, _requester: Administrator, order: Lines) -> Response:
    """Return what other lines of the schedules would do: mistakes, and the next launches."""
    return json_answer(what_if(state.project, None, found_definition(state, None), order.lines).as_json())


@router.put(_OF_SCHEDULES, responses=shapes.answers(shapes.SavedDefinition))
async def save_schedules(
    state: State, requester: Administrator, order: NewLines, details: Details
) -> Response:
    """Save other lines of the schedules."""
    return json_answer(await saved_lines(state, None, order, requester.name, details))


@router.post(f"{_OF_SCHEDULES}/undo", responses=shapes.answers(shapes.SavedDefinition))
async def undo_schedules(state: State, requester: Administrator, order: Undo, details: Details) -> Response:
    """Take back the latest change of the schedules that was saved by the service."""
    return json_answer(await undone(state, None, order, requester.name, details))


@router.get(f"{_OF_SCHEDULES}/versions", responses=shapes.answers(shapes.DefinitionVersions))
def versions_of_schedules(state: State, _requester: Administrator) -> Response:
    """Return the versions of the schedules that the service has saved, the newest first."""
    return json_answer({"versions": list(map(_row, Versions(state.project, None).all_versions()))})


def found_definition(state: ApiState, name: str | None, *, may_be_new: bool = False) -> FoundDefinition:
    """Return the definition of a source, or of all schedules (None). Raises `NotFoundError`, `DefinitionError`.

    With `may_be_new` there need not be such a source. Raises `UserError` if none may have this name.
    """
    is_new = name is not None and may_be_new and name not in state.project.known_sources
    if name is not None and is_new:
        check_new_name(name)
    elif name is not None:
        state.known_source(name)
    return find_definition(state.project, name, is_allowed=state.may_save_definitions, may_be_new=is_new)


async def saved_lines(
    state: ApiState, name: str | None, order: NewLines, who: str, details: dict[str, Any]
) -> dict[str, Any]:
    """Save lines and let the service take them up; returns the answer of the API.

    Raises `Conflict` if they were changed meanwhile or cannot be written, `UserError` for what may not be saved.
    """
    save = partial(save_definition, state.project, name, order.lines, order.revision, who)
    return await _taken_up(state, name, save, details)


async def undone(
    state: ApiState, name: str | None, order: Undo, who: str, details: dict[str, Any]
) -> dict[str, Any]:
    """Take back the latest change; returns the answer of the API. Raises what `saved_lines` does."""
    if name is not None:
        state.known_source(name)
    take_back = partial(undo_change, state.project, name, order.revision, who)
    return await _taken_up(state, name, take_back, details)


async def _taken_up(
    state: ApiState, name: str | None, save: Callable[..., tuple[Version, WhatIf]], details: dict[str, Any]
) -> dict[str, Any]:
    try:
        saved, answer = await to_thread.run_sync(partial(save, is_allowed=state.may_save_definitions))
    except (EditedMeanwhileError, NotWritableError) as error:
        raise Conflict(str(error)) from error
    details |= {"version": saved.number, "options": ", ".join(map(str, answer.draft.changes))}
    findings = await state.supervisor.reload_definitions()
    return {
        "source": name,
        "version": saved.number,
        "revision": saved.revision,
        "in_force": not any(one.fatal for one in findings),
    }


def _shown(state: ApiState, name: str | None) -> dict[str, Any]:
    found = found_definition(state, name)
    if name is None:
        options = list(editable_options(ScheduleSection, (SCHEDULES, "*")))
    else:
        options = list(editable_options(source_entry_model(state.known_source(name).type)))
    return {
        "source": name,
        "file": found.path.name,
        "first_line": found.excerpt.first_line,
        "lines": found.excerpt.shown,
        "revision": found.excerpt.revision,
        "read_only": found.why_not.sentence if found.why_not is not None else None,
        "editable": [".".join(map(str, path)) for path in options],
    }


def _row(version: Version) -> dict[str, Any]:
    row = asdict(version)
    del row["lines"]
    return {**row, "time": iso(version.time), "who": version.who or None}
