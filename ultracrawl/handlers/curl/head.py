"""Parser of the status line and headers of a response, which libcurl delivers line by line."""

from __future__ import annotations

_BLANK = (b"\r\n", b"\n")


class ResponseHead:
    """The last head of a response, without interim heads (1xx), the proxy's head and trailers.

    Lines without a colon are skipped, folded lines are joined (RFC 9112, 5.2), repeated headers keep their order.
    """

    __slots__ = ("complete", "headers", "status")

    def __init__(self) -> None:
        self.headers: dict[bytes, list[bytes]] = {}
        """Values by name; names are spelt as in Scrapy's `Headers`."""
        self.status = 0
        self.complete = True

    def feed(self, line: bytes) -> bool:
        """Parse one line with its line end; return True if it ends a head that is not interim."""
        if self.complete:
            if line[:5] == b"HTTP/":
                self._begin(line)
            return False
        if line in _BLANK:
            self.complete = True
            return self.status >= 200
        if line[0] in b" \t":
            self._fold(line)
            return False
        name, colon, value = line.partition(b":")
        if colon:
            self.headers.setdefault(name.strip().title(), []).append(value.strip())
        return False

    def _begin(self, line: bytes) -> None:
        status = line[5:].split(None, 2)[1:2]
        self.status = int(status[0]) if status and status[0].isdigit() else 0
        self.headers = {}
        self.complete = False

    def _fold(self, line: bytes) -> None:
        if self.headers:
            values = self.headers[next(reversed(self.headers))]
            values[-1] = b"%b %b" % (values[-1], line.strip())

    @property
    def length(self) -> int | None:
        """The Content-Length in bytes; None if it is missing or invalid."""
        values = self.headers.get(b"Content-Length")
        return int(values[-1]) if values and values[-1].isdigit() else None
