"""Warns about what the files of a robot name and what is not there: programs, converters, sites of starting points."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ultracrawl.content.converters.registry import converter_table
from ultracrawl.dialects.portal_robot.properties import RobotProperties
from ultracrawl.model import Finding
from ultracrawl.rules.filters.phase import Phase
from ultracrawl.rules.filters.resource import LOCAL_SCHEME, UNKNOWN
from ultracrawl.rules.filters.rules import PROTOCOL_NOT_ALLOWED, SITE_NOT_ALLOWED, SiteDefinition
from ultracrawl.sources.filter_files.lexer import Block, ConfigText
from ultracrawl.sources.filter_files.rules_file import RulesFile

CONVERT = "convert-to-html"
_UNCOVERED = frozenset({PROTOCOL_NOT_ALLOWED, SITE_NOT_ALLOWED})


def missing_programs(properties: RobotProperties, instance: Path) -> Iterator[Finding]:
    """Yield a warning if `bindir` is no folder, and one if the program of `cmd-hook` is not found."""
    folder = instance / properties["bindir"] if properties["bindir"] else None
    if folder is not None and not folder.is_dir():
        yield _warning(properties, "bindir", f"{folder} is no folder", "create it, or name another")
    words = _words(properties["cmd-hook"] or "")
    path = os.pathsep.join(filter(None, (str(folder or ""), os.environ.get("PATH", ""))))
    if words and shutil.which(words[0], path=path) is None:
        problem = f"there is no program `{words[0]}`, so nothing runs at the end of a run"
        yield _warning(properties, "cmd-hook", problem, "write its whole path, and let it be executable")


def missing_converters(read: ConfigText, filters: dict[str, Block]) -> Iterator[Finding]:
    """Yield a warning for each `convert-to-html` of a type that no converter reads."""
    known = converter_table().by_type
    for block in filters.values():
        for line in block.directives:
            media_type = (line.get("type") or "").lower()
            if line.get("fn") != CONVERT or Phase.named(line.word) is not Phase.DATA:
                continue
            if media_type and media_type != UNKNOWN and media_type not in known and "html" not in media_type:
                problem = f"no converter reads `{media_type}`, so that such resources stay as they are"
                instead = "install a plug-in that does, or remove the line"
                yield Finding(read.file, line.line, "type", problem, instead, False)


def uncovered_starts(rules: RulesFile, read: ConfigText, *, fold_www: bool) -> Iterator[Finding]:
    """Yield a warning for each starting point on a server whose host, port or protocol no site allows."""
    compiled = rules.compiled(fold_www=fold_www)
    lines = {
        (block.get("name"), line.get("url")): line.line
        for block in read.blocks
        if block.kind == "site"
        for line in block.directives
    }
    for site, url in _starts(rules.sites):
        decision = compiled.judge(url)
        if not decision.accept and decision.rule in _UNCOVERED:  # sentence: rules are named as in the console
            problem = f"`{url}` lies outside of all sites, so it is not visited ({decision.reason})"
            instead = f"add `Host name={urlsplit(url).hostname}` to a site, or correct the URL"
            yield Finding(read.file, lines.get((site.name, url), 0), "url", problem, instead, False)


def _words(command: str) -> list[str]:
    """Return the words of a command, none if its quotes are not closed, which is a mistake of its own."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _starts(sites: list[SiteDefinition]) -> Iterator[tuple[SiteDefinition, str]]:
    for site in sites:
        for start in site.starts if site.enabled else ():
            if start.enabled and start.url and urlsplit(start.url).scheme != LOCAL_SCHEME:
                yield site, start.url


def _warning(properties: RobotProperties, name: str, problem: str, instead: str) -> Finding:
    return Finding(properties.file, properties.lines.get(name, 0), name, problem, instead, False)
