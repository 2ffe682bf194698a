"""The `boundary` section of a source: which hosts, paths, ports and URLs belong to it."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator

from ultracrawl.sources.mistakes import closest_match, format_value, mistake
from ultracrawl.sources.patterns import URI_KINDS, HostPattern, UriPattern
from ultracrawl.sources.reading.rule_files import flat, rule_entries
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import Extension, Network, PluginName, as_list, one_or_list
from ultracrawl.system.plugins import STAGES

_SUFFIX = re.compile(r"\*+(\.?[\w.-]+)")
_HOST = re.compile(r"[^\s/*:]+|\[[0-9a-f:.]+\]|\*")


def _check_host_key(value: object) -> object:
    host = value.strip().lower() if isinstance(value, str) else ""
    if not _HOST.fullmatch(host):
        raise mistake(
            f"{format_value(value)} is not a host name",
            "write one host, as `www.example.com`, or `*` for every host",
        )
    return host


def _as_rule_of_urls(value: Mapping[object, object]) -> str:
    """Return where a rule with a kind belongs, with its text; kinds are `regexp`, `suffix` and others."""
    kind, text = next(iter(value.items()), ("regexp", ".*print=.*"))
    name = closest_match(kind, URI_KINDS) or "regexp"
    quoted = str(text).replace("'", "''")
    return f"write `boundary: {{uris: {{exclude: [{{{name}: '{quoted}'}}]}}}}` (or `include`), for whole URLs"


def _check_path(value: object) -> object:
    if isinstance(value, str) and (suffix := _SUFFIX.fullmatch(value)):
        instead = f"write `boundary: {{uris: {{exclude: [{{suffix: {suffix[1]}}}]}}}}` (or `include`)"
        raise mistake(f"{format_value(value)} is no beginning of a path, but its end", instead)
    if isinstance(value, dict):
        raise mistake(f"{format_value(value)} is not a path", _as_rule_of_urls(value))
    if not isinstance(value, str) or not value.startswith("/"):
        hint = (
            f"write `/{value}`"
            if isinstance(value, str) and "://" not in value
            else "write a path, as `/docs/`"
        )
        raise mistake(f"{format_value(value)} is not a path: it does not begin with `/`", hint)
    return value


_or_list = partial(one_or_list, types=(str, int, dict))

Host = Annotated[str, BeforeValidator(_check_host_key)]
PathPrefix = Annotated[str, BeforeValidator(_check_path, json_schema_input_type=str)]
Port = Annotated[int, Field(ge=1, le=65535, strict=True)]
HostPatterns = Annotated[
    tuple[Annotated[HostPattern, rule_entries(hosts=True)], ...],
    AfterValidator(flat),
    _or_list(HostPattern),
]
UriPatterns = Annotated[
    tuple[Annotated[UriPattern, rule_entries(hosts=False)], ...],
    AfterValidator(flat),
    _or_list(UriPattern),
]
Paths = Annotated[tuple[PathPrefix, ...], _or_list(str)]
Ports = Annotated[frozenset[Port], _or_list(Port)]
Extensions = Annotated[tuple[Extension, ...], _or_list(str)]
Networks = Annotated[tuple[Network, ...], _or_list(Network)]
Schemes = Annotated[
    tuple[Literal["http", "https", "ftp"], ...],
    BeforeValidator(as_list, json_schema_input_type=str | list[Literal["http", "https", "ftp"]]),
]


class DomainsSection(Section):
    """Which hosts belong to the source; exclusion overrides inclusion."""

    include: Editable[HostPatterns] = Field(default=(), examples=[["docs.example.com", ".example.org"]])
    """Hosts inside. None: the hosts of the start URLs. `*`: every host."""
    exclude: Editable[HostPatterns] = Field(default=(), examples=[["private.example.com"]])
    """Hosts outside, even if `include` names them."""

    @model_validator(mode="after")
    def _excludes_something_else(self) -> Self:
        if any(pattern.every_host for pattern in self.exclude):
            raise mistake("`exclude: *` excludes every host", "name the hosts to exclude")
        return self


class PathsSection(Section):
    """Which paths of one host belong to the source: case-sensitive prefixes of path and query."""

    include: Editable[Paths] = Field(default=(), examples=[["/docs/"]])
    """Paths inside. None: all that are not excluded."""
    exclude: Editable[Paths] = Field(default=(), examples=[["/docs/old/"]])
    """Paths outside, even if `include` names them."""
    follow_only: Editable[Paths] = Field(default=(), examples=[["/index/"]])
    """Paths of pages whose links are followed but which are not indexed."""


class PortsSection(Section):
    """Which ports of one host belong to the source: `include` or `exclude`, not both."""

    include: Editable[Ports] = Field(default=frozenset(), examples=[[443, 8443]])
    """The only ports inside."""
    exclude: Editable[Ports] = Field(default=frozenset(), examples=[[8080]])
    """Ports outside."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.include and self.exclude:
            raise mistake(
                "the host has ports to include and ports to exclude", "write only one of the two lists"
            )
        return self


class UrisSection(Section):
    """Rules about whole URLs, scheme and query included. They apply in addition to host and path rules."""

    include: Editable[UriPatterns] = Field(default=(), examples=[["https://a.example/x"]])
    """URLs inside. None: all that are not excluded."""
    exclude: Editable[UriPatterns] = Field(default=(), examples=[[{"regexp": r".*\?print=.*"}]])
    """URLs outside, even if `include` names them."""
    follow_only: Editable[UriPatterns] = Field(default=(), examples=[[{"suffix": "/toc.html"}]])
    """URLs of pages whose links are followed but which are not indexed."""


class AreaSection(Section):
    """What belongs to another source: URLs matching `hosts` or `uris` (without both: all), except the exceptions."""

    hosts: Editable[HostPatterns] = Field(default=(), examples=[["news.example.com"]])
    """Hosts of the other source."""
    uris: Editable[UriPatterns] = Field(default=(), examples=[[{"prefix": "https://a.example/news/"}]])
    """URLs of the other source."""
    except_hosts: Editable[HostPatterns] = Field(default=(), examples=[["old.news.example.com"]])
    """Hosts that do not belong to the other source, even if `hosts` or `uris` match."""
    except_uris: Editable[UriPatterns] = Field(default=(), examples=[[{"suffix": "/print"}]])
    """URLs that do not belong to the other source, even if `hosts` or `uris` match."""


class OtherHostsSection(Section):
    """Links and redirects to another host name."""

    links: Editable[bool] = Field(default=True, examples=[False])
    """Follow links to another host name, if it is inside."""
    redirects: Editable[bool] = Field(default=True, examples=[False])
    """Follow redirects of any kind to another host name."""
    reset_depth: Editable[bool] = Field(default=False, examples=[True])
    """Restart the depth at 0 when a link leads to another host name."""


class BoundarySection(Section):
    """Which hosts, paths, ports and URLs belong to the source."""

    ADVICE: ClassVar = {
        "exclude": "write `exclude: [/archive/]` beside `boundary`, not in it; hosts belong in `domains`",
        **dict.fromkeys(
            ("include", "only"),
            "write `only: [/docs/]` beside `boundary`, not in it; hosts belong in `domains`",
        ),
        **dict.fromkeys(("hosts", "host", "domain"), "write `domains: {include: [www.example.com]}`"),
    }

    domains: DomainsSection = Field(
        default=DomainsSection.by_default(), examples=[{"include": [".example.com"]}]
    )
    """Rules about host names."""
    paths: Mapping[Host, PathsSection] = Field(
        default={}, examples=[{"docs.example.com": {"include": ["/docs/"], "exclude": ["/docs/private/"]}}]
    )
    """Rules about paths, by host (or `*`). A host without rules is unrestricted."""
    ports: Mapping[Host, PortsSection] = Field(
        default={}, examples=[{"docs.example.com": {"include": [443]}}]
    )
    """Rules about ports, by host (or `*`). A host without rules has the ports of the start URLs, 80 and 443."""
    uris: UrisSection = Field(
        default=UrisSection.by_default(), examples=[{"exclude": [{"suffix": "/print.html"}]}]
    )
    """Rules about whole URLs."""
    elsewhere: Mapping[str, AreaSection] = Field(
        default={}, examples=[{"news": {"uris": [{"prefix": "https://a.example/news/"}]}}]
    )
    """What other sources crawl instead of this one, by source name."""
    stages: Mapping[Annotated[str, PluginName(STAGES)], Mapping[str, JsonValue]] = Field(
        default={}, examples=[{"by-department": {"closed": ["archive"]}}]
    )
    """Rules of plug-ins about URLs, by name, with their options. A URL that one of them refuses is outside."""
    schemes: Editable[Schemes] = Field(default=("http", "https"), min_length=1, examples=[["https"]])
    """URL schemes to crawl: `http`, `https`, `ftp`."""
    exclude_extensions: Editable[Extensions] = Field(default=(), examples=[[".png", ".zip"]])
    """File-name extensions that are never fetched (case-insensitive)."""
    combine: Editable[Literal["all", "any"]] = Field(default="all", examples=["any"])
    """Whether a URL must be included by host rules and URL rules (`all`), or by one of them (`any`)."""
    other_hosts: OtherHostsSection = Field(
        default=OtherHostsSection.by_default(), examples=[{"links": False}]
    )
    """Links and redirects from one host to another."""
    start_urls_exempt: Editable[bool] = Field(default=True, examples=[False])
    """Host rules do not apply to the start URLs themselves."""
    start_redirects: Editable[bool] = Field(default=False, examples=[True])
    """The host that a start URL redirects to belongs to the source too."""
    index_dynamic: Editable[bool] = Field(default=True, examples=[False])
    """Index pages whose URL has a question mark. If off, only their links are followed."""
    networks: Networks = Field(default=(), examples=[["10.1.0.0/16"]])
    """Private networks that the source may connect to. Other private, loopback and link-local addresses are refused for
    all links, redirects and host names.
    """
    intranet_hosts: bool = Field(default=False, examples=[True])
    """Hosts that the source names may have private addresses (RFC 1918 and RFC 4193): those of start URLs and log-ins,
    and those that `domains` and `uris` include exactly or by a suffix that is not public.
    """
    guard: Literal["connections", "names"] = Field(default="connections", examples=["names"])
    """What is checked against `networks`: the connections, or only host names (`names`). A download handler
    whose connections cannot be checked requires `names`; otherwise the crawl is refused. A source with log-ins cannot
    have it.
    """
