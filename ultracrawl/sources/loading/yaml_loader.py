"""Loads YAML definition files into a project, or reports all mistakes of all files with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.attributes.schema import SearchAttribute, attribute_schema
from ultracrawl.sources.checking.access_checks import check_kept_sessions, check_secrets, check_sign_in
from ultracrawl.sources.checking.checks import (
    check_attributes,
    check_destinations,
    check_receivers,
    check_search,
    check_search_attributes,
    check_search_page,
    check_searched_attributes,
    check_source,
    check_start_urls,
    check_value_lists,
)
from ultracrawl.sources.checking.schedule_checks import (
    check_due,
    check_node,
    check_profiles,
    check_refresh_conflicts,
    check_schedules,
    check_times,
    without_interval,
)
from ultracrawl.sources.definition import NAME_PATTERN, DataSource, SourceOptions
from ultracrawl.sources.kinds import check_unsuitable_options, find_kind, meant_kind, source_model
from ultracrawl.sources.loading.findings import FindingCollector
from ultracrawl.sources.loading.loaded import Loaded
from ultracrawl.sources.loading.other_words import advice_for
from ultracrawl.sources.loading.wording import option_names
from ultracrawl.sources.mistakes import closest_match, format_names, format_value, suggestion
from ultracrawl.sources.project import DefinitionFile, DefinitionHead, InvalidSource, Project, make_project
from ultracrawl.sources.reading.locations import (
    PROJECT_FILE,
    Definitions,
    DefinitionText,
    UnreadFile,
    read_location,
)
from ultracrawl.sources.reading.rule_files import RuleFiles
from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding, Place, Tree
from ultracrawl.sources.reading.yaml_tree import YamlTree, parse_yaml
from ultracrawl.sources.sections.documents.lists import value_lists

Schema = dict[str, SearchAttribute]

_FILE_KEYS = tuple(option_names(DefinitionFile))
_HEAD_KEYS = tuple(option_names(DefinitionHead))
_SOURCE_KEYS = tuple(option_names(SourceOptions))
_TREE_HEAD = ("attributes", "index", "indexes", "processes")
_NOT_IN_DEFAULTS = "write it in the sources; each has its own"
_SINGLE_SOURCE_OPTIONS = frozenset({"start_urls", "type", "class"})
"""Options by which a file with a single source is recognised."""


def load_project(location: str | Path) -> Loaded:
    """Load the YAML definitions of a location: a file, a folder, or `package:folder`."""
    try:
        definitions = read_location(location)
    except DefinitionError as error:
        return Loaded(None, error.findings)
    return load_definitions(definitions)


def load_definitions(definitions: Definitions) -> Loaded:
    """Load definitions from texts that were read before."""
    reading = _DefinitionReader(definitions.base)
    head: DefinitionHead | None = DefinitionHead()
    if definitions.main is not None:
        head = reading.read_main(definitions.main)
    for text in definitions.others:
        reading.read_other(text)
    return reading.finish(head, definitions.base)


def load_tree(tree: Tree, base: Path, key_file: Path | None = None) -> tuple[Loaded, tuple[PathFinding, ...]]:
    """Load sources converted from another format; relative paths are relative to `base`.

    Of the options of a project, `tree` may have `attributes`, `index`, `indexes` and `processes`, without mistakes.
    `key_file` decrypts passwords. The second result repeats the fatal findings with their paths in the tree.
    """
    reading = _DefinitionReader(base)
    reading.read_tree(tree)
    head = DefinitionHead.model_validate(
        {
            "processes": {
                "default_interval": None
            },  # collections have intervals, and robots times of their own
            **{name: written for name in _TREE_HEAD if (written := tree.get(name)) is not None},
            "key_file": key_file,
        }
    )
    loaded = reading.finish(head, base)
    findings = tuple(one for one in loaded.findings if one.code is not FindingCode.NEVER_DUE)
    return replace(loaded, findings=findings), tuple(reading.findings.fatal)


def _check_parts(data: dict[str, Data], schema: Schema) -> Iterator[PathFinding]:
    """Check the valid options of a source that is invalid as a whole."""
    start = _valid_part(data, "start_urls")
    if start is not None and (start.start_urls or "class" not in data):
        yield from check_start_urls(start)
    attributes = _valid_part(data, "attributes")
    if attributes is not None:
        yield from check_attributes(attributes, schema)


def _valid_part(data: dict[str, Data], key: str) -> DataSource | None:
    try:
        return source_model(find_kind(data.get("type"))).model_validate(
            {"name": "part"} | {option: data[option] for option in (key, "type") if option in data}
        )
    except ValidationError:
        return None


def _valid_options(data: dict[str, Data], name: str) -> DataSource:
    """Return a source with those of its options that are valid."""
    sound = {key: value for key, value in data.items() if _valid_part(data, key)}
    try:
        model = source_model(find_kind(sound.get("type")))
        return model.model_validate({**sound, "name": "nameless"}).model_copy(update={"name": name})
    except ValidationError:
        return DataSource(name="nameless").model_copy(update={"name": name})


def _source_of(finding: Finding, tree: YamlTree) -> str:
    """Return the name of the source that contains a YAML mistake, empty if none does."""
    sources = tree.get("sources")
    names = map(str, sources) if isinstance(sources, dict) else ()
    return next((name for name in names if f"{finding.key}.".startswith(f"sources.{name}.")), "")


def is_single_source(tree: YamlTree) -> bool:
    """Return whether a file has the options of one source, which is named after the file."""
    return "sources" not in tree.options and not _SINGLE_SOURCE_OPTIONS.isdisjoint(tree.options)


def _unknown_at_top(key: str, value: object) -> str:
    otherwise = f"the options of a file are {format_names(_FILE_KEYS)}"
    if advice := advice_for(key, value):
        return advice
    if isinstance(value, dict) and {"start_urls", "type"} & value.keys():
        return f"write `sources:` in a line above it, and indent `{key}`"
    if option := closest_match(key, _SOURCE_KEYS):
        otherwise = f"write `{option}` below a source, or below `defaults:` for all of them"
    if key in _SOURCE_KEYS:
        return otherwise
    return suggestion(key, _FILE_KEYS, otherwise)


def _merged(defaults: dict[str, Data], own: dict[str, Data]) -> dict[str, Data]:
    """Return `own` completed by `defaults`: groups option by option, other values as a whole."""
    result = dict(defaults)
    for name, value in own.items():
        known = result.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            result[name] = _merged(known, value)
        elif not (value is None and isinstance(known, dict)):
            result[name] = value
    return result


@dataclass(frozen=True, slots=True)
class _RawSource:
    """One source as written, and its path."""

    tree: Tree
    path: OptionPath
    data: Data


class _DefinitionReader:
    """Reads definition files one by one: head and defaults from the main file, sources from all."""

    def __init__(self, base: Path) -> None:
        self.findings = FindingCollector()
        self._rule_files = RuleFiles(base, self.findings.begin_file)
        self._entries: dict[str, _RawSource] = {}
        self._defaults: dict[str, Data] = {}
        self._first: Tree | None = None

    # ---- files

    def read_main(self, text: DefinitionText) -> DefinitionHead | None:
        """Read the project file, or a file with a single source. Return the head, None if it has mistakes."""
        tree = self._parse(text)
        if tree is None:
            return None
        if is_single_source(tree):
            self._add(text.stem, _RawSource(tree, (), tree.data))
            return DefinitionHead()
        self._check_keys(tree)
        self._read_sources(tree)
        self._read_defaults(tree)
        return self._read_head(tree)

    def read_other(self, text: DefinitionText | UnreadFile) -> None:
        """Read a file with sources only: one, named after the file, or several under `sources:`."""
        with self.findings.for_source(text.stem):
            if isinstance(text, UnreadFile):
                self.findings.begin_file(text.findings[0].file, text.findings)
            else:
                self._read_other(text)

    def _read_other(self, text: DefinitionText) -> None:
        tree = self._parse(text)
        if tree is None:
            return
        if is_single_source(tree):
            self._add(text.stem, _RawSource(tree, (), tree.data))
            return
        self._check_keys(tree)
        for key in tree.options:
            if key in _FILE_KEYS and key != "sources":
                instead = f"write it in {PROJECT_FILE}"
                self.findings.add(tree, (key,), "belongs to the project, not to a file of sources", instead)
        self._read_sources(tree)

    def _parse(self, text: DefinitionText) -> YamlTree | None:
        self.findings.begin_file(text.file)
        try:
            tree = parse_yaml(text.text, text.file)
        except DefinitionError as error:
            self.findings.add_findings(error.findings)
            return None
        self._first = self._first or tree
        for finding in tree.findings:
            with self.findings.for_source(_source_of(finding, tree)):
                self.findings.add_findings([finding])
        if isinstance(tree.data, dict):
            return tree
        problem = f"holds {format_value(tree.data)} instead of options"
        self.findings.add(tree, (), problem, "write `sources:` and the sources below it")
        return None

    # ---- parts of a file

    def _check_keys(self, tree: YamlTree) -> None:
        for key in tree.options:
            if key not in _FILE_KEYS:
                self.findings.add(
                    tree, (key,), f"unknown option `{key}`", _unknown_at_top(key, tree.get(key))
                )

    def read_tree(self, tree: Tree) -> None:
        """Read the sources of a tree converted from another format."""
        self.findings.begin_file(tree.file)
        self._first = self._first or tree
        self._read_sources(tree)

    def _read_sources(self, tree: Tree) -> None:
        sources = tree.get("sources")
        if isinstance(sources, dict):
            for name, data in sources.items():
                self._add(name, _RawSource(tree, ("sources", name), data))
        elif sources is not None:
            instead = "write each source as its name, a colon, and its options indented below"
            self.findings.add(
                tree, ("sources",), f"{format_value(sources)} is not a group of sources", instead
            )

    def _add(self, name: str, entry: _RawSource) -> None:
        known = self._entries.setdefault(name, entry)
        if known is not entry:
            where = "{}:{}".format(*known.tree.place(known.path))
            problem = f"the source `{name}` is defined already at {where}"
            with self.findings.for_source(name):
                self.findings.add(entry.tree, entry.path, problem, "choose another name")

    def _read_head(self, tree: YamlTree) -> DefinitionHead | None:
        data = {key: tree.get(key) for key in _HEAD_KEYS if key in tree.options}
        own = data.get("attributes")
        if isinstance(own, dict):
            found = list(check_search_attributes(own))
            self.findings.add_below(tree, (), found)
            refused = {finding.path[-1] for finding in found}
            data["attributes"] = {name: kind for name, kind in own.items() if name not in refused}
        head = self.findings.validated(DefinitionHead, data, tree, (), context=self._rule_files)
        if head is not None:
            self.findings.add_below(tree, (), check_secrets(head))
            self.findings.add_below(tree, (), check_sign_in(head.sign_in))
            self.findings.add_below(tree, (), check_profiles(head.profiles))
        return head

    def _written_names(self, section: str) -> tuple[str, ...]:
        """Return the names below an option of the project, those of mistaken entries too."""
        data = self._first.get(section) if self._first is not None else None
        return tuple(data) if isinstance(data, dict) else ()

    def _read_defaults(self, tree: YamlTree) -> None:
        data = tree.get("defaults")
        advice = dict.fromkeys(("type", "start_urls", "class", "name"), _NOT_IN_DEFAULTS)
        options = self.findings.validated(SourceOptions, data, tree, ("defaults",), advice, self._rule_files)
        if options is not None and isinstance(data, dict):
            self._defaults = data

    # ---- the result

    def finish(self, head: DefinitionHead | None, base: Path) -> Loaded:
        """Validate all sources and return the result."""
        rest = self._project(head or DefinitionHead(), base)
        whole = None if self.findings.any_fatal else rest
        partial = rest if head is not None else None
        return Loaded(whole, self.findings.in_order(), partial, self._place)

    def _place(self, source: str, path: OptionPath) -> Place:
        entry = self._entries[source]
        return entry.tree.place((*entry.path, *path))

    def _project(self, head: DefinitionHead, base: Path) -> Project:
        schema = attribute_schema(SearchAttribute(name, kind) for name, kind in head.attributes.items())
        sources: dict[str, DataSource | None] = {}
        for name, entry in self._entries.items():
            with self.findings.for_source(name):
                sources[name] = self._read_source(name, entry, schema)
        if self._first is not None:
            unknown = check_value_lists(value_lists(head.lists).values(), schema)
            self.findings.add_below(self._first, (), unknown)
            self.findings.add_below(
                self._first, (), check_searched_attributes(head.searched_attributes, schema)
            )
            self.findings.add_below(self._first, (), check_search(head.search, sources, schema))
            self.findings.add_below(self._first, (), check_search_page(head.search_page, schema))
        if not sources and self._first is not None and not self.findings.any_fatal:
            instead = "write below `sources:` a name and its options, as `handbook: {start_urls: [...]}`"
            self.findings.add(self._first, ("sources",), "no source is defined", instead)
        known = {name: source or self._valid_part_of(name) for name, source in sources.items()}
        self._check_schedules(head, known)
        indexes = {*head.indexes, *self._written_names("indexes")}
        destinations = {*head.destinations, *self._written_names("destinations")}
        for name in (name for name, source in sources.items() if source):
            entry, source = self._entries[name], known[name]
            found = (
                *check_receivers(source, known),
                *check_destinations(source, indexes, destinations),
                *check_refresh_conflicts(source, head.schedules),
                *check_kept_sessions(source, has_key=head.key_file is not None),
                *check_due(source, head),
                *check_node(source.node, head),
            )
            with self.findings.for_source(name):
                self.findings.add_below(entry.tree, entry.path, found)
        mistaken = {
            name: InvalidSource(known.get(name) or self._valid_part_of(name), self.findings.mistakes(name))
            for name in self.findings.invalid_sources
        }
        sound = {
            name: without_interval(source, head.schedules)
            for name, source in sources.items()
            if source and name not in mistaken
        }
        return make_project(head, sound, base, invalid_sources=mistaken, mistakes=self.findings.mistakes())

    def _check_schedules(self, head: DefinitionHead, known: Mapping[str, DataSource]) -> None:
        if self._first is None:
            return
        found = check_schedules(known, head, self._first.get("schedules"))
        self.findings.add_below(self._first, (), found)
        if (times := head.index.optimise) is not None:
            self.findings.add_below(self._first, ("index", "optimise"), check_times(times))

    def _valid_part_of(self, name: str) -> DataSource:
        """Return a source with mistakes, with its valid options only."""
        entry = self._entries.get(name)
        data = _merged(self._defaults, entry.data) if entry and isinstance(entry.data, dict) else {}
        return _valid_options(data, name)

    def _read_source(self, name: str, entry: _RawSource, schema: Schema) -> DataSource | None:
        data = entry.data if entry.data is not None else {}
        if isinstance(data, dict):
            kind = meant_kind(data.get("type"))
            fixed = dict(kind.fixed) if kind else {}
            data = _merged(_merged(self._defaults, data), fixed) | {"name": self._checked_name(name, entry)}
        model = source_model(meant_kind(data.get("type")) if isinstance(data, dict) else None)
        source = self.findings.validated(model, data, entry.tree, entry.path, context=self._rule_files)
        if isinstance(entry.data, dict):
            self.findings.add_below(entry.tree, entry.path, check_unsuitable_options(entry.data))
        if source is not None:
            self.findings.add_below(entry.tree, entry.path, check_source(source, schema))
        elif isinstance(data, dict):
            self.findings.add_below(entry.tree, entry.path, _check_parts(data, schema))
        return source

    def _checked_name(self, name: str, entry: _RawSource) -> str:
        """Return the name, or a placeholder after adding a finding, so that the other options are checked too."""
        if isinstance(entry.data, dict) and "name" in entry.data:
            instead = "remove it; a source is named by its key, or by its file if it stands there alone"
            self.findings.add(entry.tree, (*entry.path, "name"), "unknown option `name`", instead)
        if re.match(NAME_PATTERN, name) and len(name) <= 100 and not name.endswith("\n"):
            return name
        instead = "write letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most 100"
        self.findings.add(
            entry.tree, entry.path, f"{format_value(name)} cannot be the name of a source", instead
        )
        return "nameless"
