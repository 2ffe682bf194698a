"""`SiteTable`: values by host, by host with port, and by the end of host names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, Never, TypeVar

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.urls.canonical import DEFAULT_PORTS, UrlPolicy

V_co = TypeVar("V_co", covariant=True)

_FORM = UrlPolicy()
_DEFAULT = {str(DEFAULT_PORTS[scheme]) for scheme in ("http", "https")}


def site_key(written: str) -> str | None:
    """Return the key of `host`, `host:port` or `.suffix`, equal for spellings that mean the same; None if it is none.

    International names become ASCII. The ports 80 and 443 are one site (`site_of`); their key ends in a colon.
    """
    suffix = written.startswith(".")
    text = f"x{written}" if suffix else written
    host, port = _split(text)
    if (
        not host
        or any(character in "/?#@%*\\ " for character in text)
        or not (port is None or port.isdecimal())
    ):
        return None
    url = _FORM.canonical(f"http://{host}/")
    if url is None or (port is not None and not 0 < int(port) < 65_536):
        return None
    name = url.removeprefix("http://").removesuffix("/")
    if ":" in name and not name.endswith("]"):
        return None
    if suffix:
        return name.removeprefix("x") if port is None and name.startswith("x.") else None
    return name if port is None else f"{name}:" if port in _DEFAULT else f"{name}:{int(port)}"


def _split(text: str) -> tuple[str, str | None]:
    """Split host and port; the port is None if there is none."""
    host, colon, port = text.rpartition(":")
    return (host, port) if colon and not text.endswith("]") else (text, None)


@dataclass(frozen=True, slots=True)
class SiteTable(Generic[V_co]):
    """Values by `site_key`: a host with its port precedes the host, and that precedes the longest suffix."""

    values: Mapping[str, V_co] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether there is any value."""
        return bool(self.values)

    def find(self, site: str) -> V_co | None:
        """Return the value of a site (as `site_of` returns it), None if there is none."""
        return next((value for key in _keys(site) if (value := self.values.get(key)) is not None), None)


NO_SITES: SiteTable[Never] = SiteTable()
"""A table without values."""


def _keys(site: str) -> Iterator[str]:
    """Yield the keys that a site may have, the most special first."""
    host, port = _split(site)
    yield f"{host}:{port or ''}"
    yield host
    dot = host.find(".")
    while dot >= 0 and not host.startswith("["):
        yield host[dot:]
        dot = host.find(".", dot + 1)
