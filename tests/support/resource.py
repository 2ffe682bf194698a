"""What one path of a test site answers: its body, headers, validators and misbehaviour."""

import hashlib
import html
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.server import Request

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Html:
    """The parts of a generated page; `head` is raw markup for the end of `<head>`."""

    title: str | None = None
    links: Sequence[str] = ()
    text: str = ""
    robots: str | None = None
    head: str = ""
    lang: str | None = "en"

    def render(self, encoding: str = "utf-8") -> bytes:
        """Return the page as a small, valid HTML document in `encoding`."""
        title = "" if self.title is None else f"<title>{html.escape(self.title)}</title>\n"
        robots = "" if self.robots is None else f'<meta name="robots" content="{html.escape(self.robots)}">\n'
        lang = "" if self.lang is None else f' lang="{html.escape(self.lang)}"'
        links = "".join(f'<a href="{html.escape(link)}">{html.escape(link)}</a>\n' for link in self.links)
        return (
            f'<!DOCTYPE html>\n<html{lang}>\n<head>\n<meta charset="{encoding}">\n'
            f"{title}{robots}{self.head}</head>\n"
            f"<body>\n<p>{html.escape(self.text)}</p>\n{links}</body>\n</html>\n"
        ).encode(encoding)


@dataclass(frozen=True, slots=True)
class Drip:
    """A chunked body that comes in `times` equal pieces, `pause` seconds apart; `times=None` never ends."""

    chunk: bytes
    pause: float
    times: int | None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as the server writes it; with `raw` the body is all that goes over the wire."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    delay: float = 0.0
    raw: bool = False
    drip: Drip | None = None
    until: threading.Event | None = None
    """It is not sent before this is set."""
    begins: bool = False
    """Whether its head is sent at once; by a server alone."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What lies at one path; immutable, so that a change of the site is a new resource.

    `etag` and `modified` are the validators; None leaves the header out. `compute` overrides everything else.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    html: Html | None = None
    etag: str | None = None
    modified: datetime | None = None
    delay: float = 0.0
    raw: bool = False
    drip: Drip | None = None
    until: threading.Event | None = None
    begins: bool = False
    compute: Callable[["Request"], Reply] | None = field(default=None, repr=False)

    def reply(self, request: "Request") -> Reply:
        """Answer `request`: 304 when its validators still hold (RFC 9110, 13.1), else the whole body."""
        if self.compute is not None:
            return self.compute(request)
        headers = self.headers + self._validators()
        if self.status == 200 and not self.raw and self._holds(request):
            return Reply(304, headers, delay=self.delay, until=self.until)
        return Reply(
            self.status, headers, self.body, self.delay, self.raw, self.drip, self.until, self.begins
        )

    def _validators(self) -> tuple[tuple[str, str], ...]:
        etag = () if self.etag is None else (("ETag", self.etag),)
        modified = () if self.modified is None else (("Last-Modified", http_date(self.modified)),)
        return etag + modified

    def _holds(self, request: "Request") -> bool:
        if request.method not in {"GET", "HEAD"}:
            return False
        tags = request.header("If-None-Match")
        if tags is not None:  # RFC 9110, 13.1.3: with If-None-Match, If-Modified-Since is not looked at
            return self.etag is not None and (
                tags.strip() == "*" or _weak(self.etag) in map(_weak, tags.split(","))
            )
        since = request.header("If-Modified-Since")
        if since is None or self.modified is None:
            return False
        try:
            return self.modified.replace(microsecond=0) <= parsedate_to_datetime(since)
        except (TypeError, ValueError):
            return False


def http_date(moment: datetime) -> str:
    """Format an aware time as an HTTP date, in whole seconds."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def etag_of(body: bytes) -> str:
    """Return a strong entity tag that depends on the content alone."""
    return f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'


def pairs(headers: Mapping[str, str] | Sequence[tuple[str, str]] | None) -> tuple[tuple[str, str], ...]:
    """Return headers as pairs; a sequence may repeat a name."""
    if headers is None:
        return ()
    return tuple(headers.items() if isinstance(headers, Mapping) else headers)


def gzip_of_zeros(unpacked: int) -> bytes:
    """Return one gzip member (RFC 1952) that unpacks to `unpacked` bytes, about a thousandth of that in size.

    A block that ends in a full flush does not look back, so the block for 1 MiB can be repeated.
    """
    whole, rest = divmod(unpacked, MIB)
    parts = [
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff",
        _deflated(MIB) * whole,
        _deflated(rest),
        b"\x03\x00",
    ]
    checksum, mib = 0, bytes(MIB)
    for _ in range(whole):
        checksum = zlib.crc32(mib, checksum)
    checksum = zlib.crc32(bytes(rest), checksum)
    parts.append(checksum.to_bytes(4, "little") + (unpacked & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)


def _deflated(size: int) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflate.compress(bytes(size)) + deflate.flush(zlib.Z_FULL_FLUSH)


def _weak(tag: str) -> str:
    return tag.strip().removeprefix("W/")
