"""The open indexes of a search process, used again by later searches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.project_index import searchable_project
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.index.searching import Searcher
from ultracrawl.service.searching.messages import Basis
from ultracrawl.sources import Project
from ultracrawl.sources.kinds import hit_codes
from ultracrawl.sources.reading.locations import Version, file_version, track_file, tracked_files
from ultracrawl.stores.project_stores import open_lists


class Searchers:
    """A searcher for each index of the present project. Not thread-safe."""

    def __init__(self, document_cache: int, patience: float) -> None:
        """`patience` are the seconds that servers of an index have for an answer."""
        self._document_cache = document_cache
        self._patience = patience
        self._project: Project | None = None
        self._searched: SearchableProject | None = None
        """The project, as long as its files have not changed."""
        self._open: dict[str, Searcher] = {}
        self._files: dict[Path, Version] = {}
        """The files that were read or looked for (synonyms, loaded boosts and lists), with their versions."""
        self.codes: Mapping[str, int] = {}
        """The numbers of the kinds of the sources."""

    def use(self, project: Project) -> None:
        """Search this project from now on."""
        self.close()
        self._project, self.codes = project, hit_codes(project.known_sources.values())

    @contextmanager
    def searcher_for(
        self, index: str, principals: tuple[str, ...] | None, sources: tuple[str, ...] | None
    ) -> Iterator[Searcher]:
        """Lend a searcher for which only documents of these principals and sources exist (None: all).

        `index` may be empty: the main index of these sources. Raises `UserError`, `IndexStoreError`.
        """
        searched = self._current()
        seen = searched if sources is None else searched.limited_to(sources)
        name = index or seen.main_index()
        seen.config_of(name)  # it may not exist for these sources
        if name not in self._open:
            with tracked_files() as files:
                self._open[name] = Searcher(
                    searched, name, principals=None, document_cache=self._document_cache
                )
            self._files.update(files)
        try:
            yield self._open[name].seen_by(principals, sources)
        except IndexStoreError:
            self._open.pop(name).close()
            raise

    def basis(self, index: str, commit: Hashable) -> Basis:
        """Return what an answer from an index was made from."""
        return Basis(index, commit, dict(self._files))

    def close(self) -> None:
        """Close all indexes."""
        for searcher in self._open.values():
            searcher.close()
        self._open, self._files, self._searched = {}, {}, None

    def _current(self) -> SearchableProject:
        """Return the project; everything is opened again when a file has changed."""
        assert self._project is not None, "the first task has a project"
        if any(file_version(path) != was for path, was in self._files.items()):
            self.close()
        if self._searched is None:
            with tracked_files() as files:
                track_file(open_lists(self._project).path)
                self._searched = searchable_project(self._project).hurried(self._patience)
            self._files.update(files)
        return self._searched
