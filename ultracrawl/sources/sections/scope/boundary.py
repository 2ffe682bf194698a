"""The `boundary` section of a source: which hosts, paths, ports and URLs belong to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WrapValidator, model_validator

from ultracrawl.sources.mistakes import mistake, shown
from ultracrawl.sources.patterns import HostPattern, UriPattern
from ultracrawl.sources.reading.rule_files import flat, host_rules, uri_rules
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Extension, Network

_HOST = re.compile(r"[^\s/*:]+|\[[0-9a-f:.]+\]|\*")


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | int | dict) and not isinstance(value, bool) else value


def _check_host_key(value: object) -> object:
    host = value.strip().lower() if isinstance(value, str) else ""
    if not _HOST.fullmatch(host):
        raise mistake(
            f"{shown(value)} is not a host name",
            "write one host, as `www.example.com`, or `*` for every host",
        )
    return host


def _check_path(value: object) -> object:
    if not isinstance(value, str) or not value.startswith("/"):
        hint = (
            f"write `/{value}`"
            if isinstance(value, str) and "://" not in value
            else "write a path, as `/docs/`"
        )
        raise mistake(f"{shown(value)} is not a path: it does not begin with `/`", hint)
    return value


Host = Annotated[str, BeforeValidator(_check_host_key)]
PathPrefix = Annotated[str, BeforeValidator(_check_path, json_schema_input_type=str)]
Port = Annotated[int, Field(ge=1, le=65535, strict=True)]
HostPatterns = Annotated[
    tuple[Annotated[HostPattern, WrapValidator(host_rules)], ...],
    AfterValidator(flat),
    BeforeValidator(_listed, json_schema_input_type=HostPattern | list[HostPattern]),
]
UriPatterns = Annotated[
    tuple[Annotated[UriPattern, WrapValidator(uri_rules)], ...],
    AfterValidator(flat),
    BeforeValidator(_listed, json_schema_input_type=UriPattern | list[UriPattern]),
]
Paths = Annotated[tuple[PathPrefix, ...], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
Ports = Annotated[frozenset[Port], BeforeValidator(_listed, json_schema_input_type=Port | list[Port])]
Extensions = Annotated[
    tuple[Extension, ...], BeforeValidator(_listed, json_schema_input_type=str | list[str])
]
Networks = Annotated[
    tuple[Network, ...], BeforeValidator(_listed, json_schema_input_type=Network | list[Network])
]
Schemes = Annotated[
    tuple[Literal["http", "https", "ftp"], ...],
    BeforeValidator(_listed, json_schema_input_type=str | list[Literal["http", "https", "ftp"]]),
]


class DomainsSection(Section):
    """Which hosts belong to the source; exclusion overrides inclusion."""

    include: HostPatterns = Field(
        default=(),
        description="Hosts inside. Without any, the hosts of the start URLs; `*` lets every host in.",
        examples=[["docs.example.com", ".example.org"]],
    )
    exclude: HostPatterns = Field(
        default=(), description="Hosts outside, whatever `include` says.", examples=[["private.example.com"]]
    )

    @model_validator(mode="after")
    def _excludes_something_else(self) -> Self:
        if any(pattern.every_host for pattern in self.exclude):
            raise mistake("`exclude: *` shuts every host out", "name the hosts to exclude")
        return self


class PathsSection(Section):
    """Which paths of one host belong to the source: prefixes, compared with case, query included."""

    include: Paths = Field(
        default=(), description="Paths inside; without any, all that are not excluded.", examples=[["/docs/"]]
    )
    exclude: Paths = Field(
        default=(), description="Paths outside, whatever `include` says.", examples=[["/docs/old/"]]
    )
    follow_only: Paths = Field(
        default=(),
        description="Paths whose pages are read for their links, but not indexed.",
        examples=[["/index/"]],
    )


class PortsSection(Section):
    """Which ports of one host belong to the source: `include` or `exclude`, not both."""

    include: Ports = Field(default=frozenset(), description="The only ports inside.", examples=[[443, 8443]])
    exclude: Ports = Field(default=frozenset(), description="Ports outside.", examples=[[8080]])

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.include and self.exclude:
            raise mistake(
                "the host has ports to include and ports to exclude", "write only one of the two lists"
            )
        return self


class UrisSection(Section):
    """Rules about whole URLs, scheme and query included; they hold beside those for hosts and paths."""

    include: UriPatterns = Field(
        default=(),
        description="URLs inside; without any, all that are not excluded.",
        examples=[["https://a.example/x"]],
    )
    exclude: UriPatterns = Field(
        default=(),
        description="URLs outside, whatever `include` says.",
        examples=[[{"regexp": r".*\?print=.*"}]],
    )
    follow_only: UriPatterns = Field(
        default=(),
        description="URLs whose pages are read for their links, but not indexed.",
        examples=[[{"suffix": "/toc.html"}]],
    )


class AreaSection(Section):
    """What belongs to another source: what is in `hosts` or `uris` (without both, everything), exceptions apart."""

    hosts: HostPatterns = Field(
        default=(), description="Hosts of the other source.", examples=[["news.example.com"]]
    )
    uris: UriPatterns = Field(
        default=(),
        description="URLs of the other source.",
        examples=[[{"prefix": "https://a.example/news/"}]],
    )
    except_hosts: HostPatterns = Field(
        default=(),
        description="Hosts that are not its own all the same.",
        examples=[["old.news.example.com"]],
    )
    except_uris: UriPatterns = Field(
        default=(), description="URLs that are not its own all the same.", examples=[[{"suffix": "/print"}]]
    )


class OtherHostsSection(Section):
    """What happens where a page links, or redirects, to another host name."""

    links: bool = Field(
        default=True, description="Follow links to another host name (one that is inside).", examples=[False]
    )
    redirects: bool = Field(
        default=True,
        description="Follow redirects to another host name, whatever their kind.",
        examples=[False],
    )
    reset_depth: bool = Field(
        default=False,
        description="Count the depth from 0 again where a link leads to another host name.",
        examples=[True],
    )


class BoundarySection(Section):
    """Which hosts, paths, ports and URLs belong to the source."""

    domains: DomainsSection = Field(
        default=DomainsSection(),
        description="Rules about host names.",
        examples=[{"include": [".example.com"]}],
    )
    paths: Mapping[Host, PathsSection] = Field(
        default={},
        description="Rules about paths, for each host (or `*`); a host without rules is open.",
        examples=[{"docs.example.com": {"include": ["/docs/"], "exclude": ["/docs/private/"]}}],
    )
    ports: Mapping[Host, PortsSection] = Field(
        default={},
        description="Rules about ports, for each host (or `*`); a host without rules is open.",
        examples=[{"docs.example.com": {"include": [443]}}],
    )
    uris: UrisSection = Field(
        default=UrisSection(),
        description="Rules about whole URLs.",
        examples=[{"exclude": [{"suffix": "/print.html"}]}],
    )
    elsewhere: Mapping[str, AreaSection] = Field(
        default={},
        description="What other sources crawl, by the name of each, and this one does not.",
        examples=[{"news": {"uris": [{"prefix": "https://a.example/news/"}]}}],
    )
    schemes: Schemes = Field(
        default=("http", "https"),
        min_length=1,
        description="URL schemes that are crawled: `http`, `https`, `ftp`.",
        examples=[["https"]],
    )
    exclude_extensions: Extensions = Field(
        default=(),
        description="File-name extensions that are never fetched; case does not count.",
        examples=[[".png", ".zip"]],
    )
    combine: Literal["all", "any"] = Field(
        default="all",
        description="Whether a URL has to be included by host rules and by URL rules (`all`), or by one of them "
        "(`any`).",
        examples=["any"],
    )
    other_hosts: OtherHostsSection = Field(
        default=OtherHostsSection(),
        description="Links and redirects from one host to another.",
        examples=[{"links": False}],
    )
    start_urls_exempt: bool = Field(
        default=True, description="Host rules do not hold for the start URLs themselves.", examples=[False]
    )
    start_redirects: bool = Field(
        default=False,
        description="The host that a start URL redirects to belongs to the source, too.",
        examples=[True],
    )
    index_dynamic: bool = Field(
        default=True,
        description="Index pages whose URL has a question mark; if not, their links are followed only.",
        examples=[False],
    )
    networks: Networks = Field(
        default=(),
        description="Private networks that the source may reach. Private, loopback and link-local addresses "
        "are refused otherwise, wherever a link, a redirect or a host name leads.",
        examples=[["10.1.0.0/16"]],
    )
