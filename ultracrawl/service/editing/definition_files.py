"""Finds the file with the definition of a source, and whether the service may write it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.model import DefinitionError
from ultracrawl.sources import Project
from ultracrawl.sources.definition import LONGEST_NAME, NAME_PATTERN
from ultracrawl.sources.dialects import is_yaml
from ultracrawl.sources.editing.excerpt import (
    Excerpt,
    find_excerpt,
    find_schedules,
    has_braced_sources,
    place_for_schedules,
    place_for_source,
)
from ultracrawl.sources.reading.locations import Definitions, DefinitionText, read_location


class WhyNot(StrEnum):
    """Why a definition cannot be saved by the service; it can be looked at and copied."""

    SERVICE = "service"
    """`ultracrawl serve --read-only-definitions`."""
    GIT = "git"
    """The file is in a work tree of Git: there it is changed, and from there it comes."""
    RIGHTS = "rights"
    """The file or its folder is not writable."""

    @property
    def sentence(self) -> str:
        """The reason for people."""
        return _SENTENCES[self]


_SENTENCES = {
    WhyNot.SERVICE: "the service was started with --read-only-definitions",
    WhyNot.GIT: "the file is in a work tree of Git; change it there",
    WhyNot.RIGHTS: "the service may not write the file or its folder",
}


class BracedSourcesError(NotFoundError):
    """The sources of a file stand between braces, where no line can be added by itself."""


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """The definition of a source in its file, and all files that were read with it."""

    excerpt: Excerpt
    definitions: Definitions
    why_not: WhyNot | None

    @property
    def path(self) -> Path:
        """The file; the target of a symbolic link."""
        return Path(self.excerpt.definition.file).resolve()


def find_definition(
    project: Project, source: str | None, *, is_allowed: bool = True, may_be_new: bool = False
) -> FoundDefinition:
    """Return the definition of a source, or of all schedules (None). Raises `NotFoundError`, `DefinitionError`.

    With `is_allowed` false the service must not save any. With `may_be_new` the source may be missing, as schedules
    always may: then the excerpt is empty, and stands where it would.
    """
    what = "schedules" if source is None else f"definition of {source!r}"
    if not project.definitions or source in project.adhoc_sources or not is_yaml(project.definitions):
        raise NotFoundError(f"the {what}: not in a YAML file; to be changed where it is")
    definitions = read_location(project.definitions)
    texts = [one for one in (definitions.main, *definitions.others) if isinstance(one, DefinitionText)]
    excerpt = _first(texts, find_schedules if source is None else lambda text: find_excerpt(text, source))
    if excerpt is None and source is None:
        excerpt = place_for_schedules(definitions.main) if definitions.main is not None else None
    elif excerpt is None and source is not None and may_be_new:
        excerpt = _first(texts, lambda text: place_for_source(text, source))
        if excerpt is None and (braced := [text for text in texts if has_braced_sources(text)]):
            file = Path(braced[0].file).name
            raise BracedSourcesError(f"the sources of {file} stand between braces; add {source!r} there")
    if excerpt is None:
        raise NotFoundError(f"the {what}: no group of its own in its file; to be changed there")
    path = Path(excerpt.definition.file).resolve()
    return FoundDefinition(excerpt, definitions, _why_not(path, is_allowed=is_allowed))


def check_new_name(name: str) -> None:
    """Raise `UserError` if no source may have this name; names are those of files, too."""
    if len(name) > LONGEST_NAME or not re.fullmatch(NAME_PATTERN, name):
        raise UserError(
            f"{name[:LONGEST_NAME]!r} is no name of a source: it has letters, digits, hyphens, points and underscores"
        )


def _first(
    texts: Sequence[DefinitionText], find: Callable[[DefinitionText], Excerpt | None]
) -> Excerpt | None:
    """Return what is found in the first of the files that has it. Raises `DefinitionError` if none of them has."""
    unreadable: DefinitionError | None = None
    for text in texts:
        try:
            if (excerpt := find(text)) is not None:
                return excerpt
        except DefinitionError as error:
            unreadable = error
    if unreadable is not None:
        raise unreadable
    return None


def _why_not(path: Path, *, is_allowed: bool) -> WhyNot | None:
    if not is_allowed:
        return WhyNot.SERVICE
    if any((folder / ".git").exists() for folder in path.parents):
        return WhyNot.GIT
    return None if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK) else WhyNot.RIGHTS
