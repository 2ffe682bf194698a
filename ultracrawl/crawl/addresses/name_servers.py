"""The name servers of a host, asked of the resolver of the system."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

from twisted.names import dns

RESOLVERS = Path("/etc/resolv.conf")
PORT = 53
_TIMEOUT = 3.0
_MOST = 4096


def name_servers(host: str, resolver: tuple[str, int] | None = None) -> list[str]:
    """Return the name servers of the zone that a host is in, sorted; none if nobody says it.

    The host is asked for first, then the names above it down to two labels. `resolver` is address and port.
    """
    asked = resolver or _resolver()
    labels = host.rstrip(".").split(".")
    if asked is None or host.replace(".", "").isdigit() or ":" in host:
        return []
    for at in range(max(len(labels) - 1, 1)):
        found = _ask(".".join(labels[at:]), asked)
        if found is None:
            return []
        if found:
            return sorted(found)
    return []


def _resolver() -> tuple[str, int] | None:
    try:
        lines = RESOLVERS.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    named = (line.split()[1] for line in lines if line.startswith("nameserver") and len(line.split()) > 1)
    return next(((address, PORT) for address in named), None)


def _ask(name: str, resolver: tuple[str, int]) -> set[str] | None:
    """Ask for the name servers of one name; None if there is no answer."""
    message = dns.Message(id=secrets.randbelow(1 << 16), recDes=1)
    try:
        message.addQuery(name.encode("idna"), dns.NS)
        family = socket.AF_INET6 if ":" in resolver[0] else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as channel:
            channel.settimeout(_TIMEOUT)
            channel.connect(resolver)
            channel.send(message.toStr())
            answer = dns.Message()
            answer.fromStr(channel.recv(_MOST))
    except (OSError, UnicodeError, EOFError, ValueError):
        return None
    if answer.id != message.id:
        return None
    return {
        str(one.payload.name).rstrip(".") for one in answer.answers if isinstance(one.payload, dns.Record_NS)
    }
