"""Connections of Twisted's reactor, checked where they are made: addresses of names, and peers before the first byte.

What is checked belongs to a `ConnectionAttempt`, which follows a request through callbacks as a context variable.
Connections that nobody attempts in this way (other spiders, the console) pass as ever.
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
    from ultracrawl.handlers.oversight import AddressGuard
    from ultracrawl.model import Decision

_attempt: ContextVar[ConnectionAttempt | None] = ContextVar("attempt", default=None)


class ConnectionAttempt:
    """What connections a request may open; without a guard, any."""

    def __init__(self, guard: AddressGuard | None) -> None:
        self._guard = guard
        self.refused: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        """Has the answer of the guard as soon as no address is left."""

    @contextmanager
    def current(self) -> Iterator[None]:
        """Have connections that are opened from here belong to this attempt."""
        token = _attempt.set(self)
        try:
            yield
        finally:
            _attempt.reset(token)

    def refusal_of(self, address: str) -> Decision | None:
        """Return the answer of the guard for an address that it refuses."""
        if self._guard is None:
            return None
        decision = self._guard.check(address.partition("%")[0])
        return None if decision.accept else decision

    def refuse(self, decision: Decision) -> None:
        """Note that nothing is connected to."""
        if not self.refused.done():
            self.refused.set_result(decision)


def guard_reactor() -> None:
    """Have the reactor check the connections of attempts; a resolver that was installed meanwhile is covered, too."""
    from twisted.internet import reactor as installed  # noqa: PLC0415 - importing it installs one

    reactor: Any = installed
    if not isinstance(reactor.nameResolver, _CheckingResolver):
        reactor.installNameResolver(_CheckingResolver(reactor.nameResolver))
    if not isinstance(reactor.connectTCP, _CheckingConnect):
        reactor.connectTCP = _CheckingConnect(reactor)


class _CheckingResolver:
    """Finds names as the resolver before it, and passes on the addresses that may be connected to."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def resolveHostName(self, receiver: Any, *options: Any, **more: Any) -> Any:  # noqa: N802 - Twisted's
        """Look a name up; the method of Twisted's `IHostnameResolver`."""
        attempt = _attempt.get()
        checked = receiver if attempt is None else _CheckingReceiver(receiver, attempt)
        return self._before.resolveHostName(checked, *options, **more)


class _CheckingReceiver:
    """Takes the addresses of a name, from whatever thread they come, and goes on in the context of the attempt.

    Where all are refused it does not go on: the attempt is over, and a failure here would be one that nobody looks at.
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
    """The reactor's `connectTCP`, which neither tries an address that is refused nor speaks to such a peer."""

    def __init__(self, reactor: Any) -> None:
        self._reactor, self._before = reactor, reactor.connectTCP

    def __call__(self, host: str, port: int, factory: Any, *options: Any, **more: Any) -> Any:
        attempt = _attempt.get()
        if attempt is None:
            return self._before(host, port, factory, *options, **more)
        literal = isIPAddress(host) or isIPv6Address(host)
        refusal = attempt.refusal_of(host) if literal else None
        if refusal is not None:
            attempt.refuse(refusal)
            raise ConnectionRefusedError(refusal.reason)
        checking = _CheckingFactory(factory, attempt)
        if literal:
            return self._before(host, port, checking, *options, **more)
        return self._connect_to_name(host, port, checking, *options, **more)

    def _connect_to_name(
        self,
        host: str,
        port: int,
        factory: Any,
        timeout: float = 30.0,
        bindAddress: Any = None,  # noqa: N803 - Twisted's
    ) -> Any:
        """Do what `connectTCP` of Twisted does, whose name is looked up by and by, for this attempt alone."""
        connector = Connector(host, port, factory, timeout, bindAddress, _AttemptsReactor(self._reactor))
        connector.connect()
        return connector


class _AttemptsReactor:
    """The reactor for one connection, which looks its name up in the context of the attempt.

    Twisted looks a name up when a timer is due, and runs all timers that are due in the context of who set the first.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._context = copy_context()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def resolve(self, *options: Any, **more: Any) -> Any:
        """Look a name up; the method of Twisted's `IReactorCore`."""
        return self._context.copy().run(self._reactor.resolve, *options, **more)


class _CheckingFactory:
    """A factory that makes no protocol for a peer that is refused; Twisted then closes the connection."""

    def __init__(self, factory: Any, attempt: ConnectionAttempt) -> None:
        self._factory = factory
        self._attempt = attempt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factory, name)

    def buildProtocol(self, peer: Any) -> Any:  # noqa: N802 - Twisted's
        """Return the protocol for a connection that stands; Twisted's name."""
        refusal = self._attempt.refusal_of(peer.host)
        if refusal is None:
            return self._factory.buildProtocol(peer)
        self._attempt.refuse(refusal)
        return None
