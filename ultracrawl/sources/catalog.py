"""`Catalog`: the sources of a project by name. `adhoc_project`: a project from URLs, without a definition file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, RunReport
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, host_of, same_site_ports, site_of, split
from ultracrawl.sources.definition import DataSource, to_source_name
from ultracrawl.sources.mistakes import closest_match, format_value
from ultracrawl.sources.project import DefinitionHead, Project, make_project
from ultracrawl.sources.sections.scope.boundary import BoundarySection

_MAX_NAMES_SHOWN = 20
_WEB_SCHEMES = ("http", "https")
_DATABASES = ("mariadb", "mssql", "mysql", "oracle", "postgres", "postgresql", "sqlite")
_DEFINED_AS = {
    "ftp": "start_urls: ['{url}'], boundary: {schemes: [ftp]}",
    **dict.fromkeys(("file", "smb", "nfs"), "type: file, paths: [/srv/docs]"),
    **dict.fromkeys(
        ("imap", "imaps"),
        "type: mail, server: 'imaps://imap.example.com', user: reader, password: '${MAIL_PASSWORD}'",
    ),
    **dict.fromkeys(
        _DATABASES, "type: table, connection: '${DATABASE}', table: pages, key: [id], text: [title, body]"
    ),
}
"""The options of sources that crawl what URLs of other schemes name."""
_DEFINED_BY_AGENT = "type: agent, class: mypackage.MyAgent"


class Catalog:
    """Valid sources of a project by name. Its methods raise `UserError` for unknown names, listing the known ones."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._sources = {**project.adhoc_sources, **project.sources}

    def find(self, name: str) -> DataSource:
        """Return the source of a name. Raises `UserError` if it is unknown, `DefinitionError` if it has mistakes."""
        valid, invalid = self.partition([name])
        if invalid:
            raise invalid[name]
        return valid[0]

    def select(self, names: Iterable[str]) -> list[DataSource]:
        """Return the named sources, each once; without names, all valid ones.

        Raises one `UserError` for all unknown names, or one `DefinitionError` for all named sources with mistakes.
        """
        wanted = tuple(names)
        valid, invalid = self.partition(wanted)
        if invalid and (wanted or not valid):
            raise _combined(invalid.values())
        return valid

    def partition(self, names: Iterable[str]) -> tuple[list[DataSource], dict[str, DefinitionError]]:
        """Return the valid ones of the named sources, and an error for each invalid one.

        Without names these are all sources of the definitions; those of `crawl --url` beside them are only named ones.

        Raises `UserError` for unknown names, and `DefinitionError` for mistakes that affect all sources.
        """
        if self._project.mistakes:
            raise DefinitionError(self._project.mistakes)
        adhoc, named = self._project.adhoc_sources, tuple(names)
        names_wanted = [
            source.name for source in self.select_known(named) if named or source.name not in adhoc
        ]
        invalid = self._project.invalid_sources
        return (
            [self._sources[name] for name in names_wanted if name in self._sources],
            {name: DefinitionError(invalid[name].findings) for name in names_wanted if name in invalid},
        )

    def select_for_crawl(self, names: Iterable[str]) -> tuple[list[DataSource], list[RunReport]]:
        """Return the valid ones of the named sources (or of all) and a report for each invalid one.

        Raises `UserError` if none is valid.
        """
        valid, invalid = self.partition(names)
        if not valid and invalid:
            raise _combined(invalid.values())
        if not valid:
            raise UserError("the definition file has no sources; add one under `sources:`")
        return valid, [RunReport.not_begun(name, error) for name, error in invalid.items()]

    def select_known(self, names: Iterable[str]) -> list[DataSource]:
        """Return the named sources, or all, to inspect their stored data; invalid ones with their valid options only.

        Raises one `UserError` for all unknown names, and `DefinitionError` if mistakes leave no source known.
        """
        known = self._project.known_sources
        if self._project.mistakes and not known:
            raise DefinitionError(self._project.mistakes)
        wanted = tuple(dict.fromkeys(names))
        if unknown := [_unknown(name, known) for name in wanted if name not in known]:
            raise UserError("; ".join(unknown))
        return [known[name] for name in wanted or known]


def _combined(errors: Iterable[DefinitionError]) -> DefinitionError:
    return DefinitionError([finding for error in errors for finding in error.findings])


def _unknown(name: str, sources: Iterable[str]) -> str:
    guess = closest_match(name, sources)
    known = ", ".join(sorted(sources)[:_MAX_NAMES_SHOWN]) or "none"
    return f"no source is named {name!r}; " + (
        f"did you mean {guess!r}?" if guess else f"the sources are: {known}"
    )


def adhoc_project(urls: Sequence[str], base: Path) -> Project:
    """Return a project with one web source that crawls the hosts of some URLs; data go to `base`/var.

    The source is named after the host of the first URL, with its port unless that is the default one.
    Raises `UserError` for text that is not an http(s) URL.
    """
    canonical = [_canonical(url) for url in urls]
    if not canonical:
        raise UserError("no URL is given; give at least one, as https://www.example.com/")
    source = DataSource(
        name=to_source_name(site_of(canonical[0]), "adhoc"),
        start_urls=tuple(canonical),
        boundary=BoundarySection.model_validate(adhoc_boundary(canonical)),
    )
    return make_project(DefinitionHead(), {source.name: source}, base)


def adhoc_boundary(urls: Iterable[str]) -> dict[str, Any]:
    """Return the `boundary` section, as it is written, of a source that crawls the sites of some URLs."""
    ports: dict[str, set[int]] = {}
    for url in urls:
        ports.setdefault(host_of(url), set()).update(same_site_ports(split(url).port))
    return {
        "ports": {host: {"include": sorted(numbers)} for host, numbers in ports.items()},
        "start_redirects": True,
    }


_LARGE_PORT, _LARGEST_PORT = r"//[^/?#]*:(\d{5,9})(?:[/?#]|$)", 65535
"""A port of a URL that may be none, and the largest that is one."""


class ForeignSchemeError(UserError):
    """A URL is not one of a web site; `definition` has the options of a source that crawls its like."""

    def __init__(self, url: str) -> None:
        scheme = url.partition("://")[0].lower()
        without_password = re.sub(r"//[^/@]*@", "//", url)
        self.definition = _DEFINED_AS.get(scheme, _DEFINED_BY_AGENT).replace("{url}", without_password)
        super().__init__(
            f"a URL of `{scheme}` is no web site; write in ultracrawl.yaml "
            f"`sources: {{docs: {{{self.definition}}}}}`, and then `ultracrawl crawl docs`"
        )


def _canonical(url: str) -> str:
    """Return a URL in its canonical form. Raises `UserError` for one that `crawl URL` cannot crawl."""
    canonical = DEFAULT_POLICY.canonical(url)
    if canonical is not None:
        return canonical
    scheme, separator, _ = url.lower().partition("://")
    meant = closest_match(scheme, _WEB_SCHEMES)
    if separator and scheme not in _WEB_SCHEMES and meant is None:
        raise ForeignSchemeError(url)
    if (port := re.search(_LARGE_PORT, url)) and int(port[1]) > _LARGEST_PORT:
        raise UserError(f"{format_value(url)} has no port: {port[1]} is not from 1 to 65535; write another")
    is_misspelt = separator and scheme not in _WEB_SCHEMES
    instead = f"{meant}{url[len(scheme) :]}" if is_misspelt else "it in full, as https://www.example.com/"
    raise UserError(f"{format_value(url)} is not a URL that can be crawled; write {instead}")
