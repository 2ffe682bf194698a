"""The addresses of a server that a definition names: for sources that connect to it themselves."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import Future

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.addresses import AddressPolicy


def allowed_addresses(host: str, port: int, timeout: float) -> list[str]:
    """Return the addresses of a host of the definition.

    As for start URLs, addresses of an intranet are allowed, and services for the metadata of a cloud machine are not.
    Raises `WorkError` if the host has no address or is not resolved in time, `UserError` if none is allowed.
    """
    resolved: Future[list[str]] = Future()

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            resolved.set_result(list(dict.fromkeys(str(address[0]) for *_, address in found)))
        except (OSError, UnicodeError) as error:
            resolved.set_exception(WorkError(f"{host} cannot be resolved: {error}"))

    threading.Thread(target=resolve, name="look-up", daemon=True).start()
    try:
        addresses = resolved.result(timeout)
    except TimeoutError:
        raise WorkError(f"{host} was not resolved within {timeout:g} s") from None
    policy = AddressPolicy.for_source(addresses)
    decisions = {address: policy.check(address.partition("%")[0]) for address in addresses}
    allowed = [address for address in addresses if decisions[address].accept]
    if not allowed:
        raise UserError(f"{host} may not be connected to: {decisions[addresses[0]].reason}")
    return allowed
