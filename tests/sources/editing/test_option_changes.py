"""What users of the pages may change: every option of every type of source, and no option that nobody has marked."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, Field, SecretStr
from pydantic.fields import FieldInfo

from ultracrawl.sources.editing.hidden_values import source_entry_model
from ultracrawl.sources.editing.option_changes import (
    editable_options,
    groups_in,
    is_mapping,
    option_changes,
    options_of,
)
from ultracrawl.sources.reading.tree import Data, OptionPath
from ultracrawl.sources.sections.section import Editable, OptionMark, Section
from ultracrawl.sources.values import PluginName
from ultracrawl.system.plugins import SOURCE_KINDS

KINDS = ("web", *SOURCE_KINDS.names)
ALLOWED = (
    "start_urls",
    "boundary",
    "only",
    "exclude",
    "depth",
    "politeness",
    "limits",
    "refresh",
    "attributes",
    "types",
    "follow_only_types",
    "detect_types",
    "cut_off",
    "truncate",
    "default_charset",
    "default_language",
    "detect_language",
    "description_fallback",
    "crawling_mode",
    "cookies.enabled",
)
"""What the documentation names; `only`, `exclude` and `depth` are short forms of the boundary."""
NEVER = ("networks", "intranet_hosts", "guard", "stages", "class", "type", "options", "settings", "features")


def leaves(model: type[BaseModel], path: OptionPath = ()) -> Iterator[tuple[OptionPath, FieldInfo]]:
    """Yield every option that is no group, with a path as a definition has it."""
    for name, info in options_of(model).items():
        groups = groups_in(info.annotation)
        own = (*path, name, "x") if is_mapping(info.annotation) else (*path, name)
        if not groups:
            yield (*path, name), info
        for group in groups:
            yield from leaves(group, own)


def nested(path: OptionPath, value: Data) -> Data:
    for step in reversed(path):
        value = {str(step): value}
    return value


def types_in(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from types_in(part)


def refused(before: Data, after: Data, kind: str = "web") -> list[str]:
    return [
        str(one) for one in option_changes(source_entry_model(kind), before, after) if not one.is_editable
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_is_read_only_unless_its_declaration_says_otherwise(kind: str) -> None:
    model = source_entry_model(kind)
    found = list(leaves(model))
    assert len(found) > 150
    marked = 0
    for path, info in found:
        is_marked = OptionMark.EDITABLE in info.metadata
        marked += is_marked
        for before, after in (
            ({}, nested(path, "y")),
            (nested(path, "y"), {}),
            (nested(path, "y"), nested(path, "z")),
        ):
            (change,) = option_changes(model, before, after)
            assert change.is_editable is is_marked, path
            assert change.is_known
    assert marked == len(list(editable_options(model)))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_names_code_paths_connections_networks_proxies_or_secrets_is_marked(kind: str) -> None:
    for path, info in leaves(source_entry_model(kind)):
        dangerous = {Path, SecretStr, IPv4Network, IPv6Network} & {
            one for one in types_in(info.annotation) if isinstance(one, type)
        }
        named = any(isinstance(one, PluginName) for one in info.metadata)
        hidden = info.repr is False or not set(NEVER).isdisjoint(map(str, path))
        if dangerous or named or hidden:
            assert OptionMark.EDITABLE not in info.metadata, path


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_groups_that_the_documentation_names_may_be_changed(kind: str) -> None:
    for path in editable_options(source_entry_model(kind)):
        own = path[3:] if path[:3] == ("sites", "overrides", "*") else path
        assert {own[0], ".".join(map(str, own))} & {*ALLOWED}, path


class Inner(Section):
    """A group."""

    plain: Editable[int] = Field(default=0)
    new: int = Field(default=0)


class Outer(Section):
    """A group with groups, of which one has an option that somebody added."""

    inner: Inner = Field(default=Inner.by_default())
    by_name: dict[str, Inner] = Field(default={})
    listed: tuple[Inner, ...] = Field(default=())
    named: Editable[dict[str, str]] = Field(default={})
    rules: Editable[tuple[str, ...]] = Field(default=())


CHANGES: list[tuple[Data, Data, list[str]]] = [
    ({"inner": {"plain": 1}}, {"inner": {"plain": 2}}, []),
    ({"inner": {"plain": 1}}, {}, []),
    ({"inner": {"new": 1}}, {}, ["inner.new"]),
    ({}, {"inner": {"plain": 1, "new": 1}}, ["inner.new"]),
    ({}, {"inner": None}, ["inner"]),
    ({}, {"inner": 7}, ["inner"]),
    ({"inner": {"plain": 1}}, {"inner": [1]}, ["inner"]),
    ({"by_name": {"a": {"plain": 1}}}, {"by_name": {"b": {"plain": 1}}}, []),
    ({}, {"by_name": {"a": {"new": 1}}}, ["by_name.a.new"]),
    ({}, {"by_name": {"a": None}}, ["by_name.a"]),
    ({}, {"by_name": []}, ["by_name"]),
    ({}, {"listed": [{"plain": 1}]}, ["listed"]),
    ({"inner": {"plain": 1}}, {"inner": {"plain": True}}, []),
    ({"inner": {"new": 1}}, {"inner": {"new": True}}, ["inner.new"]),
    ({"inner": {"new": 1}}, {"inner": {"new": 1.0}}, ["inner.new"]),
    ({"rules": ["a"]}, {"rules": ["b"]}, []),
    ({"rules": ["a"]}, {"rules": ["a", {"file": "/etc/passwd"}]}, ["rules"]),
    ({"rules": ["a"]}, {"rules": {"file": "/etc/passwd"}}, ["rules"]),
    ({"rules": [{"file": "own.txt"}]}, {"rules": []}, ["rules"]),
    ({"rules": ["a", {"file": "own.txt"}]}, {"rules": [{"file": "own.txt"}, "b"]}, []),
    ({}, {"named": {"file": "Title"}}, []),
    ({}, {"named": {"x": {"file": "Title"}}}, ["named"]),
    ({"unknown": 1}, {}, ["unknown"]),
    (None, {"inner": {"new": 1}}, ["inner.new"]),
    ({"inner": {"new": 1}}, None, ["inner.new"]),
]


def test_changes_are_named_by_their_options(subtests: pytest.Subtests) -> None:
    for before, after, names in CHANGES:
        with subtests.test(before=before, after=after):
            assert [str(one) for one in option_changes(Outer, before, after) if not one.is_editable] == names


def test_what_is_unchanged_is_no_change() -> None:
    written: Data = {"inner": {"new": 1}, "by_name": {"a": {"new": 1}}}
    assert list(option_changes(Outer, written, {"by_name": {"a": {"new": 1}}, "inner": {"new": 1}})) == []


def test_an_unknown_option_is_a_mistake_and_no_right_that_lacks() -> None:
    (change,) = option_changes(source_entry_model("web"), {"depht": 3}, {})
    assert not change.is_known


def test_rules_of_the_boundary_name_no_other_file() -> None:
    for rules in ({"domains": {"include": [{"file": "x"}]}}, {"uris": {"exclude": {"file": "x"}}}):
        assert refused({}, {"boundary": rules})
    assert (
        refused(
            {"boundary": {"domains": {"include": ["a.example"]}}},
            {"boundary": {"domains": {"include": ["b.example"]}}},
        )
        == []
    )
