"""Site definitions and filter rules: the servers that a robot visits, and the parts of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import Decision
from ultracrawl.rules.boundary.matcher import normalise_host
from ultracrawl.rules.filters.matching import Match, Test, any_of
from ultracrawl.rules.filters.reach import LinkReach
from ultracrawl.rules.filters.resource import LOCAL_HOST, LOCAL_SCHEME, named_host

UNLIMITED = -1
PROTOCOLS = ("http", "https", "ftp")
"""Protocols of a host without protocols."""

SITE_NOT_ALLOWED = "site not allowed"
PROTOCOL_NOT_ALLOWED = "protocol not allowed"
FILTER_RULES = "filter rules"

NUMBERED_WWW = re.compile(r"\Awww[0-9]+\.", re.ASCII)
_PORTS = {"http": 80, "https": 443, "ftp": 21}
_STAGE = "filter rules"
_MAX_CACHED = 256
"""Maximum number of URLs whose decision is cached, since both filters ask about each URL."""


class SiteKind(StrEnum):
    """Which hosts a site covers."""

    SERVER = "server"
    """The named hosts."""
    DOMAIN = "domain"
    """The named hosts and their subdomains."""


@dataclass(frozen=True, slots=True)
class FilterRule:
    """A reusable condition; it matches if one of its lines does."""

    name: str
    matches: tuple[Match, ...] = ()
    title: str = ""
    enabled: bool = True
    default: bool = True
    """Whether new sites use it."""
    includes: bool = False
    """Whether matching URLs are accepted without further rules; else they are refused."""


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A host of a site, with its port (None: any) and the allowed protocols."""

    name: str
    port: int | None = None
    protocols: tuple[str, ...] = PROTOCOLS


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A start URL; `depth` None is that of the robot, -1 no limit."""

    url: str
    depth: int | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a rule by a site, which can be switched off."""

    rule: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SiteDefinition:
    """A site: its hosts, starting points, and rules in the order of application."""

    name: str
    kind: SiteKind = SiteKind.SERVER
    enabled: bool = True
    hosts: tuple[SiteHost, ...] = ()
    starts: tuple[StartingPoint, ...] = ()
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    """A compiled rule: one test per source."""

    name: str
    includes: bool
    tests: tuple[tuple[str, Test], ...]

    def matches(self, values: Mapping[str, tuple[str, ...]]) -> bool:
        for source, test in self.tests:
            for value in values[source]:
                if test(value):
                    return True
        return False


@dataclass(slots=True)
class _Site:
    order: int
    definition: SiteDefinition
    max_depth: int
    """Maximum number of link steps from a starting point."""
    rules: list[_Rule] = field(default_factory=list)
    differs: bool = False
    """Whether its starting points have different depths."""


class SiteRules:
    """The compiled sites of a robot. The first enabled site that covers a URL decides, by its rules in order.

    Rules about the media type are skipped while it is unknown. With `fold_www` a host `www2.x` of a site
    is `www.x`, like in URLs. `depth` is the default for starting points, -1 no limit; if those of a site differ,
    `reach` knows how far its URLs are from each. Raises `FilterError` for invalid expressions.
    """

    def __init__(
        self,
        sites: Iterable[SiteDefinition],
        rules: Sequence[FilterRule],
        *,
        fold_www: bool = False,
        depth: int = UNLIMITED,
    ) -> None:
        self._exact: dict[str, list[tuple[_Site, SiteHost]]] = {}
        self._domains: dict[str, list[tuple[_Site, SiteHost]]] = {}
        self._cache: dict[tuple[str, str | None, int, bool], Decision] = {}
        self._sites: list[_Site] = []
        self.starts: list[tuple[str, int]] = []
        """The enabled starting points of sites where depths differ, with their depths."""
        known = {rule.name: _compiled(rule) for rule in rules if rule.enabled}
        for order, definition in enumerate(site for site in sites if site.enabled):
            depths = _depths(definition, depth)
            most, uses = max(depths.values(), default=_limit(depth)), list(_enabled(definition, known))
            site = _Site(order, definition, most, uses, len(set(depths.values())) > 1)
            self._sites.append(site)
            self.starts += depths.items() if site.differs else ()
            for host in definition.hosts or (SiteHost(definition.name),):
                table = self._domains if definition.kind is SiteKind.DOMAIN else self._exact
                name = normalise_host(host.name)
                table.setdefault(NUMBERED_WWW.sub("www.", name) if fold_www else name, []).append(
                    (site, host)
                )

        self.reach = LinkReach(self._differing_site) if self.starts else None

    def max_depth(self, site: int) -> int:
        """Return the depth of the deepest starting point of a site, given by its number."""
        return self._sites[site].max_depth

    def _differing_site(self, url: str) -> int | None:
        found = self._site_of(urlsplit(url))
        return found[0].order if found is not None and found[0].differs else None

    def judge(self, url: str, media_type: str | None = None, depth: int = 0) -> Decision:
        """Decide whether a URL is accepted, and by which site and rule."""
        beyond = self.reach is not None and self.reach.is_beyond(url)
        key = (url, media_type, depth, beyond)
        decision = self._cache.get(key)
        if decision is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            decision = self._cache[key] = self._judge(url, media_type, depth, beyond=beyond)
        return decision

    def _judge(self, url: str, media_type: str | None, depth: int, *, beyond: bool) -> Decision:
        parts = urlsplit(url)
        match = self._site_of(parts)
        if match is None:
            return _refused(SITE_NOT_ALLOWED, f"no enabled site covers {parts.netloc}")
        site, host = match
        if parts.scheme not in host.protocols:
            return _refused(PROTOCOL_NOT_ALLOWED, f"{site.definition.name}: {parts.scheme}")
        if depth > site.max_depth:
            reason = f"{site.definition.name}: more than {site.max_depth} link steps from its starting points"
            return _refused(FILTER_RULES, reason)
        if beyond:
            reason = f"{site.definition.name}: beyond the depth of each starting point that leads to it"
            return _refused(FILTER_RULES, reason)
        values = _values(url, parts, media_type)
        for rule in site.rules:
            if rule.matches(values):
                if rule.includes:
                    return Decision(
                        True, _STAGE, rule.name, f"{site.definition.name}: included by {rule.name}"
                    )
                return _refused(FILTER_RULES, f"{site.definition.name}: {rule.name}")
        return Decision(True, _STAGE, site.definition.name, f"{site.definition.name}: no rule matches")

    def _site_of(self, parts: SplitResult) -> tuple[_Site, SiteHost] | None:
        name = named_host(parts)
        port = parts.port or _PORTS.get(parts.scheme)
        candidates = [*self._exact.get(name, ())]
        if self._domains:
            labels = name.split(".")
            for at in range(len(labels)):
                candidates += self._domains.get(".".join(labels[at:]), ())
        matches = [(site, host) for site, host in candidates if host.port in (None, port)]
        return min(matches, key=lambda match: match[0].order, default=None)


def _depths(site: SiteDefinition, default: int) -> dict[str, int]:
    """Return the depth of each enabled starting point."""
    depths: dict[str, int] = {}
    for start in site.starts:
        if start.enabled:
            depth = _limit(default if start.depth is None else start.depth)
            depths[start.url] = max(depth, depths.get(start.url, depth))
    return depths


def _limit(depth: int) -> int:
    return sys.maxsize if depth == UNLIMITED else depth


def implicit_sites(sites: Iterable[SiteDefinition], starts: Iterable[str]) -> list[SiteDefinition]:
    """Return a site without rules for each host of start URLs that no site, enabled or not, names.

    Older files have no site definitions.
    """
    known = {normalise_host(host.name) for site in sites for host in site.hosts or (SiteHost(site.name),)}
    new_hosts: dict[str, list[str]] = {}
    for url in starts:
        host = normalise_host(named_host(urlsplit(url)))
        if host and host not in known:
            new_hosts.setdefault(host, []).append(url)
    return [
        SiteDefinition(host, hosts=(_implicit_host(host),), starts=tuple(map(StartingPoint, urls)))
        for host, urls in new_hosts.items()
    ]


def _implicit_host(name: str) -> SiteHost:
    return SiteHost(name, protocols=(*PROTOCOLS, LOCAL_SCHEME) if name == LOCAL_HOST else PROTOCOLS)


def _refused(rule: str, reason: str) -> Decision:
    return Decision(False, _STAGE, rule, reason)


def _values(url: str, parts: SplitResult, media_type: str | None) -> dict[str, tuple[str, ...]]:
    """Return the values that rules compare, by source: a host with and without port, no type if it is unknown."""
    host, port = named_host(parts), parts.port or _PORTS.get(parts.scheme)
    return {
        "url": (url,),
        "protocol": (parts.scheme,),
        "host": (host, f"{host}:{port}") if port else (host,),
        "path": (f"{parts.path}?{parts.query}" if parts.query else parts.path,),
        "type": () if media_type is None else (media_type,),
    }


def _compiled(rule: FilterRule) -> _Rule:
    by_source: dict[str, list[Match]] = {}
    for match in rule.matches:
        by_source.setdefault(match.source, []).append(match)
    tests = tuple((source, any_of(matches)) for source, matches in by_source.items())
    return _Rule(rule.name, rule.includes, tests)


def _enabled(site: SiteDefinition, known: Mapping[str, _Rule]) -> Iterable[_Rule]:
    """Yield the enabled rules of a site in its order; sites share them."""
    return (known[use.rule] for use in site.uses if use.enabled and use.rule in known)
