"""Reads a `robot.conf` and the files beside it into a project with one source, and one more for folders."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic import ValidationError

from ultracrawl import __version__
from ultracrawl.dataclass import dataclass, field
from ultracrawl.dialects.portal_robot.access import (
    authentication,
    ftp,
    ineffective_properties,
    proxy,
    schemes,
)
from ultracrawl.dialects.portal_robot.properties import PROPERTIES, RobotProperties, read_properties
from ultracrawl.dialects.portal_robot.references import (
    missing_converters,
    missing_programs,
    uncovered_starts,
)
from ultracrawl.dialects.portal_robot.schedule_file import (
    SCHEDULE_FILE,
    Times,
    read_schedule,
    schedule_options,
)
from ultracrawl.dialects.portal_robot.schema_file import SCHEMA_FILE, RobotSchema, read_schema
from ultracrawl.model import Finding
from ultracrawl.model.finding import fatal_of
from ultracrawl.rules.filters.function import Robot, Rules
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.rules.filters.resource import LOCAL_SCHEME
from ultracrawl.rules.filters.rules import UNLIMITED, StartingPoint
from ultracrawl.sources import DataSource, DefinitionHead, InvalidSource, Loaded, make_project
from ultracrawl.sources.definition import to_source_name
from ultracrawl.sources.filter_files.file_text import read_file
from ultracrawl.sources.filter_files.filter_file import FILE as FILTER_FILE
from ultracrawl.sources.filter_files.filter_file import FILTER, FilterFile, read_filters
from ultracrawl.sources.filter_files.rules_file import (
    CLASSIFICATION_FILE,
    RULE_BLOCKS,
    RULES_FILE,
    RulesFile,
    read_classification,
    read_rules,
)
from ultracrawl.sources.kinds import SourceKind, load_kind, source_model
from ultracrawl.sources.loading.wording import explain
from ultracrawl.sources.sections.completion import CompletedRun

DATA_FOLDER = "robot"
"""The data folder of an instance, unless `robot-state-dir` names another."""

_PROPERTY_OF = {
    **{one.sets: one.name for one in PROPERTIES.values() if one.sets},
    "user_agent": "user-agent",
    "headers.From": "email",
    "start_urls": "start",
    "authentication": "password",
    "ftp": "password",
    "ftp.email": "email",
    "proxy": "auto-proxy",
    "limits.max_size": "max-filesize-kb",
    "completion.programs": "bindir",
    "completion.after": "cmd-hook",
}
"""Options of a source, and the properties they come from."""


@dataclass
class RobotFiles:
    """The parsed files of a robot, with the findings of all."""

    location: Path
    properties: RobotProperties
    filters: FilterFile | None = None
    rules: RulesFile = field(default_factory=RulesFile)
    schema: RobotSchema = field(default_factory=RobotSchema)
    times: Times = ()
    """When it is started and stopped."""
    findings: list[Finding] = field(default_factory=list)
    block_kinds: frozenset[str] = frozenset()
    """The kinds of blocks in the file with the `<Process>` block; in older layouts it contains others too."""

    def path_of(self, name: str, kinds: frozenset[str]) -> Path:
        """Return the file with some kinds of blocks: the one of this name, or the main file in older layouts."""
        own = self.location.with_name(name)
        return self.location if self.block_kinds & kinds and not own.exists() else own

    @property
    def instance(self) -> Path:
        """The folder above `config`, which paths in the files are relative to."""
        folder = self.location.absolute().parent
        return folder.parent if folder.name == "config" else folder

    @property
    def all_starts(self) -> list[StartingPoint]:
        """The enabled starting points, those of `robot.conf` included."""
        own = [StartingPoint(url) for url in self.properties["start"]]
        return [*own, *self.rules.starting_points()]

    @property
    def starts(self) -> list[StartingPoint]:
        """The enabled starting points on servers."""
        return [start for start in self.all_starts if not is_folder(start)]

    @property
    def folders(self) -> list[StartingPoint]:
        """The enabled starting points that are local folders."""
        return [start for start in self.all_starts if is_folder(start)]

    @property
    def loops(self) -> bool:
        """Whether the next run follows at once."""
        return bool(self.properties["onCompletion"] == "loop")

    def schedules(self, sources: Sequence[str]) -> dict[str, Any]:
        """Return the schedule with the name of the first source; none without a source or a start time."""
        options = schedule_options(self.times, sources, loops=self.loops)
        return {sources[0]: options} if options and sources else {}


def read_robot(location: str | Path) -> Loaded:
    """Read a robot. One without an enabled starting point is valid except for a finding about that."""
    files = read_files(Path(location))
    if not files.all_starts and not fatal_of(files.findings):
        instead = "define a site in filterrules.conf (`ultracrawl robot create-site NAME`), or enable one"
        files.findings.append(Finding(str(location), 0, "start", "Starting Points: 0 defined", instead))
    sources = _sources(files)
    base = files.instance / (files.properties["robot-state-dir"] or DATA_FOLDER)
    head = DefinitionHead.model_validate(
        {
            "attributes": files.schema.attributes,
            "searched_attributes": files.schema.searched,
            "index": {"every": 60.0 * files.properties["index-after-ngenerated"]},
            "schedules": files.schedules([source.name for source in sources]),
        }
    )
    if sources:
        placed = {
            one.name: one.model_copy(update={"filters": one.filters.resolve_paths(files.instance)})
            for one in sources
        }
        return Loaded(make_project(head, placed, base), tuple(files.findings))
    name = source_name(files.properties["csid"] or files.instance.name)
    mistaken = {name: InvalidSource(DataSource(name=name), fatal_of(files.findings))}
    return Loaded(None, tuple(files.findings), make_project(head, {}, base, invalid_sources=mistaken))


def _sources(files: RobotFiles) -> list[DataSource]:
    """Return the sources of a robot, none if its files have mistakes. Adds mistakes in options to the findings.

    Folders become a separate source of type `file`, with a name of its own if there are servers too.
    """
    if fatal_of(files.findings):
        return []
    shared, kind = source_options(files), load_kind(LOCAL_SCHEME)
    wanted = [(DataSource, shared)] if files.starts or not files.folders else []
    if files.folders and kind is not None:
        own = file_options(files.folders, files.properties["depth"], shared, kind)
        if files.starts:
            own["name"] += "-files"
            problem = f"folders are crawled apart from servers, as the source `{own['name']}`"
            instead = "use --source for commands that work on one source"
            files.findings.append(Finding(str(files.location), 0, "start", problem, instead, False))
        wanted.append((source_model(kind), own))
    try:
        return [model(**options) for model, options in wanted]
    except ValidationError as error:
        for path, *told in explain(error, DataSource):
            files.findings.append(_mistake(files, ".".join(map(str, path)), *told))
        return []


def _mistake(files: RobotFiles, option: str, problem: str, instead: str) -> Finding:
    """Return a mistake in an option of a source as a finding about the property that it comes from."""
    known = [name for name in _PROPERTY_OF if f"{option}.".startswith(f"{name}.")]
    key = _PROPERTY_OF[max(known, key=len)] if known else option
    return Finding(str(files.location), files.properties.lines.get(key, 0), key, problem, instead)


def read_files(location: Path) -> RobotFiles:
    """Read `robot.conf` and the three other files beside it."""
    findings: list[Finding] = []
    text = _text(location, findings)
    if text is None:
        return RobotFiles(location, RobotProperties(str(location)), findings=findings)
    properties, read = read_properties(text, str(location))
    files = RobotFiles(
        location, properties, findings=[*findings, *read.findings, *ineffective_properties(properties)]
    )
    files.block_kinds = frozenset(block.kind for block in read.blocks)
    _read_rules(files)
    _read_classification(files)
    _read_schema(files)
    _read_times(files)
    _read_filters(files)
    files.findings += missing_programs(properties, files.instance)
    files.findings = list(dict.fromkeys(files.findings))
    return files


def _read_filters(files: RobotFiles) -> None:
    path = files.path_of(FILTER_FILE, FILTER)
    text = _text(path, files.findings)
    if text is None:
        return
    files.filters = read_filters(text, str(path))
    _compile_filters(files, files.filters)
    files.findings += files.filters.text.findings
    files.findings += missing_converters(files.filters.text, files.filters.filters)


def _compile_filters(files: RobotFiles, filters: FilterFile) -> None:
    """Compile both filters to find mistakes; the result is not used."""

    @cache
    def load_rules(path: str) -> Rules:
        if _is_missing(files, files.instance / path):
            return RulesFile().compiled()  # reported once, by the reader of the file
        rules, read = read_rules(read_file(files.instance / path).text, str(files.instance / path))
        if not _is_same_file(files.instance / path, files.path_of(RULES_FILE, RULE_BLOCKS)):
            files.findings += read.findings
        return rules.compiled()

    robot = Robot(
        read=lambda path: read_file(files.instance / path).text,
        load_rules=load_rules,
        has_summarizers=True,
    )
    for kind in FilterKind:
        name = files.properties[f"{kind}-filter"]
        if name in filters.filters:
            filters.compile(name, kind, robot)
        elif not any(one.fatal and one.key == "name" for one in filters.text.findings):
            files.findings.append(_missing_filter(files, filters, f"{kind}-filter", name))


def _missing_filter(files: RobotFiles, filters: FilterFile, key: str, name: str) -> Finding:
    """Return a mistake in the line of `robot.conf` that names a filter."""
    problem = f"there is no filter `{name}` in {Path(filters.text.file).name}"
    near = get_close_matches(name, filters.filters, 1)
    named = (
        f"did you mean `{near[0]}`" if near else f"its filters are: {', '.join(filters.filters) or 'none'}"
    )
    return Finding(str(files.location), files.properties.lines.get(key, 0), key, problem, named)


def _is_missing(files: RobotFiles, path: Path) -> bool:
    """Whether a path is that of the rules file, which is reported as missing already."""
    expected = files.path_of(RULES_FILE, RULE_BLOCKS)
    return not files.properties["start"] and not path.exists() and path.absolute() == expected.absolute()


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _read_rules(files: RobotFiles) -> None:
    path = files.path_of(RULES_FILE, RULE_BLOCKS)
    if not path.exists() and files.properties["start"]:
        return  # an older robot with starting points elsewhere; filters that need the file report its absence
    text = _text(path, files.findings)
    if text is None:
        return
    files.rules, read = read_rules(text, str(path))
    files.findings += read.findings
    if not fatal_of(read.findings):
        fold_www = files.properties["smart-host-heuristics"]
        files.findings += uncovered_starts(files.rules, read, fold_www=fold_www)


def _read_classification(files: RobotFiles) -> None:
    path = files.location.with_name(CLASSIFICATION_FILE)
    if not path.exists():
        return
    text = _text(path, files.findings)
    if text is not None:
        files.findings += read_classification(text, str(path))[1].findings


def _read_schema(files: RobotFiles) -> None:
    path = files.location.with_name(SCHEMA_FILE)
    text = _text(path, files.findings) if path.exists() else None
    if text is not None:
        files.schema, read = read_schema(text, str(path))
        files.findings += read.findings


def _read_times(files: RobotFiles) -> None:
    path = files.location.with_name(SCHEDULE_FILE)
    text = _text(path, files.findings) if path.exists() else None
    if text is not None:
        files.times, read = read_schedule(text, str(path))
        files.findings += read.findings


def _text(path: Path, findings: list[Finding]) -> str | None:
    """Return the text of a file, None if it cannot be read. Adds findings."""
    try:
        file = read_file(path)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        findings.append(Finding(str(path), 0, "file", problem, "put it beside robot.conf"))
        return None
    findings += file.encoding_findings
    return file.text


def source_options(files: RobotFiles) -> dict[str, Any]:
    """Return the options of the source of a robot."""
    properties = files.properties
    depths = [properties["depth"] if start.depth is None else start.depth for start in files.starts]
    unlimited = not depths or UNLIMITED in depths
    options: dict[str, Any] = properties.options()
    options["robots"]["meta"] = options["robots"]["obey"]
    options["filters"] |= _filters(files)
    if properties.is_set("email") and properties["email"]:
        options["headers"]["From"] = properties["email"]
    if properties["bindir"]:
        options["completion"]["programs"] = files.instance / properties["bindir"]
    if properties["cmd-hook"]:
        options["completion"]["after"] = (CompletedRun.DOCUMENTS,)
    if files.loops and not files.schedules(["robot"]):
        options["refresh"] = {"when_idle": True}
    if properties["max-filesize-kb"]:
        options["limits"]["max_size"] = properties["max-filesize-kb"] * 1024
    return options | {
        "name": source_name(properties["csid"] or files.instance.name),
        "start_urls": tuple(start.url for start in files.starts),
        "depth": "FULL" if unlimited else max(depths),
        "boundary": {
            "domains": {"include": [{"regexp": ".*"}]},
            "ports": {"*": {"exclude": []}},  # no host is limited to the ports of starting points
            "schemes": schemes(files.starts),
        },
        "types": ["*/*"],
        "user_agent": _user_agent(properties),
        "authentication": authentication(properties, files.rules.sites, files.starts),
        "ftp": ftp(properties, files.starts),
        "proxy": proxy(properties),
        "sitemaps": {"use": False},
        "duplicates": {"detect": False},
        "attributes": files.schema.fields,
    }


def source_name(csid: str) -> str:
    """Return the source name of a robot: the last part of its catalog id."""
    return to_source_name(csid.rstrip("/").rpartition("/")[2], "robot")


def default_agent() -> str:
    """Return the default User-Agent of a robot."""
    return f"ultracrawl/{__version__}"


def _user_agent(properties: RobotProperties) -> str:
    name = properties["user-agent"] or default_agent()
    email = properties["email"]
    return f"{name} ({email})" if properties.is_set("email") else name


def _filters(files: RobotFiles) -> dict[str, Any]:
    properties = files.properties
    folder = files.location.absolute().parent
    classification = folder / CLASSIFICATION_FILE
    return {
        "file": files.path_of(FILTER_FILE, FILTER).absolute(),
        "classification": classification if classification.exists() else None,
        "instance": files.instance,
        "starts": properties["start"],
        "depth": None if properties["depth"] == UNLIMITED else properties["depth"],
        "programs": properties["bindir"],
    }


def is_folder(start: StartingPoint) -> bool:
    """Whether a starting point is a local folder."""
    return start.url.lower().startswith(f"{LOCAL_SCHEME}:")


def file_options(
    starts: Sequence[StartingPoint], depth: int, shared: Mapping[str, Any], kind: SourceKind
) -> dict[str, Any]:
    """Return the options of a source of type `file`: those of `shared`, the robot's, that apply to it, and its own.

    A file in a starting point is one link step away, a file in a folder below it two.
    """
    depths = [depth if start.depth is None else start.depth for start in starts]
    own: dict[str, Any] = {
        "type": LOCAL_SCHEME,
        "paths": [os.fsdecode(unquote_to_bytes(urlsplit(start.url).path)) for start in starts],
        "levels": None if UNLIMITED in depths else max(*depths, 1) - 1,
        "filters": {**shared["filters"], "addresses": False},
    }
    fixed: Mapping[str, Any] = kind.fixed
    own["refresh"] = {**shared.get("refresh", {}), **fixed["refresh"]}
    return {name: value for name, value in shared.items() if name not in kind.unfit} | dict(fixed) | own
