"""`robot_text`: exports a source as the files of a robot. `write_robot`: writes them to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ultracrawl.model import Finding
from ultracrawl.sources import DataSource, Project, compile_source, definition_text
from ultracrawl.sources.dialects.portal_robot.export.bounds import Bounds, BoundsWriter
from ultracrawl.sources.dialects.portal_robot.export.expressions import type_expression
from ultracrawl.sources.dialects.portal_robot.export.filters import FilterExport
from ultracrawl.sources.dialects.portal_robot.export.properties import (
    EXPRESSED_OPTIONS,
    access_of,
    options_of,
    properties_of,
)
from ultracrawl.sources.dialects.portal_robot.export.writing import (
    filter_block,
    line,
    process_block,
    rule_block,
    site_block,
)
from ultracrawl.sources.dialects.portal_robot.reader import FIELDS

RULES = "./config/filterrules.conf"
_PAGES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
_BOUNDS = "boundary"
_OMITTED_OPTIONS = (
    "boundary.guard",
    "boundary.networks",
    "boundary.other_hosts",
    "filters.function_timeout",
    "filters.function_memory",
    "filters.restarts",
)
_WITHOUT_ADVICE = "robot files have no such option; keep the definition in YAML if you need it"


@dataclass
class RobotText:
    """The files of a robot by their names in its folder `config`, and findings about what they cannot express."""

    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def robot_text(project: Project, source: DataSource, file: str) -> RobotText:
    """Return the files for a robot equivalent to a source; `file` is the definition file for the findings."""
    return _Export(project, source, file).result


class _Export:
    def __init__(self, project: Project, source: DataSource, file: str) -> None:
        self.result = RobotText()
        self._file = file
        self._source = source
        own = FilterExport(source.filters) if source.filters.file else None
        compiled = compile_source(source, project)
        policy = compiled.url_policy.without_rewriting
        bounds = BoundsWriter(compiled.boundary, policy, compiled.seeds, sites=own is None).translate()
        starts = [] if bounds.sites else list(compiled.seeds)
        if own is None:
            self._write_own_filters(bounds)
        else:
            self._copy_filters(own, bounds)
            starts = own.starts_beside(compiled.seeds)
        properties = {**properties_of(source, project), **_filter_names(source, own)}
        self.result.files = {"robot.conf": process_block(properties, starts), **self.result.files}
        self._report_omissions(project, bounds)

    def _write_own_filters(self, bounds: Bounds) -> None:
        """Write filters for a source that has none of its own."""
        source, common = self._source, [*bounds.both]
        setup: list[str] = []
        if bounds.sites:
            setup = [line("Setup", ("fn", "filterrules-setup"), ("config", RULES))]
            common.append(line("MetaData", ("fn", "filterrules-process")))
            blocks = [*map(rule_block, bounds.rules), *map(site_block, bounds.sites)]
            self.result.files["filterrules.conf"] = "".join(blocks)
        data = [line("Data", ("fn", "assign-source"), ("dst", "type"), ("src", "content-type"))]
        shutdown = [line("Shutdown", ("fn", "filterrules-shutdown"))] if setup else []
        enumeration = [
            *setup,
            *common,
            *data,
            *_types((*source.types, *source.follow_only_types)),
            line("Enumerate", ("fn", "enumerate-urls"), ("max", str(MOST_LINKS))),
            *shutdown,
        ]
        generation = [
            *setup,
            *common,
            *bounds.generation,
            *data,
            *_types(source.types),
            *_conversions(source.types),
            *_GENERATE,
            *shutdown,
        ]
        self.result.files["filter.conf"] = "".join(
            [filter_block("enumeration-default", enumeration), filter_block("generation-default", generation)]
        )

    def _copy_filters(self, own: FilterExport, bounds: Bounds) -> None:
        """Copy the filters of a source, with directives for its boundary in front."""
        self.result.files |= own.files(bounds.both, [*bounds.both, *bounds.generation])
        self.result.findings += [Finding(self._file, 0, *omission, False) for omission in own.omissions]

    def _report_omissions(self, project: Project, bounds: Bounds) -> None:
        """Report every option that differs from its default and is not in the files."""
        for left in (*bounds.omissions, *access_of(self._source)[1]):
            self.result.findings.append(Finding(self._file, 0, *left, False))
        told = {finding.key for finding in self.result.findings}
        for option in dict.fromkeys(self._options(project)):
            if option not in told:
                problem = "cannot be written in the files of a robot, and is left out"
                self.result.findings.append(Finding(self._file, 0, option, problem, _WITHOUT_ADVICE, False))

    def _options(self, project: Project) -> Iterable[str]:
        only = project.model_copy(update={"sources": {self._source.name: self._source}})
        written: Mapping[str, Any] = yaml.safe_load(definition_text(only, project.base))
        for option in options_of(written["sources"][self._source.name]):
            if not _is_expressed(option, self._source):
                yield option
        if self._source.sitemaps.use:
            yield "sitemaps.use"
        if self._source.duplicates.detect is not False:
            yield "duplicates.detect"


def _is_expressed(option: str, source: DataSource) -> bool:
    if option.startswith(_OMITTED_OPTIONS):
        return False
    if option.startswith("attributes"):
        return dict(source.attributes) == FIELDS
    if option == "robots.meta":
        return source.robots.meta == source.robots.obey
    if option == "sitemaps.use":
        return not source.sitemaps.use
    if option == "duplicates.detect":
        return source.duplicates.detect is False
    if option in ("types", "follow_only_types"):
        return True
    return option.startswith(
        (f"{_BOUNDS}.", "authentication", "proxy.servers", "ftp.accounts", *EXPRESSED_OPTIONS)
    )


MOST_LINKS = 1_000_000
"""Value of `max` of `enumerate-urls`; sources have no such limit."""

_GENERATE = [
    line("Generate", ("fn", "generate-rd-expires")),
    line("Generate", ("fn", "extract-html-meta")),
    line("Generate", ("fn", "extract-full-text")),
    line("Generate", ("fn", "extract-source"), ("src", "depth,type->content-type")),
]


def _types(types: Iterable[str]) -> list[str]:
    names = list(types)
    if "*/*" in names:
        return []
    return [line("Data", ("fn", "filter-by-regex"), ("src", "type"), ("allow", type_expression(names)))]


def _conversions(types: Iterable[str]) -> list[str]:
    return [
        line("Data", ("fn", "convert-to-html"), ("type", media_type))
        for media_type in types
        if media_type not in _PAGES and "*" not in media_type
    ]


def _filter_names(source: DataSource, own: FilterExport | None) -> dict[str, object]:
    if own is None:
        return {"enumeration-filter": "enumeration-default", "generation-filter": "generation-default"}
    return {"enumeration-filter": source.filters.enumeration, "generation-filter": source.filters.generation}


def write_robot(text: RobotText, folder: Path) -> list[Path]:
    """Write the files into the folder `config` of a new folder, readable by the owner only. Raises `OSError`."""
    config = folder / "config"
    config.mkdir(parents=True, mode=0o700)
    written = []
    for name, content in text.files.items():
        path = config / name
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(content, encoding="utf-8")
        written.append(path)
    return written
