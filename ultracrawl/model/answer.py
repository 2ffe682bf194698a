"""A stored response, from which its document can be made again without a request."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A response with status 200; its body is stored without content and transfer encoding."""

    url: str
    """The access URL."""
    fetched: float
    """Seconds since the epoch."""
    headers: tuple[tuple[str, str], ...]
    """Names and values as received (bytes above 127 as Latin-1); repeated headers stay repeated."""
    body: bytes
    truncated: str = ""
    """Which part of the body was not read, and why; empty if it is complete."""

    def header(self, name: str) -> str:
        """Return the first value of a header, or an empty string."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")
