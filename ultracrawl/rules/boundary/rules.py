"""Boundary rules as values: what a definition says, before it is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ultracrawl.errors import UserError

ANY_HOST = "*"


class RuleError(UserError):
    """A boundary rule that cannot be used; the message names the rule and what is wrong with it."""


class PatternError(RuleError):
    """A regular expression that cannot be used.

    `pattern` is the whole text, `problem` what RE2 says, `offending` the part it points at and `position`
    where that part begins (-1 if RE2 points nowhere). Look-around and back-references are not part of RE2;
    rules that are asked about URLs and headers run them in another engine, with a limit of time.
    """

    def __init__(self, pattern: str, problem: str, offending: str = "") -> None:
        self.pattern = pattern
        self.problem = problem
        self.offending = offending
        self.position = pattern.find(offending) if offending else -1
        where = f" at position {self.position} ({offending})" if self.position >= 0 else ""
        super().__init__(f"regular expression {pattern!r}: {problem}{where}")


class Kind(StrEnum):
    """How the text of a rule is compared; only `REGEXP` reads an expression, the others are literal."""

    EXACT = "exact"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    DOMAIN = "domain"
    """The host itself and every host below it; unlike `suffix` it ends at a label: not `notexample.com`."""
    REGEXP = "regexp"
    """Must cover the whole host or URL."""
    IPMASK = "ipmask"
    """An IPv4 or IPv6 address mask; compared with the addresses of the host."""
    IP6MASK = "ip6mask"


class Action(StrEnum):
    """What a matching rule does; `exclude` always overrides the others."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    FOLLOW_ONLY = "follow only"
    """Admit the URL for its links, but keep it out of the index."""


@dataclass(frozen=True, slots=True)
class DomainRule:
    """A rule about host names (or, for the mask kinds, about the addresses behind them)."""

    kind: Kind
    text: str
    action: Action = Action.INCLUDE

    def __str__(self) -> str:
        return f"{self.action} domain {self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class UriRule:
    """A rule about whole URLs, scheme and query included; mask kinds and `domain` are refused."""

    kind: Kind
    text: str
    action: Action = Action.INCLUDE

    def __str__(self) -> str:
        return f"{self.action} uri {self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class PathRules:
    """Path prefixes of one host, compared case-sensitively with path and query; `*` stands for every host.

    A host without rules is open; with inclusions a path must begin with one of them; exclusion wins.
    """

    host: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortRules:
    """Either the ports of a host that are crawled, or those that are not; `*` stands for every host."""

    host: str
    include: frozenset[int] = frozenset()
    exclude: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.include and self.exclude:
            raise RuleError(
                f"port rules of {self.host}: ports to include and ports to exclude; give one of the two"
            )
        for port in self.include | self.exclude:
            if not 0 < port < 65536:
                raise RuleError(f"port rules of {self.host}: {port} is no port; ports are 1 to 65535")


@dataclass(frozen=True, slots=True)
class CrawlMode:
    """How far and over which hosts links lead (FAST 5.27, Ultra Search 9.5)."""

    depth: int | None = None
    """Most link steps from a seed, which has depth 0; None is no limit."""
    fwdlinks: bool = True
    """Follow links to another host name."""
    fwdredirects: bool = True
    """Follow redirects to another host name."""
    reset_level: bool = False
    """Count from 0 again when a link leads to another host name."""

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise RuleError(f"crawl depth {self.depth}: a depth is 0 or more; leave it out for no limit")


class Combine(StrEnum):
    """How the inclusions of domain rules and URI rules work together; exclusions always count each."""

    ALL = "all"
    """Both must include the URL, where both have inclusions (Ultra Search 9.3)."""
    ANY = "any"
    """One of them is enough (FAST 3.2)."""


@dataclass(frozen=True, slots=True)
class BoundaryRules:
    """Everything that a source says about its boundary; the default lets every http and https URL in."""

    domains: tuple[DomainRule, ...] = ()
    uris: tuple[UriRule, ...] = ()
    paths: tuple[PathRules, ...] = ()
    ports: tuple[PortRules, ...] = ()
    schemes: frozenset[str] = frozenset({"http", "https"})
    exclude_extensions: tuple[str, ...] = ()
    max_uri_recursion: int = 0
    """Copies of a run of path segments that make a URL a trap (FAST's default: 5); 0 is no check."""
    mode: CrawlMode = CrawlMode()
    combine: Combine = Combine.ALL
    index_dynamic: bool = True
    """False: a URL with a question mark is followed only (Ultra Search 12.5)."""
    seeds_exempt: bool = True
    """Domain rules do not apply to seeds (Ultra Search); FAST wants its start URIs inside."""
