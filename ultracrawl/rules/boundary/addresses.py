"""The address guard: which IP addresses a source may connect to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import Decision
from ultracrawl.rules.boundary.masks import IpAddress, parse_address
from ultracrawl.rules.boundary.rules import RuleError

IpNetwork = IPv4Network | IPv6Network

_METADATA_SERVICES = (
    "169.254.169.254/32 169.254.170.2/32 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32 "
    "fd00:ec2::254/128 fd20:ce::254/128"
)
_REFUSED: tuple[tuple[str, str], ...] = (
    ("cloud metadata", _METADATA_SERVICES),
    ("loopback", "127.0.0.0/8 ::1/128"),
    ("unspecified", "0.0.0.0/8 ::/128"),
    ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10 64:ff9b:1::/48"),
    ("link-local", "169.254.0.0/16 fe80::/10"),
    ("shared by a carrier (CGNAT)", "100.64.0.0/10"),
    ("multicast", "224.0.0.0/4 ff00::/8"),
    ("protocol assignment", "192.0.0.0/24 192.88.99.0/24 100::/64 2001:10::/28 2001:20::/28 5f00::/16"),
    ("documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"),
    ("benchmark", "198.18.0.0/15 2001:2::/48"),
    ("reserved", "240.0.0.0/4"),
)
_CLASSES: tuple[tuple[IpNetwork, str], ...] = tuple(
    (ip_network(text), name) for name, texts in _REFUSED for text in texts.split()
)
_METADATA = tuple(map(ip_network, _METADATA_SERVICES.split()))
_INTRANET = tuple(map(ip_network, ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]))
"""Private networks of RFC 1918, and unique local addresses (RFC 4193)."""
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_EMBEDDING_NETWORKS = (_MAPPED, IPv6Network("::/96"), _NAT64)
_ISATAP = (0x00005EFE, 0x02005EFE)


@dataclass(frozen=True, slots=True)
class IntranetHosts:
    """Hosts whose addresses may lie in private networks."""

    exact: frozenset[str] = frozenset()
    domains: tuple[str, ...] = ()
    """Domains without a leading dot, of which all hosts are meant."""

    def __contains__(self, host: str) -> bool:
        name = host.lower().rstrip(".")
        return name in self.exact or any(
            name == domain or name.endswith(f".{domain}") for domain in self.domains
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the hosts in order, then the domains with `*.`."""
        yield from sorted(self.exact)
        yield from (f"*.{domain}" for domain in self.domains)


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Decides which addresses may be connected to, by the address of the connection.

    Refuses the special-purpose ranges of IPv4 and IPv6 (IANA registries, RFC 6890) and cloud metadata
    services, also inside IPv4-mapped, IPv4-compatible, NAT64, 6to4, Teredo and ISATAP addresses.
    `allow_networks` permits networks of an intranet, `intranet` private addresses of some hosts.
    """

    allow_networks: tuple[IpNetwork, ...] = ()
    intranet: IntranetHosts = IntranetHosts()

    @classmethod
    def for_source(
        cls, seed_addresses: Iterable[str] = (), allow_networks: Iterable[str] = ()
    ) -> AddressPolicy:
        """Return the policy of a source: its networks, and the addresses that its seeds contain as literals.

        Only `allow_networks` permits a cloud metadata service. Raises `RuleError` for an invalid network.
        """
        return cls(tuple(map(_network, allow_networks))).with_seeds(seed_addresses)

    def with_seeds(self, addresses: Iterable[str]) -> AddressPolicy:
        """Return the policy that permits the addresses of seeds too, metadata services excepted."""
        parsed = [address for address in map(parse_address, addresses) if address is not None]
        added = [ip_network(address) for address in parsed if not _is_metadata(address)]
        return replace(self, allow_networks=(*self.allow_networks, *added))

    def refuses(self, address: str | IpAddress, host: str = "") -> str | None:
        """Return the rule that refuses an address of a host (`address loopback`), or None.

        Invalid text is refused.
        """
        parsed = parse_address(address)
        if parsed is None:
            return "address unknown"
        allowed = partial(self._allows, is_intranet=bool(host) and host in self.intranet)
        if allowed(parsed):
            return None
        embedded = list(_embedded(parsed))
        for inner in embedded:
            if not allowed(inner) and (name := _class_of(inner)) is not None:
                return f"address {name}"
        if embedded and parsed in _MAPPED:
            return None
        name = None if embedded and all(map(allowed, embedded)) else _class_of(parsed)
        return name and f"address {name}"

    def check(self, address: str | IpAddress, host: str = "") -> Decision:
        """Return the decision about an address, to which a host resolves."""
        rule = self.refuses(address, host)
        which = f"{host} has the address {address}, which" if host and host != str(address) else str(address)
        if rule is None:
            return Decision(True, "address", "address", f"{which} is an allowed address")
        reason = f"{which} is not a public address, and no allowed network contains it"
        return Decision(False, "address", rule, reason)

    def _allows(self, address: IpAddress, *, is_intranet: bool) -> bool:
        if any(address in network for network in self.allow_networks):
            return True
        return is_intranet and any(address in network for network in _INTRANET) and not _is_metadata(address)


def _is_metadata(address: IpAddress) -> bool:
    return any(address in network for network in _METADATA)


def _network(text: str) -> IpNetwork:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise RuleError(f"allow_networks: {error}; write a network as 10.1.0.0/16") from None


def _class_of(address: IpAddress) -> str | None:
    """Return the class of a special-purpose address, None for a public one."""
    name = next((name for network, name in _CLASSES if address in network), None)
    if name is not None or isinstance(address, IPv4Address):
        return name
    if address in _GLOBAL_UNICAST or address in _NAT64:
        return None
    return "not global unicast"


def _embedded(address: IpAddress) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address (RFC 4291, 6052, 3056, 4380, 5214)."""
    number = int(address)
    if isinstance(address, IPv4Address) or number <= 1:
        return
    low = IPv4Address(number & 0xFFFFFFFF)
    if any(address in network for network in _EMBEDDING_NETWORKS) or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        yield low
    elif address.sixtofour is not None:
        yield address.sixtofour
    elif address.teredo is not None:
        yield from address.teredo
