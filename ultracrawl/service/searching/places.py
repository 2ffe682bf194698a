"""The places for searches, shared out fairly among requesters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address

from anyio import CapacityLimiter, fail_after

from ultracrawl.service.access.requester import Requester
from ultracrawl.service.searching.orders import SearchRefusedError

_MAX_WAITING = 200
"""Searches of one requester that wait; further ones are refused."""
_PATIENCE = 20.0
"""Seconds that a search waits for its turn."""
_NETWORK_BITS = 64
"""Bits of the IPv6 network that one client has."""


def share_of(requester: Requester, address: str) -> str:
    """Return the name of the share that a search counts for.

    Requesters without a role are many people under one name: their addresses tell them apart.
    """
    if requester.role:
        return requester.name
    try:
        parsed = ip_address(address)
    except ValueError:
        return f"{requester.name} {address}"
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{requester.name} {int(parsed) >> (128 - _NETWORK_BITS):x}::"
    return f"{requester.name} {parsed}"


class SearchPlaces:
    """The places for searches. One share never takes them all, and those that wait get places in their order."""

    def __init__(self, most: int) -> None:
        """Give one share `most` places; there is one more, so that no share holds the last one."""
        self._places = CapacityLimiter(most + 1)
        self._most = most
        self._shares: dict[str, CapacityLimiter] = {}

    @asynccontextmanager
    async def place(self, share: str) -> AsyncIterator[None]:
        """Hold a place. Raises `SearchRefusedError` if there is none in time."""
        limiter = self._shares.setdefault(share, CapacityLimiter(self._most))
        if limiter.statistics().tasks_waiting >= _MAX_WAITING:
            raise SearchRefusedError(f"{_MAX_WAITING} searches of this requester wait already", 1)
        try:
            async with _held(limiter, "this requester"), _held(self._places, "all requesters"):
                yield
        finally:
            left = limiter.statistics()
            if not (left.borrowed_tokens or left.tasks_waiting) and self._shares.get(share) is limiter:
                del self._shares[share]


@asynccontextmanager
async def _held(limiter: CapacityLimiter, whose: str) -> AsyncIterator[None]:
    borrower = object()
    try:
        with fail_after(_PATIENCE):
            await limiter.acquire_on_behalf_of(borrower)
    except TimeoutError:
        raise SearchRefusedError(
            f"as many searches as may run at a time, of {whose}, took more than {_PATIENCE:.0f} s", 5
        ) from None
    try:
        yield
    finally:
        limiter.release_on_behalf_of(borrower)
