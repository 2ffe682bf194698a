"""The files of a robot: which one a verb means, its rules and sites, and changes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from ultracrawl.cli.options import chosen_sources, open_project, open_state_project
from ultracrawl.dialects.portal_robot.editing import RulesEditor
from ultracrawl.dialects.portal_robot.reader import read_files
from ultracrawl.errors import UserError
from ultracrawl.model.finding import fatal_of, refuse_fatal
from ultracrawl.service.schedules.steering import is_steerable
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.dialects import locate_definitions
from ultracrawl.sources.filter_files.file_text import FileText, read_file
from ultracrawl.sources.filter_files.layout import ALL_WORDS
from ultracrawl.sources.filter_files.lexer import read_text
from ultracrawl.sources.filter_files.rules_file import RULE_BLOCKS, RULES_FILE, RulesFile, read_rules
from ultracrawl.system.files import convert_write_errors

Change = Callable[[RulesEditor], None]
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:(?P<port>\d{1,5}))?")


def config_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c`."""
    return click.option(
        "-c", "--config", metavar="FILE", help="The robot.conf. Default: $ULTRACRAWL_CONFIG."
    )(function)


def host_pairs(name: str) -> dict[str, str]:
    """Parse a host or host:port into the attributes of a `Host` line. Raises `UserError`."""
    match = _HOST.fullmatch(name)
    if match is None:
        raise UserError(f"`{name}` is not a host name; write it like example.com or example.com:8080")
    return {key: text for key, text in match.groupdict().items() if text}


def host_line(name: str, protocol: str | None = None) -> str:
    """Return the `Host` line for a host or host:port, with its protocols if they are given. Raises `UserError`."""
    pairs = host_pairs(name)
    port = f" port={pairs['port']}" if "port" in pairs else ""
    return f'Host  name="{pairs["name"]}"{port}' + (f' protocol="{protocol}"' if protocol else "")


def starts_of_site(config: str | None, name: str) -> list[str]:
    """Return the enabled starting points of a site, enabled or not. Raises `UserError`."""
    sites = {site.name: site for site in rules_of(config).sites}
    if name not in sites:
        raise UserError(f"there is no site {name!r}; the sites are: {', '.join(sites) or 'none'}")
    return [start.url for start in sites[name].starts if start.enabled]


def filtered_source(project: Project, name: str | None) -> DataSource:
    """Return the only source of a project with filters, or the named one. Raises `UserError`."""
    sources = [source for source in chosen_sources(project, [name] if name else []) if source.filters.file]
    if len(sources) != 1:
        raise UserError(
            "name one source with filters, by --source"
            if sources
            else "no source here has filters; write `filters: {file: filter.conf}` in one"
        )
    return sources[0]


def steered_robot(config: str | None, name: str | None) -> tuple[Project, str]:
    """Return the project and the name of a robot for orders, whatever mistakes its files have. Raises `UserError`."""
    project = open_state_project(config)
    known = project.known_sources
    robots = [one for one, source in known.items() if source.filters.file]
    robots = robots or list(filter(partial(is_steerable, project), known)) or list(project.invalid_sources)
    wanted = [name] if name else robots
    if len(wanted) == 1 and (wanted[0] in robots or is_steerable(project, wanted[0])):
        return project, wanted[0]
    project = open_project(config)
    return project, filtered_source(project, name).name


def robot_conf(config: str | None) -> Path:
    """Return the path of the robot.conf. Raises `UserError`."""
    location = locate_definitions(config)
    if location is None or not location.endswith(".conf"):
        what = f"{location} is" if location else "there is"
        raise UserError(f"{what} no robot.conf; name it with -c, or in $ULTRACRAWL_CONFIG")
    return Path(location)


def rules_path(config: str | None) -> Path:
    """Return the path of the file with the sites and rules of a robot. Raises `UserError`."""
    path = robot_conf(config)
    rules_file = path.with_name(RULES_FILE)
    return rules_file if rules_file.exists() or not _has_rules(path) else path


def _has_rules(path: Path) -> bool:
    """Return whether the robot.conf has sites or rules itself, as in older layouts."""
    blocks = read_text(_read(path).text, "", ALL_WORDS).blocks
    return any(block.kind in RULE_BLOCKS for block in blocks)


def rules_of(config: str | None) -> RulesFile:
    """Return the rules and sites of a robot. Raises `UserError`, `DefinitionError`."""
    file = _read(rules_path(config))
    return _checked(file.text, file.path)


def _read(path: Path) -> FileText:
    try:
        return read_file(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def text_of(path: Path) -> FileText:
    """Return the text of a file of a robot; empty if there is none yet. Raises `UserError`."""
    return _read(path) if path.exists() else FileText(path, "", "utf-8")


def _checked(text: str, path: Path) -> RulesFile:
    """Parse a rules file. Raises `DefinitionError` with all its mistakes."""
    rules, read = read_rules(text, str(path))
    refuse_fatal(read.findings)
    return rules


def change_file(config: str | None, path: Path, change: Change) -> None:
    """Change a file of a robot, or leave it as it is if the robot would get a mistake by that.

    Raises `UserError`, and `DefinitionError` with the new mistakes.
    """
    main = robot_conf(config)
    before = {(one.file, one.problem) for one in fatal_of(read_files(main).findings)}
    file = text_of(path)
    editor = RulesEditor(file.text)
    change(editor)
    _write(file, editor.text)
    mistakes = [one for one in fatal_of(read_files(main).findings) if (one.file, one.problem) not in before]
    if mistakes:
        _write(file, file.text)
        refuse_fatal(mistakes)


def change_rules(config: str | None, change: Change) -> None:
    """Change the rules file if the result is valid. Raises `UserError`, `DefinitionError`."""
    file = _read(rules_path(config))
    editor = RulesEditor(file.text)
    change(editor)
    _checked(editor.text, file.path)
    _write(file, editor.text)


def _write(file: FileText, text: str) -> None:
    try:
        with convert_write_errors(file.path):
            file.replace(text)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise UserError(
            f"{file.path} is no UTF-8 text and cannot hold `{character}`; save it as UTF-8 first"
        ) from error
