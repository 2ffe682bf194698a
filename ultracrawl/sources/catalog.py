"""Sources by name, and a project made from URLs without a definition file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, RunReport
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, site_of, split
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.mistakes import closest_match, format_value
from ultracrawl.sources.project import DefinitionHead, Project, make_project
from ultracrawl.sources.sections.scope.boundary import BoundarySection

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_NAMED = 20


class Catalog(Mapping[str, DataSource]):
    """The sources of a project by name; an unknown name is a `UserError` that says which are known."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._sources = project.sources

    def __getitem__(self, name: str) -> DataSource:
        return self._sources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def find(self, name: str) -> DataSource:
        """Return a source. Raises `UserError` if there is none of that name, or its definition has mistakes."""
        chosen, mistaken = self.partition([name])
        if mistaken:
            raise mistaken[name]
        return chosen[0]

    def select(self, names: Iterable[str]) -> list[DataSource]:
        """Return the named sources, each once, or all without mistakes.

        Raises one `UserError` for all names that are unknown, or a `DefinitionError` for those with mistakes.
        """
        wanted = tuple(names)
        found, mistaken = self.partition(wanted)
        if mistaken and (wanted or not found):
            raise DefinitionError([finding for error in mistaken.values() for finding in error.findings])
        return found

    def partition(self, names: Iterable[str]) -> tuple[list[DataSource], dict[str, DefinitionError]]:
        """Return the named sources, or all, and set those apart whose definitions have mistakes.

        Raises `UserError` for unknown names, and `DefinitionError` for mistakes that concern all sources.
        """
        if self._project.mistakes:
            raise DefinitionError(self._project.mistakes)
        wanted = self.select_known(names)
        found = [self._sources[one.name] for one in wanted if one.name in self._sources]
        mistaken = self._project.invalid_sources
        return found, {
            one.name: DefinitionError(mistaken[one.name].findings) for one in wanted if one.name in mistaken
        }

    def select_for_crawl(self, names: Iterable[str]) -> tuple[list[DataSource], list[RunReport]]:
        """Return the named sources, or all, and reports of those with mistakes. Raises `UserError` if none is left."""
        chosen, mistaken = self.partition(names)
        if not chosen and mistaken:
            raise DefinitionError([finding for error in mistaken.values() for finding in error.findings])
        if not chosen:
            raise UserError("the definition file has no sources; add one under `sources:`")
        return chosen, [RunReport.not_begun(name, error) for name, error in mistaken.items()]

    def select_known(self, names: Iterable[str]) -> list[DataSource]:
        """Return the named sources, or all, to look at what they hold: of mistaken ones what is well formed.

        Raises one `UserError` for all unknown names, and `DefinitionError` if no source is known because of mistakes.
        """
        known = self._project.known_sources
        if self._project.mistakes and not known:
            raise DefinitionError(self._project.mistakes)
        wanted = tuple(dict.fromkeys(names))
        if unknown := [_unknown(name, known) for name in wanted if name not in known]:
            raise UserError("; ".join(unknown))
        return [known[name] for name in wanted or known]


def _unknown(name: str, sources: Iterable[str]) -> str:
    guess = closest_match(name, sources)
    known = ", ".join(sorted(sources)[:_MOST_NAMED]) or "none"
    return f"no source is named {name!r}; " + (
        f"did you mean {guess!r}?" if guess else f"the sources are: {known}"
    )


def adhoc_project(urls: Sequence[str], base: Path) -> Project:
    """Return a project with one web source for some URLs, bounded to their hosts; its data go to `base`/var.

    The source is named after the host of the first URL, with scheme and port where that is not the usual one.
    Raises `UserError` for a text that is no http(s) URL.
    """
    canonical = [_canonical(url) for url in urls]
    if not canonical:
        raise UserError("no URL is given; give at least one, as https://www.example.com/")
    parts = split(canonical[0])
    usual = site_of(canonical[0]) == parts.host
    origin = parts.host if usual else f"{parts.scheme}-{parts.host}-{parts.port}"
    name = _UNFIT.sub("-", origin).strip("-._") or "adhoc"
    source = DataSource(
        name=name[:100], start_urls=tuple(canonical), boundary=BoundarySection(start_redirects=True)
    )
    return make_project(DefinitionHead(), {source.name: source}, base)


def _canonical(url: str) -> str:
    canonical = DEFAULT_POLICY.canonical(url)
    if canonical is None:
        raise UserError(
            f"{format_value(url)} is not a URL that can be crawled; write it in full, as https://www.example.com/"
        )
    return canonical
