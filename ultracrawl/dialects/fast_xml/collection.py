"""`Scope`: a collection as written in its file: options, logins, sub-collections and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from ultracrawl.dataclass import dataclass, field
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Place

Key = tuple[str, str]
"""Section path with free names filled in, as `workqueue_priority/2`, and name of an option."""


class ScopeKind(StrEnum):
    """The elements that contain options."""

    COLLECTION = "DomainSpecification"
    SUB = "SubDomain"
    LOGIN = "Login"
    NODE = "Node"


@dataclass(slots=True)
class Scope:
    """The options of a collection, or of a part of one, in one layer (file)."""

    kind: ScopeKind
    name: str
    file: str
    line: int
    settings: dict[Key, Setting] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)
    """Line by section."""
    logins: dict[str, Scope] = field(default_factory=dict)
    subs: dict[str, Scope] = field(default_factory=dict)
    nodes: dict[str, Scope] = field(default_factory=dict)
    all_logins: bool = False
    """Whether `logins` replace those of lower layers as a whole."""
    all_subs: bool = False

    @property
    def place(self) -> Place:
        """Its place in the file."""
        return Place(self.file, self.line, self.name)


def merge_layers(layers: Iterable[Scope]) -> Scope:
    """Merge layers, the lowest first; the result has name and place of the highest.

    Options are overridden one by one, also in sections and nodes; a login or sub-collection replaces the lower one of
    its name as a whole.
    """
    result: Scope | None = None
    for layer in layers:
        lower = result or Scope(layer.kind, layer.name, layer.file, layer.line)
        result = Scope(
            layer.kind,
            layer.name,
            layer.file,
            layer.line,
            {**lower.settings, **layer.settings},
            {**lower.sections, **layer.sections},
            {**({} if layer.all_logins else lower.logins), **layer.logins},
            {**({} if layer.all_subs else lower.subs), **layer.subs},
            {**lower.nodes, **_merged_parts(lower.nodes, layer.nodes)},
            lower.all_logins or layer.all_logins,
            lower.all_subs or layer.all_subs,
        )
    assert result is not None
    return result


def _merged_parts(lower: Mapping[str, Scope], upper: Mapping[str, Scope]) -> dict[str, Scope]:
    return {
        name: merge_layers([lower[name], part]) if name in lower else part for name, part in upper.items()
    }


def apply_node(collection: Scope, node: str) -> Scope:
    """Return a collection with the overrides of the `Node` element of one node.

    Sub-collections of the node are merged into those of the collection with the same names.
    """
    own = collection.nodes.get(node)
    if own is None:
        return collection
    subs = {} if own.all_subs else collection.subs
    seen = merge_layers([collection, own])
    seen.kind, seen.name, seen.file, seen.line = (
        collection.kind,
        collection.name,
        collection.file,
        collection.line,
    )
    seen.subs = {**subs, **_merged_parts(collection.subs, own.subs)}
    return seen
