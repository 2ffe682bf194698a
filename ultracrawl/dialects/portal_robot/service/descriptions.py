"""Export of documents as resource descriptions, and import of descriptions from other search servers."""

from __future__ import annotations

import json
import mmap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from email.utils import format_datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ultracrawl.dataclass import dataclass
from ultracrawl.dialects.portal_robot.schema_file import FIELDS
from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.changes import batches
from ultracrawl.index.project_index import open_index
from ultracrawl.model import AttributeValue, Document
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.attributes.schema import OTHER_FIELDS, fields_of
from ultracrawl.rules.filters.function import SWITCHES
from ultracrawl.rules.filters.functions import BUILT_IN
from ultracrawl.rules.filters.soif import SoifData, SoifError, read_soif, write_soif
from ultracrawl.run.removal.expiry import expiry_of
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.sources.filter_files.file_text import read_file
from ultracrawl.sources.filter_files.filter_file import FILTER
from ultracrawl.sources.filter_files.layout import ALL_WORDS
from ultracrawl.sources.filter_files.lexer import Directive, read_text

TITLE, TEXT, PARTIAL_TEXT = "title", "full-text", "partial-text"
_FIELD_OF = {attribute: field for field, attribute in FIELDS.items()}


class DescriptionError(ValueError):
    """A description cannot be read; the message has the position."""


@dataclass(frozen=True, slots=True)
class Description:
    """A URL and the fields that describe it."""

    url: str
    fields: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, document: IndexDocument, text_field: str = TEXT) -> Description:
        """Return the description of an indexed document, without empty fields and a text that may not be shown.

        `text_field` is the field of the text.
        """
        fields: dict[str, list[str]] = {}
        for name, values in document.attributes.items():
            field = _FIELD_OF.get(name, name.lower().replace("_", "-"))
            if name != OTHER_FIELDS.name:
                fields[field] = [text for value in values if (text := _text_of(value))]
        for field, value in fields_of(document.attributes):
            fields.setdefault(field, []).append(value)
        if document.title:
            fields[TITLE] = [document.title]
        if document.text and not document.secret_text:
            fields[text_field] = [document.text]
        return cls(document.url, {field: values for field, values in fields.items() if values})

    def document(self, source: str) -> Document:
        """Return the description as a document of a source; its fields become attributes with lower-case names."""
        fields: dict[str, list[str]] = {}
        for name, values in self.fields.items():
            fields.setdefault(name.lower(), []).extend(values)
        texts = fields.get(TEXT) or fields.get(PARTIAL_TEXT) or ()
        return Document(
            url=self.url,
            access_url=self.url,
            source=source,
            title=" ".join(fields.get(TITLE, ())),
            text="\n".join(texts),
            mimetype=next(iter(fields.get("content-type") or fields.get("mimetype") or ()), ""),
            attributes={name: values for name, values in fields.items() if name not in (TEXT, PARTIAL_TEXT)},
        )


def _text_of(value: AttributeValue) -> str:
    if isinstance(value, datetime):
        return format_datetime(as_utc(value).replace(microsecond=0), usegmt=True)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def write_description(description: Description, *, as_json: bool) -> bytes:
    """Return a description as an object of SOIF, or as a line of JSON."""
    if not as_json:
        return write_soif(description.url, description.fields)
    row = {
        "url": description.url,
        "fields": {name: list(values) for name, values in description.fields.items()},
    }
    return json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"


def read_soif_descriptions(data: SoifData) -> Iterator[Description]:
    """Yield the descriptions of a text in SOIF. Raises `DescriptionError`."""
    try:
        for url, fields in read_soif(data):
            if not _is_url(url):
                raise DescriptionError(f"the object of `{url[:200]}` has no whole URL")
            yield Description(url, fields)
    except SoifError as error:
        raise DescriptionError(str(error)) from error


MAX_LINE_BYTES = 128 << 20
"""Maximum size of a line of JSON."""


def read_json_descriptions(lines: BinaryIO) -> Iterator[Description]:
    """Yield the descriptions of lines of JSON. Raises `DescriptionError`, which names line and byte."""
    number = at = 0
    while line := lines.readline(MAX_LINE_BYTES + 1):
        number += 1
        if line.strip():
            yield _of_line(line, f"line {number}, byte {at}")
        at += len(line)


def _of_line(line: bytes, place: str) -> Description:
    if len(line) > MAX_LINE_BYTES:
        raise DescriptionError(f"{place}: the line is longer than {MAX_LINE_BYTES >> 20} MB")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"{place}: no JSON: {error}") from error
    match row:
        case {"url": str(url), "fields": dict(fields)} if _is_url(url) and _are_fields(fields):
            return Description(url, fields)
    raise DescriptionError(
        f'{place}: not of the form {{"url": "http://...", "fields": {{"title": ["..."]}}}}'
    )


def _is_url(text: str) -> bool:
    scheme, separator, rest = text.partition("://")
    return bool(scheme.isascii() and scheme.isalnum() and separator and rest)


def _are_fields(fields: Mapping[object, object]) -> bool:
    return all(
        isinstance(name, str) and isinstance(values, list) and all(isinstance(value, str) for value in values)
        for name, values in fields.items()
    )


BATCH_SIZE = 500
"""Descriptions per commit."""


def export_descriptions(project: Project, out: BinaryIO, *, source: str = "", as_json: bool = False) -> int:
    """Write the documents of the index, or of one source, as descriptions; returns their number."""
    number = 0
    text_fields = {one.name: _text_field(one) for one in project.sources.values() if one.filters.file}
    with closing(open_index(project)) as index:
        for document in index.documents():
            if not source or document.source == source:
                description = Description.of(document, text_fields.get(document.source, TEXT))
                out.write(write_description(description, as_json=as_json))
                number += 1
    return number


def _text_field(source: DataSource) -> str:
    """Return the field that holds the text of the descriptions of a source: the whole text, if its filter stores it."""
    section = source.filters
    assert section.file is not None
    blocks = read_text(read_file(section.file).text, str(section.file), ALL_WORDS).blocks
    named = (block for block in blocks if block.kind in FILTER and block.get("name") == section.generation)
    directives = (one for block in named for one in block.directives)
    return TEXT if any(map(_may_store_whole_text, directives)) else PARTIAL_TEXT


def _may_store_whole_text(directive: Directive) -> bool:
    if not SWITCHES.get((directive.get("enable") or "true").lower(), False):
        return False
    name = directive.get("fn") or ""
    if name == "extract-full-text":
        return directive.get("dst") in (None, TEXT)
    stores_anything = name == "harvest-summarizer" or name not in BUILT_IN
    return stores_anything or any(TEXT in pair.value for pair in directive.parameters)


@dataclass(slots=True)
class Imported:
    """The numbers of an import."""

    added: int = 0
    expired: int = 0
    """Expired descriptions, which were skipped."""
    removed: int = 0
    """Documents of earlier imports that were deleted because they were replaced."""


def import_descriptions(
    project: Project,
    source: DataSource,
    file: Path,
    name: str,
    *,
    replace: bool = False,
    clock: Callable[[], float] = time.time,
) -> Imported:
    """Index the descriptions of a file as documents of the source `name`, which is not crawled.

    The attribute map of `source` defines the searchable fields. The whole file is checked before the index is changed.
    With `replace`, earlier documents of `name` that are not in the file are deleted. Raises `UserError` for an invalid
    file, with line and byte.
    """
    if name in project.sources:
        raise UserError(f"{name!r} is a source that is crawled; choose another name for what is imported")
    attributes = compile_source(source, project).attributes
    imported, now = Imported(), clock()
    urls: set[str] = set()

    def documents() -> Iterator[IndexDocument]:
        for description in _descriptions(file):
            if 0 < expiry_of(description.fields) <= now:
                imported.expired += 1
                continue
            document = description.document(name)
            url = description.url
            urls.add(url)
            values = attributes.map(document).values
            yield IndexDocument(
                name, url, document.title, document.text, values, acl=source.indexed_readers(source.acl)
            )

    for _ in _descriptions(file):
        pass  # a mistake anywhere in the file must not change the index
    with closing(open_index(project)) as index:
        remaining = documents()
        while batch := list(islice(remaining, BATCH_SIZE)):
            imported.added += index.apply(batch)
        if replace:
            for old in batches(Deletion(name, url) for _, url in index.urls(name) if url not in urls):
                index.apply(old)
                imported.removed += len(old)
    return imported


def _descriptions(file: Path) -> Iterator[Description]:
    """Yield the descriptions of a file in SOIF or JSON. Raises `UserError`."""
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
