"""The folders of a tantivy index: one for each schema, and a file with the name of the current one.

tantivy cannot change the schema of an index, so new search attributes, a new text analysis, and freeing the space of
deleted documents create a new folder, which replaces the old one in one step.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tantivy import Index, Query, Searcher, TextAnalyzerBuilder, Tokenizer

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import IndexDamagedError, IndexStoreError, is_panic
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.index.tantivy.fields import new_schema
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.system.files import cause_and_remedy, set_aside

T = TypeVar("T")

_MAX_ATTEMPTS = 20
_METADATA_FILE = "ultracrawl.json"
_META_FILE = "meta.json"
_MANAGED_FILE = ".managed.json"
_CURRENT_FILE = "current"


@dataclass(frozen=True, slots=True)
class Generation:
    """A folder with its index, the attributes that it has fields for, and its schema version."""

    path: Path
    index: Index
    attributes: Mapping[str, SearchAttribute]
    schema: int

    def searcher_and_segments(self) -> tuple[Searcher, tuple[str, ...]]:
        """Return a searcher of the newest commit, and the names of its segments by number.

        No other segment ever has one of these names. There are none if another commit came meanwhile.
        """
        before = self._segments()
        self.index.reload()
        searcher = self.index.searcher()
        same = len(before) == searcher.num_segments and self._segments() == before
        return searcher, before if same else ()

    def _segments(self) -> tuple[str, ...]:
        try:
            listed = json.loads((self.path / _META_FILE).read_bytes())["segments"]
            return tuple(segment["segment_id"] for segment in listed)
        except (OSError, ValueError, LookupError, TypeError):  # in memory, or being replaced
            return ()


class Generations:
    """The generations of one index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: Generation | None = None
        self._sources: tuple[object, tuple[str, ...]] = (None, ())
        """The commit that was looked at last, and its sources."""

    def current(self, *, reload: bool = True) -> Generation | None:
        """Return the current generation, by default at its newest commit; None if nothing was ever written."""
        for attempt in range(_MAX_ATTEMPTS):
            if (name := self._current_name()) is None:
                break
            try:
                with self.errors("read"):
                    if self._open is None or self._open.path.name != name:
                        self._open = _opened(self.path / name)
                    if reload:
                        self._open.index.reload()
                    return self._open
            except IndexDamagedError:
                # Another process may have replaced the generation and removed its files.
                if attempt == _MAX_ATTEMPTS - 1 or self._current_name() == name:
                    raise
        return None

    def read(self, work: Callable[[Generation], T], empty: T, *, reload: bool = True) -> T:
        """Return the result of `work` on the current generation, or `empty` if nothing was ever written.

        It is by default at its newest commit. The work is repeated if another process removes files meanwhile.
        Raises `IndexStoreError`.
        """
        for attempt in range(_MAX_ATTEMPTS):
            before = self.state()
            if (generation := self.current(reload=reload)) is None:
                break
            try:
                with self.errors("read"):
                    return work(generation)
            except IndexDamagedError:
                if attempt == _MAX_ATTEMPTS - 1 or self.state() == before:
                    raise
        return empty

    def state(self) -> tuple[str | None, bytes]:
        """Return a value that changes with every commit and merge; missing files have a value too."""
        name = None
        try:
            name = (self.path / _CURRENT_FILE).read_text(errors="replace").strip()
            return name, (self.path / name / _META_FILE).read_bytes()
        except (OSError, ValueError):
            return name, b""

    def sources(self) -> tuple[str, ...]:
        """Return the sources that have documents, sorted; read once for each commit."""
        commit = self.state()
        if commit != self._sources[0]:
            self._sources = commit, self.read(_living_sources, ())
        return self._sources[1]

    def _current_name(self) -> str | None:
        """Return the name of the current folder."""
        with self.errors("read"):
            try:
                name = (self.path / _CURRENT_FILE).read_text(errors="replace").strip()
            except FileNotFoundError:
                self._refuse_lost_current()
                return None
            if not (name.isascii() and name.isdigit()):
                raise ValueError(f"{self.path / _CURRENT_FILE} names no folder of it")
            return name

    def readable(self) -> Generation | None:
        """Return the current generation; if its file is lost, the readable one with the most documents."""
        try:
            return self.current()
        except IndexDamagedError:
            found = [made for folder in self.path.iterdir() if (made := self._try_open(folder)) is not None]
            if not found:
                raise
            return max(found, key=lambda made: (made.index.searcher().num_docs, int(made.path.name)))

    def _try_open(self, folder: Path) -> Generation | None:
        if not folder.name.isdigit():
            return None
        managed = folder / _MANAGED_FILE
        for _ in range(2):
            with suppress(IndexDamagedError), self.errors("read"):
                return _opened(folder)
            if managed.exists():  # it only lists removable files, and is optional
                set_aside(managed)
        return None

    def begin(self, attributes: Mapping[str, SearchAttribute]) -> Generation:
        """Return a new, empty generation, which `adopt` makes the current one. The lock is held."""
        with self.errors("written"):
            self.path.mkdir(parents=True, exist_ok=True)
            numbers = [int(path.name) for path in self.path.iterdir() if path.name.isdigit()]
            folder = self.path / str(max(numbers, default=0) + 1)
            folder.mkdir()
            listed = {name: attribute.type.value for name, attribute in attributes.items()}
            (folder / _METADATA_FILE).write_text(
                json.dumps({"analysis": SCHEMA_VERSION, "layout": SCHEMA_VERSION, "attributes": listed})
            )
            Index(new_schema(attributes), path=str(folder))
            return _opened(folder)

    def adopt(self, generation: Generation) -> None:
        """Make a generation the current one and remove all others."""
        with self.errors("written"):
            draft = self.path / f"{_CURRENT_FILE}.new"
            with draft.open("w") as file:
                file.write(generation.path.name)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path / _CURRENT_FILE)
            self._open = generation
            for folder in self.path.iterdir():
                if folder.name.isdigit() and folder != generation.path:
                    shutil.rmtree(folder, ignore_errors=True)

    def _refuse_lost_current(self) -> None:
        """Raise `IndexDamagedError` if there are documents but no file with the current generation."""
        for meta in self.path.glob(f"*/{_META_FILE}"):
            if json.loads(meta.read_text())["segments"]:
                raise IndexDamagedError(
                    f"index {self.path} cannot be read, it may be damaged: the file {_CURRENT_FILE} is gone"
                )

    def close(self) -> None:
        """Close the files."""
        self._open = None

    @contextmanager
    def errors(self, verb: str) -> Iterator[None]:
        """Convert errors of tantivy and the system to an `IndexStoreError` of one line."""
        try:
            yield
        except OSError as error:
            reason = cause_and_remedy(error)
            is_lost = verb == "read" and isinstance(error, FileNotFoundError)
            kind = IndexDamagedError if is_lost else IndexStoreError
            place = f" ({error.filename})" if error.filename else ""
            raise kind(f"index {self.path} cannot be {verb}: {reason}{place}") from error
        except BaseException as error:
            if not (isinstance(error, (ValueError, KeyError, TypeError)) or is_panic(error)):
                raise
            reason = " ".join(str(error).split())[:200]
            raise IndexDamagedError(
                f"index {self.path} cannot be {verb}, it may be damaged", reason
            ) from error


def with_tokenizer(index: Index) -> Index:
    """Register the tokeniser of an index: texts are analysed already, and only split at blanks."""
    index.register_tokenizer("whitespace", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return index


def empty_generation(attributes: Mapping[str, SearchAttribute]) -> Generation:
    """Return an empty generation in memory."""
    index = with_tokenizer(Index(new_schema(attributes)))
    return Generation(Path(), index, attributes, SCHEMA_VERSION)


def _living_sources(generation: Generation) -> tuple[str, ...]:
    terms = generation.index.searcher().terms_with_prefix("source", "", filter_query=Query.all_query())
    return tuple(sorted(name for name, count in terms if count))


def _opened(folder: Path) -> Generation:
    facts = json.loads((folder / _METADATA_FILE).read_text())
    attributes = {
        name: SearchAttribute(name, AttributeType(kind)) for name, kind in facts["attributes"].items()
    }
    index = with_tokenizer(Index.open(str(folder)))
    # Older indexes have separate versions of text analysis and layout.
    return Generation(folder, index, attributes, min(int(facts["analysis"]), int(facts.get("layout", 1))))
