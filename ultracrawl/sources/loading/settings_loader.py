"""Loads a source from `ULTRACRAWL_*` Scrapy settings, for Scrapy projects without definitions."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import starmap
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from ultracrawl.rules.attributes.schema import (
    DEFAULT_ATTRIBUTES,
    AttributeType,
    SearchAttribute,
    attribute_schema,
)
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.url_steps import STEPS, UrlStep, is_step, parse_step
from ultracrawl.rules.boundary.rules import RuleError
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.sources.checking.checks import check_source
from ultracrawl.sources.definition import DataSource, to_source_name
from ultracrawl.sources.loading.findings import FindingCollector
from ultracrawl.sources.loading.loaded import Loaded
from ultracrawl.sources.mistakes import closest_match, format_names, format_value
from ultracrawl.sources.project import AttributeKind, DefinitionHead, make_project
from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding, Place, Tree
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import AttributeName

SETTINGS: Mapping[str, OptionPath] = {
    "ULTRACRAWL_BOUNDARY": ("boundary",),
    "ULTRACRAWL_REWRITE_RULES": ("urls", "rewrite_rules"),
    "ULTRACRAWL_REWRITER": ("urls", "rewriter"),
    "ULTRACRAWL_ATTRIBUTES": ("attributes",),
    "ULTRACRAWL_INDEX": ("index",),
}
"""The settings and the corresponding options of a definition; `index` is a project option."""
_INDEX, _CACHE = "index", "cache"
"""Folders of the index and of the document cache, below the data folder."""
_RULES = "ULTRACRAWL_REWRITE_RULES"
_NO_OP_RULE = "@^$@@"
"""Placeholder for a w3lib step in a list of rules, so that members keep their numbers."""
_SOURCE_ONLY_OPTIONS = frozenset(
    {"index_dynamic", "intranet_hosts", "networks", "start_redirects", "start_urls_exempt"}
)
"""Boundary options that standalone components ignore."""


class SettingsTree:
    """The settings as a `Tree`."""

    file = "settings"

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.written = {name: _value(settings[name]) for name in SETTINGS if settings.get(name) is not None}
        rules = self.written.get(_RULES, [])
        self.rewriting: list[Data] = rules if isinstance(rules, list) else [rules]
        """Rewrite rules and w3lib steps, in order."""

    def place(self, path: OptionPath) -> Place:
        """Return the setting of an option, with the path inside it; list members count from 1."""
        for name, top in SETTINGS.items():
            if path[: len(top)] == top:
                rest = (step + 1 if isinstance(step, int) else step for step in path[len(top) :])
                return Place(self.file, 0, ".".join(map(str, (name, *rest))))
        return Place(self.file, 0, ".".join(map(str, path)))

    def get(self, key: str) -> Data:
        """Return the options of a source or project below a key."""
        found: dict[str, Data] = {}
        for name, path in SETTINGS.items():
            if path[0] == key and name in self.written:
                value = self.written[name] if name != _RULES else _rules_in(self.rewriting)
                if len(path) == 1:
                    return value
                found[str(path[1])] = value
        return found or None


def source_name(spider: str) -> str:
    """Return the name of a spider as a valid source name."""
    return to_source_name(spider, "spider")


def load_settings(
    settings: Mapping[str, object], spider: str, start_urls: Iterable[str], base: Path
) -> Loaded:
    """Load the project with one source that settings describe; relative paths are relative to `base`.

    Findings name the setting. Without any of the settings the source has the defaults.
    """
    tree, findings = SettingsTree(settings), FindingCollector()
    findings.begin_file(tree.file)
    findings.add_below(tree, (), _check_steps(tree))
    attributes = read_mapped_attributes(tree, findings)
    processes = {"default_interval": None}  # `serve` does not crawl spiders without a definition
    head = findings.validated(
        DefinitionHead, {"index": _index(tree), "cache": _CACHE, "processes": processes}, tree, ()
    )
    if head is not None:
        # Standalone components do not record anchor texts.
        index = head.index.model_copy(update={"anchors": False})
        head = head.model_copy(update={"index": index, "attributes": attributes.types})
    urls = [url for url in start_urls if DEFAULT_POLICY.canonical(url)]
    name = source_name(spider)
    options = {"name": name, "start_urls": urls, **_options(tree, "boundary", "urls")}
    options["attributes"] = dict(attributes.targets)
    source = findings.validated(DataSource, options, tree, ())
    if source is not None:
        schema = attribute_schema(starmap(SearchAttribute, attributes.types.items()))
        found = [finding for finding in check_source(source, schema) if _option_of_settings(finding)]
        findings.add_below(tree, (), [*found, *_check_hosts(source, tree), *_check_effect(source)])
    if head is None or source is None or findings.any_fatal:
        return Loaded(None, findings.in_order())
    return Loaded(make_project(head, {name: source}, base), findings.in_order())


def parse_rewrite_steps(settings: Mapping[str, object]) -> tuple[UrlStep, ...]:
    """Return the rewrite functions in the order of the setting. Raises `RuleError` for settings not loaded before."""
    steps: list[UrlStep] = []
    for rule in SettingsTree(settings).rewriting:
        steps.append(
            parse_step(rule) if is_step(rule) else RewriteRules([RewriteRule.parse(str(rule))]).rewrite
        )
    return tuple(steps)


def _rules_in(rewriting: list[Data]) -> Data:
    return [_NO_OP_RULE if is_step(rule) else rule for rule in rewriting]


def _check_steps(tree: SettingsTree) -> Iterator[PathFinding]:
    for number, rule in enumerate(tree.rewriting):
        try:
            if is_step(rule):
                parse_step(rule)
        except RuleError as error:
            instead = f"write one of {format_names(STEPS)}, or a rule, as '@pattern@replacement@'"
            yield PathFinding((*SETTINGS[_RULES], number), str(error), instead)


def _index(tree: SettingsTree) -> Data:
    """Return the options of the index, with its default path."""
    written = tree.get("index")
    if isinstance(written, dict):
        return {"path": _INDEX, **written}
    return _INDEX if written is None else written


def _options(tree: SettingsTree, *keys: str) -> dict[str, Data]:
    return {key: value for key in keys if (value := tree.get(key)) is not None}


def _option_of_settings(finding: PathFinding) -> bool:
    return any(finding.path[: len(path)] == path for path in SETTINGS.values())


def _check_hosts(source: DataSource, tree: SettingsTree) -> Iterator[PathFinding]:
    """Yield a finding for a boundary that would silently include every host."""
    section = source.boundary
    if "ULTRACRAWL_BOUNDARY" not in tree.written or source.start_urls:
        return
    if not (section.domains.include or section.uris.include):
        problem = "names no hosts, and the spider has no `start_urls` whose hosts it could mean"
        instead = "write them, as {'domains': {'include': ['.example.com']}}"
        yield PathFinding(("boundary",), problem, instead)


def _check_effect(source: DataSource) -> Iterator[PathFinding]:
    """Yield a warning for each boundary option that only the crawl of a source obeys."""
    for name in sorted(_SOURCE_ONLY_OPTIONS & source.boundary.model_fields_set):
        problem, instead = "has no effect without a definition of a source", "remove it"
        yield PathFinding(("boundary", name), problem, instead, fatal=False)


def _value(value: object) -> Data:
    """Return a setting as plain data; objects and lists from the command line are JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            parsed: Data = json.loads(value)
        except ValueError:
            return value
        return parsed
    return _plain(value)


def _plain(value: object) -> Data:
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(member) for member in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value) if isinstance(value, Path) else format_value(value)


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
