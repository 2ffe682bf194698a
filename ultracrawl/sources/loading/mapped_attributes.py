"""Reads mappings that define search attributes with their types in the same place (`ULTRACRAWL_ATTRIBUTES`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from ultracrawl.rules.attributes.schema import DEFAULT_ATTRIBUTES, AttributeType
from ultracrawl.sources.loading.findings import FindingCollector
from ultracrawl.sources.mistakes import closest_match
from ultracrawl.sources.project import AttributeKind
from ultracrawl.sources.reading.tree import PathFinding, Tree
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import AttributeName

_DEFAULTS = {attribute.name: attribute.type for attribute in DEFAULT_ATTRIBUTES}


class TargetSection(Section):
    """A search attribute; may be written as its name alone."""

    name: AttributeName = Field(examples=["Price"])
    """Its name."""
    type: AttributeKind | None = Field(default=None, examples=["number"])
    """Its type. The default for a new one is `string`."""


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class _Mapping(Section):
    attributes: Mapping[str, Annotated[TargetSection, BeforeValidator(_named)]] = Field(
        default={}, examples=[{"author": "Author", "price": {"name": "Price", "type": "number"}}]
    )


class MappedAttributes(NamedTuple):
    """The search attribute for each document attribute, and the types of the non-default search attributes."""

    targets: Mapping[str, str]
    types: Mapping[str, AttributeType]


def read_mapped_attributes(tree: Tree, findings: FindingCollector) -> MappedAttributes:
    """Read `attributes` of a tree. Mistakes are added to `findings`; both mappings are then empty."""
    written = tree.get("attributes")
    read = None if written is None else findings.validated(_Mapping, {"attributes": written}, tree, ())
    targets = read.attributes if read is not None else {}
    findings.add_below(tree, (), _check(targets))
    kinds = {target.name: target.type or AttributeType.STRING for target in targets.values()}
    # A type given once applies to all mentions of the attribute.
    kinds |= {target.name: target.type for target in targets.values() if target.type is not None}
    return MappedAttributes(
        {name: target.name for name, target in targets.items()},
        {name: kind for name, kind in kinds.items() if name not in _DEFAULTS},
    )


def _check(targets: Mapping[str, TargetSection]) -> Iterator[PathFinding]:
    """Yield two spellings or two types of one search attribute, and new names similar to default ones."""
    types: dict[str, AttributeType] = dict(_DEFAULTS)
    names = {name.lower(): name for name in types}
    for attribute, target in targets.items():
        path = ("attributes", attribute)
        known = names.setdefault(target.name.lower(), target.name)
        if known != target.name:
            problem = f"`{target.name}` differs from `{known}` only in upper and lower case"
            yield PathFinding(path, problem, f"write `{known}`")
        elif target.type is not None and types.setdefault(known, target.type) is not target.type:
            problem = f"`{known}` has the type `{types[known]}`"
            yield PathFinding(path, problem, "leave `type` out, or choose another name")
        elif target.type is None and known not in types and (meant := closest_match(known, _DEFAULTS)):
            problem = f"`{known}` is a new search attribute"
            yield PathFinding(path, problem, f"write `{meant}` if that is meant, or its type", fatal=False)
