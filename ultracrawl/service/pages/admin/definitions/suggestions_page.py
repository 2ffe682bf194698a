"""The page of what the state of a source suggests for its definition, and the lines that would do it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.errors import UserError
from ultracrawl.run.traps.recognition import known_traps
from ultracrawl.service.api import definitions
from ultracrawl.service.api.access import Administrator, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.editing.saving import lines_with_items
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.sources import DataSource, compile_source
from ultracrawl.sources.dialects import is_yaml
from ultracrawl.sources.editing.hidden_values import source_entry_model
from ultracrawl.sources.editing.option_changes import editable_options
from ultracrawl.sources.reading.tree import OptionPath
from ultracrawl.stores.project_stores import state_to_read

if TYPE_CHECKING:
    from ultracrawl.run.suggestions.survey import Additions, Suggestions

MOST_URLS = 100_000
"""Known URLs that a page looks through; of more the verb `suggest` says what they suggest."""

router = APIRouter(prefix=ADMIN, route_class=PageRoute)


@router.get("/sources/{name}/suggestions")
def suggestions_page(request: Request, state: State, _requester: Administrator, name: str) -> Response:
    """Return what would make the crawl of a source better, with its lines, to be checked. Nothing is changed."""
    from ultracrawl.run.suggestions.wording import doubt_of, sentence_of  # noqa: PLC0415 - few look for suggestions

    source = state.known_source(name)
    found = _suggestions(state, source)
    editable: set[OptionPath] = set(editable_options(source_entry_model(source.type)))
    lines, revision = "", ""
    if found is not None:
        additions = {option: items for option, items in found.additions.items() if option in editable}
        lines, revision = _lines(state, name, additions) if additions else ("", "")
    return render_admin(
        request,
        "admin/suggestions.html",
        section="overview",
        source=name,
        found=found,
        editable=editable,
        by_hand="" if found is None or lines else _by_hand(state, found, source),
        file=Path(state.project.definitions).name if state.project.definitions else "",
        lines=lines,
        revision=revision,
        sentence_of=sentence_of,
        doubt_of=doubt_of,
    )


def _suggestions(state: ApiState, source: DataSource) -> Suggestions | None:
    """Return what the state of a source suggests; None if it has too many URLs."""
    from ultracrawl.run.suggestions.survey import Suggestions, suggestions_of  # noqa: PLC0415 - as above

    with state_to_read(state.project, source.name) as store:
        if store is None:
            return Suggestions(())
        if store.records.count_urls().known > MOST_URLS:
            return None
        rules = compile_source(source, state.project)
        return suggestions_of(store, source, rules, known_traps(state.project, source))


def _by_hand(state: ApiState, found: Suggestions, source: DataSource) -> str:
    """Return the word of the template for where suggested lines are written by hand; empty if none are."""
    if not any(one.line for one in found.all):
        return ""
    if state.project.definitions and not is_yaml(state.project.definitions):
        return "format"
    try:
        definitions.found_definition(state, source.name)
    except UserError:
        return "place"
    return "file"


def _lines(state: ApiState, name: str, additions: Additions) -> tuple[str, str]:
    """Return the lines of a source with additions, and the revision of the present ones; none if it is not in YAML."""
    try:
        found = definitions.found_definition(state, name)
        return lines_with_items(found, name, additions), found.excerpt.revision
    except UserError:
        return "", ""
