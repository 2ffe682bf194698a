"""Findings about definitions in the words of XML files: codes, names of options, examples."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from ultracrawl.dialects.fast_xml.notices import Code
from ultracrawl.dialects.fast_xml.options import FREE, OPTIONS, OptionSpec
from ultracrawl.model import Finding
from ultracrawl.model.finding import FindingCode
from ultracrawl.sources import DataSource

NO_START_PROBLEM = "has no start URI, so there is nothing to crawl"
NO_START_ADVICE = "write `start_uris` or `start_uri_files`"
_CODE = re.compile(r"[EN]-[A-Z]+: ")
_QUOTED = re.compile(r"`([^`]+)`")
_ASSIGNMENT = re.compile(r"[a-z_.]+: \S.*", re.DOTALL)
"""An option with its value in YAML."""


def in_xml_terms(finding: Finding) -> Finding:
    """Return a finding with a code, and with names and examples of XML instead of those of YAML."""
    if finding.code is FindingCode.NO_START:
        return replace(finding, problem=f"{Code.NO_START}: {NO_START_PROBLEM}", instead=NO_START_ADVICE)
    problem = _QUOTED.sub(_in_xml, finding.problem)
    if not _CODE.match(problem):  # sentence: the codes are part of the format
        problem = f"{Code.VALUE if finding.fatal else Code.CONFLICT}: {problem}"
    return replace(finding, problem=problem, instead=xml_advice(finding.key, finding.instead))


def xml_advice(key: str, instead: str) -> str:
    """Return the advice about an option; one that has YAML in it is replaced by a sample value of the option."""
    if all(_is_known(text) for text in _QUOTED.findall(instead)):
        return _QUOTED.sub(_in_xml, instead)
    spec = _option_of(key)
    if spec is None or spec.sample is None:
        return "correct it, or remove it"
    if isinstance(spec.sample, tuple | list):
        return f"write for example `<member> {spec.sample[0]} </member>`"
    return f"write for example `{spec.sample}`"


def _is_known(text: str) -> bool:
    """Return whether a text in backticks can stand in advice about an XML file."""
    if text in _names():
        return True
    group = text.partition(".")[0]
    return not _ASSIGNMENT.fullmatch(text) and group not in DataSource.model_fields


def _in_xml(quoted: re.Match[str]) -> str:
    return f"`{_names().get(quoted[1], quoted[1])}`"


@cache
def _names() -> dict[str, str]:
    """Return the XML names of YAML options, by whole path, and by last name if it is no other option."""
    names = {target: spec.path for spec in OPTIONS.all for target in spec.sets if FREE not in target}
    ends: dict[str, set[str]] = {}
    for target, path in names.items():
        ends.setdefault(target.rpartition(".")[2], set()).add(path)
    own = {spec.name for spec in OPTIONS.all}
    single = {end: next(iter(paths)) for end, paths in ends.items() if len(paths) == 1 and end not in own}
    return {**single, **names, "boundary.networks": "networks.txt"}


def _option_of(key: str) -> OptionSpec | None:
    """Return the option that a place names, as `handbook/storage/datastore`, or None."""
    section, parts = "", key.split("/")[1:]
    while parts and (inner := OPTIONS.section(section, parts[0])) is not None:
        section, parts = inner, parts[1:]
    return OPTIONS.find(section, "/".join(parts)) if parts else None
