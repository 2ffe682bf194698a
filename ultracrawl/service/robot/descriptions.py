"""Descriptions on their way out of the index, and into it from other search servers."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ultracrawl.crawl.removal.expiry import expiry_of
from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.opening import open_index
from ultracrawl.service.robot.description_files import (
    Description,
    DescriptionError,
    read_json_descriptions,
    read_soif_descriptions,
    write_description,
)
from ultracrawl.sources import DataSource, Project, compile_source

AT_ONCE = 500
"""Descriptions of one commit."""


def export_descriptions(project: Project, out: BinaryIO, *, source: str = "", as_json: bool = False) -> int:
    """Write the documents of the index, or of one source, as descriptions; returns how many."""
    index = open_index(project)
    number = 0
    try:
        for document in index.documents():
            if not source or document.source == source:
                out.write(write_description(Description.of(document), as_json=as_json))
                number += 1
    finally:
        index.close()
    return number


@dataclass(slots=True)
class Imported:
    """What became of the descriptions of a file."""

    added: int = 0
    expired: int = 0
    """Left out, because their day was over."""
    removed: int = 0
    """Documents of earlier imports that left the index, because they were to be replaced."""


def import_descriptions(
    project: Project,
    source: DataSource,
    file: Path,
    name: str,
    *,
    replace: bool = False,
    clock: Callable[[], float] = time.time,
) -> Imported:
    """Put the descriptions of a file into the index, as documents of a source that no crawl touches.

    The attribute map of `source` says which fields can be searched. The whole file is read before anything is
    changed; with `replace` what was there under the name, and is not in the file, leaves. Raises `UserError` for a
    file that is wrong, with line and byte.
    """
    if name in project.sources:
        raise UserError(f"{name!r} is a source that is crawled; choose another name for what is imported")
    attributes = compile_source(source, project).attributes
    report, now = Imported(), clock()
    urls: set[str] = set()

    def documents() -> Iterator[IndexDocument]:
        for one in _descriptions(file):
            if 0 < expiry_of(one.fields) <= now:
                report.expired += 1
                continue
            document = one.document(name)
            urls.add(one.url)
            yield IndexDocument(name, one.url, document.title, document.text, attributes.map(document).values)

    for _ in _descriptions(file):
        pass  # a mistake in the last line is to change nothing
    index = open_index(project)
    try:
        waiting = documents()
        while batch := list(islice(waiting, AT_ONCE)):
            report.added += index.apply(batch)
        if replace:
            old = [Deletion(name, url) for _, url in index.urls(name) if url not in urls]
            index.apply(old)
            report.removed = len(old)
    finally:
        index.close()
    return report


def _descriptions(file: Path) -> Iterator[Description]:
    """Yield the descriptions of a file, of whichever form. Raises `UserError`."""
    try:
        with file.open("rb") as stream:
            if stream.read(1024).lstrip()[:1] == b"{":
                stream.seek(0)
                yield from read_json_descriptions(stream)
                return
            with _mapped(stream) as data:
                yield from read_soif_descriptions(data)
    except DescriptionError as error:
        raise UserError(f"{file}: {error}") from error
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror or error}") from error


@contextmanager
def _mapped(stream: BinaryIO) -> Iterator[bytes | mmap.mmap]:
    stream.seek(0, 2)
    if not stream.tell():
        yield b""
        return
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data
