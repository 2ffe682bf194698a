"""What the parts of an Office Open XML package refer to (ECMA-376 part 2, 6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from posixpath import join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from ultracrawl.content.converters.conversion import Sink
from ultracrawl.content.converters.office.package import Package
from ultracrawl.content.xml import ElementHandler, stream_xml

_MAX_RELATIONS = 10_000
"""Relations of a part that are followed."""


class Relation(NamedTuple):
    """What a part refers to."""

    kind: str
    """The last word of its type: `hyperlink`, `slideLayout`."""
    target: str
    """A URL, or the place of a part as it is written."""
    is_external: bool
    folder: str
    """Where the part is that refers."""

    @property
    def part(self) -> str:
        """The name of the part that it is, also if it is not there."""
        return normpath(join("/", self.folder, unquote(self.target))).lstrip("/")


def relations_of(
    package: Package, part: str, sink: Sink, *, kinds: Iterable[str] = ()
) -> dict[str, Relation]:
    """Return the relations of a part by their ids, in order; empty if it has none, or surely none of some kinds."""
    folder, _, file = part.rpartition("/")
    found: dict[str, Relation] = {}

    def on_element(name: str, attributes: Mapping[str, str], *_: object) -> None:
        if name == "relationship" and len(found) < _MAX_RELATIONS:
            is_external = attributes.get("TargetMode", "").lower() == "external"
            kind, target = attributes.get("Type", "").rpartition("/")[2], attributes.get("Target", "")
            found[attributes.get("Id", "")] = Relation(kind, target, is_external, folder)

    data = package.read(f"{folder}/_rels/{file}.rels")
    if data and (not kinds or any(kind.encode() in data for kind in kinds)):
        stream_xml(data, ElementHandler(on_element), sink.budget.check_time)
    return found


def add_links(relations: Mapping[str, Relation], sink: Sink) -> None:
    """Add the external hyperlinks among relations."""
    for relation in relations.values():
        if relation.is_external and relation.kind == "hyperlink":
            sink.link(relation.target)


def parts_of_kind(relations: Mapping[str, Relation], *kinds: str) -> Iterable[str]:
    """Yield the names of the parts among the targets that are of some kinds."""
    for relation in relations.values():
        if relation.kind in kinds and not relation.is_external:
            yield relation.part
