"""Saves changed lines of a source into its file: atomically, unless somebody else has saved meanwhile."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import DefinitionError
from ultracrawl.service.editing.definition_files import FoundDefinition, check_new_name, find_definition
from ultracrawl.service.editing.versions import Version, Versions, versions_folder
from ultracrawl.service.editing.what_if import DraftLine, WhatIf, draft_lines, what_if
from ultracrawl.sources import DataSource, Project, usable_project
from ultracrawl.sources.editing.draft import Draft
from ultracrawl.sources.editing.excerpt import Excerpt, find_excerpt
from ultracrawl.sources.loading.yaml_loader import load_definitions
from ultracrawl.sources.reading.locations import decode
from ultracrawl.sources.reading.tree import Data, OptionPath
from ultracrawl.system.files import convert_write_errors, exclusive_lock, replace_file, sync_to_disk


class EditedMeanwhileError(WorkError):
    """The lines of the source are not those any more that somebody has changed."""

    def __init__(self, who: str = "") -> None:
        self.who = who
        by = f" by {who}" if who else ""
        super().__init__(f"the definition was changed{by} meanwhile; look at the new one, and save again")


class NotWritableError(WorkError):
    """The service does not save this definition."""


def save_definition(
    project: Project,
    source: str | None,
    lines: str,
    revision: str,
    who: str,
    *,
    is_allowed: bool = True,
    may_remove: bool = False,
) -> tuple[Version, WhatIf]:
    """Save the lines of a source, or of all schedules (None); returns the new version, and what it changes.

    `revision` is that of the lines that were changed, empty for a source that is not there yet. With `may_remove` there
    may be no lines. Raises `EditedMeanwhileError` if the file has another one,
    `NotWritableError`, `UserError` for what may not be saved, `NotFoundError` and `WorkError`.
    """
    is_new = source is not None and source not in project.known_sources
    if source is not None and is_new:
        check_new_name(source)
    with _saving(project), Versions(project, source).adding() as added:
        found = find_definition(project, source, is_allowed=is_allowed, may_be_new=is_new)
        if found.why_not is not None:
            raise NotWritableError(f"this definition cannot be saved here: {found.why_not.sentence}")
        latest = added.versions[-1] if added.versions else None
        if found.excerpt.revision != revision:
            raise EditedMeanwhileError(
                latest.who if latest is not None and latest.revision == found.excerpt.revision else ""
            )
        answer = what_if(project, source, found, lines, with_urls=False, may_remove=may_remove)
        answer.check()
        added.add(revision, found.excerpt.shown, at=found.path.stat().st_mtime)
        _write(found, answer.draft.text)
        saved = find_definition(project, source, is_allowed=is_allowed, may_be_new=True).excerpt
        return added.add(saved.revision, saved.shown, who), answer


def undo_change(
    project: Project, source: str | None, revision: str, who: str, *, is_allowed: bool = True
) -> tuple[Version, WhatIf]:
    """Take back the latest version, if it has this revision and somebody has saved it here.

    A source, or schedules, that it added are removed. Raises what `save_definition` does, and `UserError` if there is
    nothing to take back.
    """
    versions = Versions(project, source).all_versions()
    if not versions[1:] or not versions[0].who:
        raise UserError("there is no change that was saved here and could be taken back")
    if versions[0].revision != revision:
        raise EditedMeanwhileError
    lines = versions[1].lines
    return save_definition(project, source, lines, revision, who, is_allowed=is_allowed, may_remove=not lines)


def add_items(
    project: Project, source: DataSource, additions: Mapping[OptionPath, Sequence[Data]]
) -> list[DraftLine]:
    """Add items to lists of a source in its file, for whoever owns that; returns the lines that differ.

    Raises `NotFoundError` if it is in no YAML file, `UserError` if something else would change, too, and `WorkError`.
    """
    with _saving(project):
        found = find_definition(project, source.name)
        excerpt, draft = _with_items(found, source.name, additions)
        lines = [line for line in draft_lines(found, excerpt.shown, ()) if line.mark]
        if lines:
            _write(found, draft.text)
    return lines


def lines_with_items(
    found: FoundDefinition, source: str, additions: Mapping[OptionPath, Sequence[Data]]
) -> str:
    """Return the lines of a source with items added to its lists. Raises `UserError` if more would change."""
    return _with_items(found, source, additions)[0].shown


def _with_items(
    found: FoundDefinition, source: str, additions: Mapping[OptionPath, Sequence[Data]]
) -> tuple[Excerpt, Draft]:
    from ultracrawl.sources.editing.additions import with_items  # noqa: PLC0415 - few look for suggestions

    before = usable_project(load_definitions(found.definitions))
    excerpt = found.excerpt
    for option, items in additions.items():
        inherited = _list_at(_options_of(before, source), option)
        text = replace(excerpt.definition, text=with_items(excerpt, option, items, inherited))
        changed = find_excerpt(text, source)
        assert changed is not None, "nothing is removed"
        excerpt = changed
    draft = Draft(found.excerpt, excerpt.definition.text)
    _check_additions(before, usable_project(draft.load(found.definitions)), source, additions)
    return excerpt, draft


def _check_additions(
    before: Project, after: Project, source: str, additions: Mapping[OptionPath, Sequence[Data]]
) -> None:
    """Raise `UserError` if the sources of a project differ in something else than additions to one of them."""
    wanted = {name: _options_of(before, name) for name in before.sources}
    for option, items in additions.items():
        _list_at(wanted[source], option).extend(items)
    if wanted != {name: _options_of(after, name) for name in after.sources}:
        raise UserError(
            f"the definition of {source!r} shares lines with others; write the lines into it by hand"
        )


def _options_of(project: Project, source: str) -> dict[str, Any]:
    return project.sources[source].model_dump(mode="json")


def _list_at(options: dict[str, Any], path: OptionPath) -> list[Data]:
    """Return the list of an option, also where it is not written."""
    *groups, name = path
    for group in groups:
        options = options.setdefault(str(group), {})
    found: list[Data] = options.setdefault(str(name), [])
    return found


@contextmanager
def _saving(project: Project) -> Iterator[None]:
    """Let one after the other save, also sources of one file."""
    folder = versions_folder(project)
    with convert_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with exclusive_lock(folder / "saving.lock"):
            yield


def _write(found: FoundDefinition, text: str) -> None:
    path = found.path
    with convert_write_errors(path.name):
        data = path.read_bytes()
        try:
            is_unchanged = decode(data, str(path)) == found.excerpt.definition.text
        except DefinitionError as error:
            raise UserError(str(error)) from None
        if not is_unchanged:
            raise EditedMeanwhileError
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        replace_file(path, mark + text.encode(), keep_owner=True)
        sync_to_disk(path.parent)
