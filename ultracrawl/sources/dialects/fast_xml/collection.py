"""A collection as its file has it: options that are set, logins, sub-collections and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ultracrawl.sources import Place
from ultracrawl.sources.dialects.fast_xml.values import Setting

Key = tuple[str, str]
"""Section with its free name written out, as `workqueue_priority/2`, and name of an option."""


class ScopeKind(StrEnum):
    """What options are said about."""

    COLLECTION = "DomainSpecification"
    SUB = "SubDomain"
    LOGIN = "Login"
    NODE = "Node"


@dataclass(slots=True)
class Scope:
    """A collection, or a part of one: the options that one layer sets."""

    kind: ScopeKind
    name: str
    file: str
    line: int
    settings: dict[Key, Setting] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)
    """Sections that stand in it, and the line of each."""
    logins: dict[str, Scope] = field(default_factory=dict)
    subs: dict[str, Scope] = field(default_factory=dict)
    nodes: dict[str, Scope] = field(default_factory=dict)
    all_logins: bool = False
    """Whether `logins` are all there are, so that none of a lower layer is left."""
    all_subs: bool = False

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.file, self.line, self.name)


def merge_layers(layers: Iterable[Scope]) -> Scope:
    """Return one scope of several, the lowest first; it has name and place of the highest.

    Options replace each other one by one, also in sections and nodes; a login or sub-collection replaces the one of
    its name.
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
            {**lower.nodes, **_over(lower.nodes, layer.nodes)},
            lower.all_logins or layer.all_logins,
            lower.all_subs or layer.all_subs,
        )
    assert result is not None
    return result


def _over(lower: Mapping[str, Scope], upper: Mapping[str, Scope]) -> dict[str, Scope]:
    return {name: merge_layers([lower[name], one]) if name in lower else one for name, one in upper.items()}


def apply_node(collection: Scope, node: str) -> Scope:
    """Return a collection as a node sees it: what its `Node` says goes before all else.

    The sub-collections of the node change those of the collection that have their names.
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
    seen.subs = {**subs, **_over(collection.subs, own.subs)}
    return seen
