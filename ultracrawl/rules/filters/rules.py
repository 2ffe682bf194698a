"""Site definitions and filter rules: which servers a robot visits, and which parts of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from ultracrawl.model import Decision
from ultracrawl.rules.boundary.matcher import normalise_host
from ultracrawl.rules.filters.matching import Match, Test, any_of
from ultracrawl.rules.filters.resource import LOCAL_HOST, LOCAL_SCHEME, named_host

UNLIMITED = -1
PROTOCOLS = ("http", "https", "ftp")
"""Protocols of a host that names none."""

SITE_NOT_ALLOWED = "site not allowed"
PROTOCOL_NOT_ALLOWED = "protocol not allowed"
FILTER_RULES = "filter rules"

NUMBERED_WWW = re.compile(r"\Awww[0-9]+\.", re.ASCII)
_PORTS = {"http": 80, "https": 443, "ftp": 21}
_STAGE = "filter rules"
_REMEMBERED = 256
"""URLs whose answer is remembered, since both filters ask about each."""


class SiteKind(StrEnum):
    """Which hosts a site covers."""

    SERVER = "server"
    """Those that it names."""
    DOMAIN = "domain"
    """Those that it names, and all below them."""


@dataclass(frozen=True, slots=True)
class FilterRule:
    """A reusable test; it matches if one of its lines does."""

    name: str
    matches: tuple[Match, ...] = ()
    title: str = ""
    enabled: bool = True
    default: bool = True
    """It is attached to sites that are made later."""
    includes: bool = False
    """What matches is let in, and no further rule is asked."""


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A host of a site; without a port any, with the protocols that it may be visited by."""

    name: str
    port: int | None = None
    protocols: tuple[str, ...] = PROTOCOLS


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A URL from which runs begin; `depth` None is that of the robot, -1 no limit."""

    url: str
    depth: int | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Use:
    """A rule as a site uses it, with a switch of its own."""

    rule: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SiteDefinition:
    """A site: its hosts, where its crawl begins, the rules in the order in which they are tried."""

    name: str
    kind: SiteKind = SiteKind.SERVER
    enabled: bool = True
    hosts: tuple[SiteHost, ...] = ()
    starts: tuple[StartingPoint, ...] = ()
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule of one site, compiled: a test for each source that it looks at."""

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
    steps: int
    """Most link steps from a starting point."""
    rules: list[_Rule] = field(default_factory=list)


class SiteRules:
    """All sites of a robot, compiled. The first enabled site that covers a URL decides; then its rules in order.

    Rules about the media type are passed over as long as it is not known. With `fold_www` a host `www2.x` of a site
    is `www.x`, as its URLs are. URLs of a site may be as many link steps away as the deepest of its starting points
    says; `depth` is that of starting points that say nothing, -1 no limit. Raises `FilterError` for expressions that
    are none.
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
        self._lately: dict[tuple[str, str | None, int], Decision] = {}
        known = {rule.name: _compiled(rule) for rule in rules if rule.enabled}
        for order, definition in enumerate(site for site in sites if site.enabled):
            site = _Site(order, definition, _steps(definition, depth), list(_used(definition, known)))
            for host in definition.hosts or (SiteHost(definition.name),):
                table = self._domains if definition.kind is SiteKind.DOMAIN else self._exact
                name = normalise_host(host.name)
                table.setdefault(NUMBERED_WWW.sub("www.", name) if fold_www else name, []).append(
                    (site, host)
                )

    def judge(self, url: str, media_type: str | None = None, depth: int = 0) -> Decision:
        """Say whether a URL is inside, and by which site and rule; both filters of a robot ask the same."""
        asked = (url, media_type, depth)
        decision = self._lately.get(asked)
        if decision is None:
            if len(self._lately) >= _REMEMBERED:
                self._lately.clear()
            decision = self._lately[asked] = self._judge(url, media_type, depth)
        return decision

    def _judge(self, url: str, media_type: str | None, depth: int) -> Decision:
        parts = urlsplit(url)
        found = self._site_of(parts)
        if found is None:
            return _refused(SITE_NOT_ALLOWED, f"no enabled site covers {parts.netloc}")
        site, host = found
        if parts.scheme not in host.protocols:
            return _refused(PROTOCOL_NOT_ALLOWED, f"{site.definition.name}: {parts.scheme}")
        if depth > site.steps:
            told = f"{site.definition.name}: more than {site.steps} link steps from its starting points"
            return _refused(FILTER_RULES, told)
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
        covering = [one for one in candidates if one[1].port in (None, port)]
        return min(covering, key=lambda one: one[0].order, default=None)


def _steps(site: SiteDefinition, default: int) -> int:
    """Return how many link steps away the URLs of a site may be."""
    depths = [default if start.depth is None else start.depth for start in site.starts if start.enabled]
    most = depths or [default]
    return sys.maxsize if UNLIMITED in most else max(most)


def implicit_sites(sites: Iterable[SiteDefinition], starts: Iterable[str]) -> list[SiteDefinition]:
    """Return a site for each host of some URLs that no site, enabled or not, names; older files name no sites.

    They use no rules but those that `SiteRules` is told of.
    """
    named = {normalise_host(host.name) for site in sites for host in site.hosts or (SiteHost(site.name),)}
    made: dict[str, list[str]] = {}
    for url in starts:
        host = normalise_host(named_host(urlsplit(url)))
        if host and host not in named:
            made.setdefault(host, []).append(url)
    return [
        SiteDefinition(host, hosts=(_implicit_host(host),), starts=tuple(map(StartingPoint, urls)))
        for host, urls in made.items()
    ]


def _implicit_host(name: str) -> SiteHost:
    return SiteHost(name, protocols=(*PROTOCOLS, LOCAL_SCHEME) if name == LOCAL_HOST else PROTOCOLS)


def _refused(rule: str, told: str) -> Decision:
    return Decision(False, _STAGE, rule, told)


def _values(url: str, parts: SplitResult, media_type: str | None) -> dict[str, tuple[str, ...]]:
    """Return what rules look at, by source; a host with and without its port, no type as long as it is not known."""
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


def _used(site: SiteDefinition, known: Mapping[str, _Rule]) -> Iterable[_Rule]:
    """Yield the rules of a site that are on, in its order; sites share them."""
    return (known[use.rule] for use in site.uses if use.enabled and use.rule in known)
