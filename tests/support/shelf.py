"""A kind of sources for tests: a file of JSON lists its entries; its documents lie beside it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import Field

from ultracrawl.agents.port import (
    Batch,
    Complete,
    Entry,
    Failure,
    Fetcher,
    KindSetup,
    LeftOut,
    Listed,
    ListedKind,
    Lister,
    Partial,
    Wanted,
)
from ultracrawl.sources.sections.section import Section

ROOT = Path(__file__).resolve().parents[2]


class ShelfSection(Section):
    """The options of a shelf."""

    FETCH_OPTIONS: ClassVar = frozenset({"shelf", "room"})

    shelf: Path = Field(examples=["shelf"])
    """The folder with `shelf.json` and the documents."""
    room: int = 3
    """Entries of a batch."""
    mark: str = ""
    """Makes other documents."""


class ShelfLister(Lister):
    """Lists the `entries` of `shelf.json`, which also says how the listing ends, and notes its calls."""

    def __init__(self, setup: KindSetup[ShelfSection]) -> None:
        self._folder = setup.base / setup.options.shelf
        self._room = setup.options.room

    def note(self, *call: object) -> None:
        with (self._folder / "calls.txt").open("a") as calls:
            calls.write(f"{json.dumps(call)}\n")

    def check_connection(self) -> None:
        (self._folder / "shelf.json").stat()

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        self.note("list", since, cursor)
        told: dict[str, Any] = json.loads((self._folder / "shelf.json").read_text())
        entries = [entry_of(one) for one in told["entries"]]
        for start in range(int(cursor or 0), len(entries), self._room):
            if told.get("pause"):
                time.sleep(told["pause"])
            if start >= told.get("after", 1) and told.get("error"):
                raise RuntimeError(told["error"])
            end = start + self._room
            left_out = [LeftOut(*one) for one in told.get("left_out", ())]
            yield Batch(entries[start:end], str(end), left_out)
        if told.get("partial"):
            yield Partial(told["partial"])
        elif not told.get("silent"):
            yield Complete(told.get("token", ""), changes_only=told.get("changes_only", False))

    def received(self, batch: Batch) -> None:
        self.note("received", len(batch.entries))

    def confirm(self, token: str) -> None:
        self.note("confirm", token)

    def resume_queued(self, since: str) -> None:
        self.note("resumed", since)

    def close(self) -> None:
        self.note("close")


class ShelfFetcher(Fetcher):
    """Reads documents of the folder, two at a time."""

    batch_size = 2

    def __init__(self, setup: KindSetup[ShelfSection]) -> None:
        self._folder = setup.base / setup.options.shelf

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        told = json.loads((self._folder / "shelf.json").read_text())
        time.sleep(told.get("fetch_pause", 0))
        if told.get("unreached"):
            return [Failure(905)] * len(wanted)
        return [self._get(one) for one in wanted]

    def _get(self, wanted: Wanted) -> Entry | Failure:
        name = wanted.access_url.removeprefix("shelf://x/")
        try:
            body = (self._folder / name).read_bytes()
        except FileNotFoundError:
            return Failure(404)
        except IsADirectoryError:
            return Failure(958, "it is a folder")
        known = wanted.entry or Entry(wanted.access_url)
        return Entry(**{one: getattr(known, one) for one in Entry.__slots__} | {"body": body})


def entry_of(told: dict[str, Any]) -> Entry:
    """Return an entry as `shelf.json` writes it."""
    attributes = {name: tuple(values) for name, values in told.pop("attributes", {}).items()}
    body = told.pop("body", None)
    name = told.pop("name")
    url = told.pop("url", f"shelf://x/{name}")
    return Entry(url, attributes=attributes, body=None if body is None else body.encode(), **told)


class ShelfKind(ListedKind[ShelfSection]):
    """Sources of the type `shelf`."""

    section = ShelfSection
    schemes = frozenset({"shelf"})

    def make_lister(self, setup: KindSetup[ShelfSection]) -> Lister:
        return ShelfLister(setup)

    def make_fetcher(self, setup: KindSetup[ShelfSection]) -> Fetcher:
        return ShelfFetcher(setup)


KIND = ShelfKind()


class Shelf:
    """The shelf of a test, and its project."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "shelf"
        self.folder.mkdir()
        self.documents: dict[str, str] = {}

    def put(self, *entries: dict[str, Any], **told: Any) -> None:
        """Have the lister name these entries."""
        text = json.dumps({"entries": list(entries), **told})
        (self.folder / "shelf.json").write_text(text)

    def write(self, name: str, text: str) -> dict[str, Any]:
        """Write a document; returns its entry, whose validators change with the text."""
        (self.folder / name).write_text(text)
        return {"name": name, "validators": f"{len(text)}-{hash(text)}", "content_type": "text/html"}

    @property
    def calls(self) -> list[Any]:
        """What was asked of listers, since this was read last."""
        file = self.folder / "calls.txt"
        found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return found


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the kind installed as one of a package, for this process and those that it starts."""
    about = folder / "shelf_kind-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf-kind\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ultracrawl.source_kinds]\nshelf = support.shelf:KIND\n")
    monkeypatch.syspath_prepend(str(folder))
    paths = [str(folder), str(ROOT / "tests"), str(ROOT)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]))
    assert str(folder) in sys.path
