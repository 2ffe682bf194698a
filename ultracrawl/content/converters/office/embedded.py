"""Documents inside Office documents: files, OLE objects, and the chunks that stand for a part of the body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_member
from ultracrawl.content.converters.office.package import Package
from ultracrawl.content.converters.registry import is_installed, type_of_name
from ultracrawl.content.mime import sniff_type

_OBJECT = "application/x-ole-storage"
"""An object of a program that makes no documents, such as a formula."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def add_parts(package: Package, names: Iterable[str], sink: Sink) -> None:
    """Add the documents that are parts of a package, each once; one that cannot be read is noted, and costs itself.

    Call it after the text of the document itself: what an embedded document uses up is not there for the rest.
    Raises `LimitReachedError` if a limit of the whole document is reached.
    """
    for name in dict.fromkeys(names):
        try:
            body = package.read(name)
        except ConversionError as error:
            sink.note(f"{name}: {error}")
            continue
        add_object(body, sink, name)


def add_object(body: bytes, sink: Sink, name: str = "") -> None:
    """Add an embedded document, or the files in an OLE object. Raises `LimitReachedError` as `add_parts`."""
    for label, content in _unwrapped(body):
        add_document(content, label, name, sink)


def add_files(body: bytes, sink: Sink) -> None:
    """Add the files in an OLE compound file that is a document itself. Raises `LimitReachedError` as `add_parts`."""
    for label, content in _objects_in(body):
        add_document(content, label, "", sink)


def add_document(body: bytes, label: str, name: str, sink: Sink) -> None:
    """Add an embedded document; `label` is what people call it, `name` tells its type where the bytes do not.

    Too deep in others it is left out, which is noted. Raises `LimitReachedError` if a limit of the whole is reached.
    """
    limit = sink.budget.limits.nesting
    if sink.depth >= limit:
        sink.note(f"documents are inside each other more than {limit} times (conversion.nesting)")
    elif body:
        add_member(Source(body, type_of_name(name), name=label), sink)


def _unwrapped(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what an embedded part is: its name and bytes, or those of the files in an OLE object."""
    files = list(_objects_in(body))
    yield from files
    if not files and sniff_type(body) != _OBJECT:
        yield "", body


def _objects_in(body: bytes) -> Iterator[tuple[str, bytes]]:
    if body.startswith(_OLE) and is_installed("olefile"):
        from ultracrawl.content.converters.office.ole_objects import objects_in  # noqa: PLC0415 - of an extra

        yield from objects_in(body)
