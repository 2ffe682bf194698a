"""Checks connections of Twisted's reactor: resolved addresses, and the peer before the first byte is sent.

Only connections of a `ConnectionAttempt` are checked, which follows a request through callbacks as a context variable.
Other connections (of other spiders, of the console) pass unchecked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.tcp import Connector

if TYPE_CHECKING:
    from ultracrawl.handlers.download_control import AddressGuard
    from ultracrawl.model import Decision

_attempt: ContextVar[ConnectionAttempt | None] = ContextVar("attempt", default=None)


class ConnectionAttempt:
    """The connections of one request to a host, or to its proxy; without a guard, all are allowed."""

    def __init__(self, guard: AddressGuard | None, host: str) -> None:
        self._guard, self._host = guard, host
        self.refused: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        """Set to the decision of the guard once all addresses are refused."""

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make connections opened within the context part of this attempt."""
        token = _attempt.set(self)
        try:
            yield
        finally:
            _attempt.reset(token)

    def refusal_of(self, address: str) -> Decision | None:
        """Return the decision of the guard if it refuses an address, else None."""
        if self._guard is None:
            return None
        decision = self._guard.check(address.partition("%")[0], self._host)
        return None if decision.accept else decision

    def refuse(self, decision: Decision) -> None:
        """Record that the connection is refused."""
        if not self.refused.done():
            self.refused.set_result(decision)


def guard_reactor() -> None:
    """Install the checks in the reactor; called again, it wraps a resolver that was installed meanwhile."""
    from twisted.internet import reactor as installed  # noqa: PLC0415 - importing it installs one

    reactor: Any = installed
    if not isinstance(reactor.nameResolver, _CheckingResolver):
        reactor.installNameResolver(_CheckingResolver(reactor.nameResolver))
    if not isinstance(reactor.connectTCP, _CheckingConnect):
        reactor.connectTCP = _CheckingConnect(reactor)


class _CheckingResolver:
    """Wraps the resolver, and passes on the allowed addresses only."""

    def __init__(self, resolver: Any) -> None:
        self._resolver = resolver

    def resolveHostName(self, receiver: Any, *options: Any, **more: Any) -> Any:  # noqa: N802 - Twisted's
        """Look up a name; method of Twisted's `IHostnameResolver`."""
        attempt = _attempt.get()
        checked = receiver if attempt is None else _CheckingReceiver(receiver, attempt)
        return self._resolver.resolveHostName(checked, *options, **more)


class _CheckingReceiver:
    """Receives the addresses of a name from any thread, and completes in the context of the attempt.

    If all are refused it does not complete: the attempt has ended, and nothing would handle a failure here.
    """

    def __init__(self, receiver: Any, attempt: ConnectionAttempt) -> None:
        self._receiver = receiver
        self._attempt = attempt
        self._context = copy_context()
        self._passed = 0
        self._refusal: Decision | None = None

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's
        refusal = self._attempt.refusal_of(address.host)
        if refusal is not None:
            self._refusal = refusal
            return
        self._passed += 1
        self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's
        if self._refusal is not None and not self._passed:
            self._attempt.refuse(self._refusal)
            return
        self._context.run(self._receiver.resolutionComplete)


class _CheckingConnect:
    """Wraps the reactor's `connectTCP`: connects to no refused address, and sends nothing to a refused peer."""

    def __init__(self, reactor: Any) -> None:
        self._reactor, self._connect_tcp = reactor, reactor.connectTCP

    def __call__(self, host: str, port: int, factory: Any, *options: Any, **more: Any) -> Any:
        attempt = _attempt.get()
        if attempt is None:
            return self._connect_tcp(host, port, factory, *options, **more)
        literal = isIPAddress(host) or isIPv6Address(host)
        refusal = attempt.refusal_of(host) if literal else None
        if refusal is not None:
            attempt.refuse(refusal)
            raise ConnectionRefusedError(refusal.reason)
        checking = _CheckingFactory(factory, attempt)
        if literal:
            return self._connect_tcp(host, port, checking, *options, **more)
        return self._connect_to_name(host, port, checking, *options, **more)

    def _connect_to_name(
        self,
        host: str,
        port: int,
        factory: Any,
        timeout: float = 30.0,
        bindAddress: Any = None,  # noqa: N803 - Twisted's
    ) -> Any:
        """Like Twisted's `connectTCP`, but the later lookup of the name belongs to this attempt."""
        connector = Connector(host, port, factory, timeout, bindAddress, _AttemptsReactor(self._reactor))
        connector.connect()
        return connector


class _AttemptsReactor:
    """The reactor for one connection, which looks up its name in the context of the attempt.

    Twisted looks up names in a timer, and runs all due timers in the context in which the first of them was set.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._context = copy_context()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def resolve(self, *options: Any, **more: Any) -> Any:
        """Look up a name; method of Twisted's `IReactorCore`."""
        return self._context.copy().run(self._reactor.resolve, *options, **more)


class _CheckingFactory:
    """Wraps a factory; creates no protocol for a refused peer, so that Twisted closes the connection."""

    def __init__(self, factory: Any, attempt: ConnectionAttempt) -> None:
        self._factory = factory
        self._attempt = attempt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factory, name)

    def buildProtocol(self, peer: Any) -> Any:  # noqa: N802 - Twisted's
        """Return the protocol for an established connection, None for a refused peer."""
        refusal = self._attempt.refusal_of(peer.host)
        if refusal is None:
            return self._factory.buildProtocol(peer)
        self._attempt.refuse(refusal)
        return None
