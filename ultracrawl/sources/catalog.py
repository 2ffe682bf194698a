"""Sources by name, and a project made up on the spot from URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.mistakes import closest, shown
from ultracrawl.sources.project import DefinitionHead, Project, make_project
from ultracrawl.urls import DEFAULT_POLICY, host_of

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_NAMED = 20


class Catalog(Mapping[str, DataSource]):
    """The sources of a project by name; an unknown name is a `UserError` that says which are known."""

    def __init__(self, project: Project) -> None:
        self._sources = project.sources

    def __getitem__(self, name: str) -> DataSource:
        return self._sources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def find(self, name: str) -> DataSource:
        """Return a source. Raises `UserError` if there is none of that name."""
        source = self._sources.get(name)
        if source is None:
            guess = closest(name, self._sources)
            known = ", ".join(sorted(self._sources)[:_MOST_NAMED]) or "none"
            instead = f"did you mean {guess!r}?" if guess else f"the sources are: {known}"
            raise UserError(f"no source is named {name!r}; {instead}")
        return source

    def chosen(self, names: Iterable[str]) -> list[DataSource]:
        """Return the named sources, each once, or all. Raises one `UserError` for all unknown names."""
        found, problems = [], []
        for name in dict.fromkeys(names):
            try:
                found.append(self.find(name))
            except UserError as error:
                problems.append(str(error))
        if problems:
            raise UserError("; ".join(problems))
        return found or list(self.values())


def adhoc(urls: Sequence[str], base: Path) -> Project:
    """Return a project with one web source for some URLs, bounded to their hosts; its data go to `base`/var.

    The source is named after the host of the first URL. Raises `UserError` for a text that is no http(s) URL.
    """
    canonical = [_canonical(url) for url in urls]
    if not canonical:
        raise UserError("no URL is given; give at least one, as https://www.example.com/")
    name = _UNFIT.sub("-", host_of(canonical[0])).strip("-._") or "adhoc"
    source = DataSource(name=name[:100], start_urls=tuple(canonical))
    return make_project(DefinitionHead(), {source.name: source}, base)


def _canonical(url: str) -> str:
    canonical = DEFAULT_POLICY.canonical(url)
    if canonical is None:
        raise UserError(
            f"{shown(url)} is not a URL that can be crawled; write it in full, as https://www.example.com/"
        )
    return canonical
