"""The verdict of the boundary rules about one origin (scheme, host and port)."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.matcher import Addresses, DomainTable, by_action
from ultracrawl.rules.boundary.paths import HostPaths, PathTable, PortTable
from ultracrawl.rules.boundary.rules import Action, BoundaryRules
from ultracrawl.rules.urls.canonical import split

CLOSED_DOMAINS = "no include domain matches"
MAX_LEFT_PORTS = 10
"""Ports that are remembered of those that were left."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The verdicts of the rules that depend only on scheme, host and port; None means "no rule"."""

    host: str
    scheme_refusal: str | None
    excluded: str | None
    included: str | None
    """The domain rule that includes the host."""
    follow_only: str | None
    port_refusal: str | None
    unusual_port: str | None
    """Why nothing is requested of its port, whatever leads there; None: it may be."""
    excluded_port: str | None
    paths: HostPaths | None


class OriginJudge:
    """Determines the `Origin` of a URL."""

    __slots__ = (
        "_addresses",
        "_exclude",
        "_follow_only",
        "_include",
        "_paths",
        "_ports",
        "_schemes",
        "_unindexed",
        "closed",
        "left_ports",
        "needs_addresses",
    )

    def __init__(
        self, rules: BoundaryRules, addresses: Addresses, left_ports: dict[str, None] | None = None
    ) -> None:
        self._schemes = frozenset(scheme.lower() for scheme in rules.schemes)
        self._exclude = DomainTable(by_action(rules.domains, Action.EXCLUDE), excludes=True)
        self._include = DomainTable(by_action(rules.domains, Action.INCLUDE))
        followed = by_action(rules.domains, Action.FOLLOW_ONLY)
        self._follow_only = DomainTable(followed)
        self._unindexed = DomainTable(followed, excludes=True)
        self._ports = PortTable(rules.ports, rules.usual_ports)
        self._paths = PathTable(rules.paths)
        self._addresses = addresses
        self.needs_addresses = any(
            table.needs_addresses for table in (self._exclude, self._include, self._follow_only)
        )
        """Whether address masks match the IP addresses of hosts."""
        self.closed = not self._include.empty
        """Whether only included hosts are inside."""
        self.left_ports: dict[str, None] = {} if left_ports is None else left_ports
        """Some ports of hosts inside that were left because no rule and no start URL names them, as `host:port`."""

    def leave(self, host: str, port: int) -> None:
        """Note in `left_ports` that nothing was requested of a port, unless enough are noted."""
        if len(self.left_ports) < MAX_LEFT_PORTS:
            self.left_ports[f"{host}:{port}"] = None

    @property
    def scheme_rule(self) -> str:
        """The name of the scheme rule."""
        return f"schemes {' '.join(sorted(self._schemes))}"

    def judge(self, url: str) -> Origin:
        """Return the verdicts about the origin of a URL."""
        scheme, host, port, _ = split(url)
        host = host.lower().removesuffix(".")
        find = (host, self._addresses)
        excluded = self._exclude.find(*find)
        included = self._include.find(*find) or self._follow_only.find(*find)
        unusual = self._ports.unusual(host, port)
        if unusual and not excluded and (included or not self.closed):
            self.leave(host, port)
        return Origin(
            host=host,
            scheme_refusal=None if scheme in self._schemes else self.scheme_rule,
            excluded=excluded,
            included=included,
            follow_only=self._unindexed.find(*find),
            port_refusal=self._ports.refusal(host, port),
            unusual_port=unusual,
            excluded_port=self._ports.exclusion(host, port),
            paths=self._paths.of(host),
        )
