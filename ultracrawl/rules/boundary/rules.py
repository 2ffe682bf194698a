"""Boundary rules of a definition as values, before compilation."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError

ANY_HOST = "*"


class RuleError(UserError):
    """A boundary rule that cannot be used; the message names the rule and what is wrong with it."""


class PatternError(RuleError):
    """A regular expression that cannot be used.

    `pattern` is the whole text, `problem` the message of RE2, `offending` the part that it names and `position`
    the start of that part (-1 if it names none). RE2 has no look-around and no back-references;
    rules for URLs and headers run such expressions in another engine, with a time limit.
    """

    def __init__(self, pattern: str, problem: str, offending: str = "") -> None:
        self.pattern = pattern
        self.problem = problem
        self.offending = offending
        self.position = pattern.find(offending) if offending else -1
        where = f" at position {self.position} ({offending})" if self.position >= 0 else ""
        super().__init__(f"regular expression {pattern!r}: {problem}{where}")


class Kind(StrEnum):
    """How the text of a rule is compared; all kinds but `REGEXP` are literal."""

    EXACT = "exact"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    DOMAIN = "domain"
    """The host itself and its subdomains; unlike `suffix` it matches whole labels: not `notexample.com`."""
    REGEXP = "regexp"
    """Must match the whole host or URL."""
    IPMASK = "ipmask"
    """An IPv4 or IPv6 address mask, compared with the addresses of the host."""
    IP6MASK = "ip6mask"


class Action(StrEnum):
    """The effect of a matching rule; `exclude` overrides the others."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    FOLLOW_ONLY = "follow only"
    """Admit the URL for its links, but keep it out of the index."""


@dataclass(frozen=True, slots=True)
class DomainRule:
    """A rule about host names or, for the mask kinds, about their IP addresses."""

    kind: Kind
    text: str
    action: Action = Action.INCLUDE

    def __str__(self) -> str:
        return f"{self.action} domain {self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class UriRule:
    """A rule about whole URLs including scheme and query; mask kinds and `domain` are not allowed."""

    kind: Kind
    text: str
    action: Action = Action.INCLUDE

    def __str__(self) -> str:
        return f"{self.action} uri {self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class PathRules:
    """Path prefixes of one host (`*`: every host), compared case-sensitively with path and query.

    A host without rules is open; if there are inclusions, a path must begin with one of them; exclusion wins.
    """

    host: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_only: tuple[str, ...] = ()
    option: str = ""
    """The option with the inclusions, if a person has not written them for the host."""


@dataclass(frozen=True, slots=True)
class PortRules:
    """Either the ports of a host (`*`: every host) that are crawled, or those that are not."""

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
    """The crawl depth, and which links to other hosts are followed (FAST 5.27, Ultra Search 9.5)."""

    depth: int | None = None
    """Maximum number of link steps from a seed, which has depth 0; None is no limit."""
    fwdlinks: bool = True
    """Follow links to another host name."""
    fwdredirects: bool = True
    """Follow redirects to another host name."""
    reset_level: bool = False
    """Reset the depth to 0 when a link leads to another host name."""

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise RuleError(f"crawl depth {self.depth}: a depth is 0 or more; leave it out for no limit")


class Combine(StrEnum):
    """How inclusions of domain rules and URI rules are combined; every exclusion applies in any case."""

    ALL = "all"
    """If both have inclusions, both must include the URL (Ultra Search 9.3)."""
    ANY = "any"
    """An inclusion of one is enough (FAST 3.2)."""


@dataclass(frozen=True, slots=True)
class BoundaryRules:
    """All boundary rules of a source; the default admits every http and https URL."""

    domains: tuple[DomainRule, ...] = ()
    uris: tuple[UriRule, ...] = ()
    paths: tuple[PathRules, ...] = ()
    ports: tuple[PortRules, ...] = ()
    usual_ports: frozenset[int] = frozenset()
    """The only ports of hosts without port rules; empty: all."""
    schemes: frozenset[str] = frozenset({"http", "https"})
    exclude_extensions: tuple[str, ...] = ()
    max_uri_recursion: int = 0
    """Number of repetitions of path segments that make a URL a trap (FAST's default: 5); 0 is no check."""
    mode: CrawlMode = CrawlMode()
    combine: Combine = Combine.ALL
    index_dynamic: bool = True
    """False: a URL with a query is followed but not indexed (Ultra Search 12.5)."""
    seeds_exempt: bool = True
    """Domain rules do not apply to seeds (Ultra Search); in FAST they do."""
