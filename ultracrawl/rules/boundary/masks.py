"""Address masks of domain rules: ranges, networks and bit masks (FAST 5.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.rules import RuleError

IpAddress = IPv4Address | IPv6Address
Span = tuple[int, int]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts of URLs of this machine; data sent there does not pass a network."""


@dataclass(frozen=True, slots=True)
class BitMask:
    """Addresses of one version that equal `value` in the bits set in `mask`."""

    version: int
    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class Ranges:
    """Addresses of one version whose octets (IPv4) or 16-bit groups (IPv6) each lie in their span."""

    version: int
    spans: tuple[Span, ...]
    """Lowest and highest value of each octet or group, from the left."""
    embedded: tuple[Span, ...] = ()
    """Spans of the last four octets of an IPv6 address written with an IPv4 part."""

    def matches(self, address: IpAddress) -> bool:
        """Return whether an address is covered."""
        if address.version != self.version:
            return False
        packed = address.packed
        if self.version == 4:
            return _inside(packed, self.spans)
        groups = [packed[i] << 8 | packed[i + 1] for i in range(0, 2 * len(self.spans), 2)]
        return _inside(groups, self.spans) and _inside(packed[12:], self.embedded)


AddressMask = BitMask | Ranges


def _inside(values: Iterable[int], spans: tuple[Span, ...]) -> bool:
    return all(low <= value <= high for value, (low, high) in zip(values, spans, strict=False))


def parse_mask(text: str) -> AddressMask:
    """Parse one mask; blanks are ignored. Raises `RuleError`.

    IPv4: `192.0.2.0-100` (any octet may be a range), `192.0.2.0/24`, `192.0.2.0:255.255.255.0`,
    `192.0.2.0:0xffffff00`. IPv6: `2001:db8:0:10-1f::` (any group may be a range, also octets of an IPv4
    part), `2001:db8:7::/48`. A plain address covers only itself.
    """
    compact = "".join(text.split())
    try:
        version = 4 if "." in compact.partition(":")[0] else 6
        if "/" in compact:
            return _network(compact, version)
        if version == 4 and ":" in compact:
            return _masked(compact)
        return Ranges(4, _octets(compact)) if version == 4 else _groups(compact)
    except ValueError as error:
        raise RuleError(f"address mask {text!r}: {error}") from None


def _network(text: str, version: int) -> BitMask:
    address, _, length = text.partition("/")
    width = 32 if version == 4 else 128
    if not (length.isascii() and length.isdigit() and int(length) <= width):
        raise ValueError(f"/{length} is not a number of bits from 0 to {width}")
    mask = (1 << width) - (1 << (width - int(length)))
    return BitMask(version, int(_address(address, version)) & mask, mask)


def _address(text: str, version: int) -> IpAddress:
    try:
        return IPv4Address(text) if version == 4 else IPv6Address(text)
    except AddressValueError:
        raise ValueError(f"{text!r} is not an IPv{version} address") from None


def _masked(text: str) -> BitMask:
    address, _, mask_text = text.partition(":")
    if mask_text.lower().startswith("0x") and len(mask_text) == 10:
        mask = int(mask_text[2:], 16)
    else:
        mask = int(_address(mask_text, 4))
    return BitMask(4, int(_address(address, 4)) & mask, mask)


def _span(text: str, base: int, highest: int) -> Span:
    low, dash, high = text.partition("-")
    digits = set("0123456789abcdefABCDEF" if base == 16 else "0123456789")
    for number in (low, high) if dash else (low,):
        if not number or len(number) > 4 or not digits.issuperset(number) or int(number, base) > highest:
            raise ValueError(f"{number!r} is not a number from 0 to {highest:{'x' if base == 16 else 'd'}}")
    span = int(low, base), int(high if dash else low, base)
    if span[0] > span[1]:
        raise ValueError(f"the range {text} runs backwards")
    return span


def _octets(text: str) -> tuple[Span, ...]:
    octets = text.split(".")
    if len(octets) != 4:
        raise ValueError("an IPv4 address has four octets")
    return tuple(_span(octet, 10, 255) for octet in octets)


def _groups(text: str) -> Ranges:
    embedded: tuple[Span, ...] = ()
    group_count = 8
    if "." in text:
        text, _, tail = text.rpartition(":")
        text += ":" if text.endswith(":") else ""
        embedded, group_count = _octets(tail), 6
    left, gap, right = text.partition("::")
    first = [_span(group, 16, 0xFFFF) for group in left.split(":") if group or not gap]
    last = [_span(group, 16, 0xFFFF) for group in right.split(":") if right]
    missing = group_count - len(first) - len(last)
    if missing < (1 if gap else 0) or (missing and not gap):
        raise ValueError(f"an IPv6 address has eight groups{' or one gap' if not gap else ''}")
    return Ranges(6, (*first, *[(0, 0)] * missing, *last), embedded)


class MaskTable:
    """Finds the mask that covers an address: networks by look-up per mask width, ranges by linear search."""

    __slots__ = ("_networks", "_ranges")

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._networks: dict[tuple[int, int], dict[int, str]] = {}
        self._ranges: list[tuple[Ranges, str]] = []
        for text, rule in rules.items():
            mask = parse_mask(text)
            if isinstance(mask, BitMask):
                self._networks.setdefault((mask.version, mask.mask), {}).setdefault(mask.value, rule)
            else:
                self._ranges.append((mask, rule))

    def find(self, addresses: Iterable[IpAddress | str]) -> str | None:
        """Return the rule that covers one of the addresses, or None; invalid text matches nothing."""
        for address in addresses:
            rule = self._find(parse_address(address))
            if rule is not None:
                return rule
        return None

    def _find(self, address: IpAddress | None) -> str | None:
        if address is None:
            return None
        number, version = int(address), address.version
        for (mask_version, mask), values in self._networks.items():
            if mask_version == version and number & mask in values:
                return values[number & mask]
        return next((rule for ranges, rule in self._ranges if ranges.matches(address)), None)


def parse_address(address: IpAddress | str) -> IpAddress | None:
    """Parse an address, with or without brackets and zone; None for invalid text."""
    if not isinstance(address, str):
        return address
    try:
        return ip_address(address.strip().removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        return None
