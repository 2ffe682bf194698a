"""The `sites` section of a source: sites crawled at once, hosts that belong together, options of single sites."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from ultracrawl.rules.boundary.rewriting.rewriting_policy import parse_alias_lines
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.reading.rule_files import alias_text
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.sections.site_overrides import SiteOverrides
from ultracrawl.sources.values import HOST, HostName, one_or_list


def _check_aliases(aliases: Mapping[str, str]) -> Mapping[str, str]:
    for alias, main in aliases.items():
        if main in aliases:
            raise mistake(
                f"{format_value(main)} is the main host of {format_value(alias)} and an alias itself",
                "name the host that is fetched for both",
            )
    return aliases


def _read_aliases(name: str, info: ValidationInfo) -> tuple[tuple[str, str], ...]:
    """Read a file of aliases: each line is a main host and its aliases."""
    pairs: list[tuple[str, str]] = []
    for number, hosts in parse_alias_lines(alias_text(info, name)):
        if len(hosts) < 2 or not all(map(HOST.fullmatch, hosts)):
            raise mistake(
                f"line {number} of the alias file {format_value(name)} does not name a main host and its aliases",
                "write host names with blanks between them, the main host first",
            )
        pairs.extend((alias, hosts[0]) for alias in hosts[1:])
    return tuple(pairs)


HostNames = Annotated[
    tuple[HostName, ...],
    Field(min_length=1),
    one_or_list(str),
]
AliasFiles = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], one_or_list(str)]


class SitesSection(Section):
    """How many sites are crawled at once, and which hosts belong together. A site is a host with its port."""

    max_sites: int = Field(default=128, ge=1, le=1_000_000, examples=[16])
    """Maximum number of sites crawled at once. Further ones start when others have finished."""
    max_inter_docs: int | None = Field(default=None, ge=1, examples=[200])
    """Number of URLs of a site in a row after which it gives its slot to a waiting site. None: no limit."""
    clusters: Mapping[str, HostNames] = Field(
        default={}, examples=[{"shop": ["shop.example.com", "checkout.example.com"]}]
    )
    """Groups of hosts that share cookies, by names of your own. Overrides `domain_clustering`."""
    domain_clustering: bool = Field(default=False, examples=[True])
    """All hosts of a registrable domain share cookies. If off, each host has its own."""
    aliases: Annotated[Mapping[HostName, HostName], AfterValidator(_check_aliases)] = Field(
        default={}, examples=[{"www2.example.com": "www.example.com"}]
    )
    """Hosts that are copies of others: main host by alias. URLs of both are fetched from the main host."""
    alias_files: AliasFiles = Field(default=(), examples=[["mirrors.txt"]])
    """Files of aliases: each line has a main host and its aliases, separated by blanks."""

    overrides: SiteOverrides = Field(default={}, examples=[{"www.example.com": {"politeness": {"delay": 5}}}])
    """Options for single sites, by host, by host and port, or by the end of host names (`.example.com`). A host with
    port takes precedence over the host, and the host over the longest end."""

    @model_validator(mode="after")
    def _with_files(self, info: ValidationInfo) -> Self:
        """Add the aliases of the files; entries of `aliases` take precedence."""
        read = {alias: main for name in self.alias_files for alias, main in _read_aliases(name, info)}
        if not read:
            return self
        aliases = _check_aliases({**read, **self.aliases})
        return self.model_copy(update={"aliases": aliases})
