"""A web site written as code, served on loopback, that records every request it got."""

import ssl
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from support.resource import Drip, Html, Reply, Resource, etag_of, gzip_of_zeros, pairs
from support.server import Request, Server

__all__ = ["Html", "Reply", "Request", "Site"]

Headers = Mapping[str, str] | Sequence[tuple[str, str]] | None
"""Response headers; a sequence of pairs may repeat a name."""

BIRTH = datetime(2024, 1, 1, tzinfo=UTC)
"""Last-Modified of everything that was not given another date."""

_ASCII = "".join(map(chr, range(33, 127)))


class Site:
    """A site as a table of paths.

    Paths are request targets: they begin with a slash and carry their query (`/list?page=2`). Characters
    outside ASCII may be written as they are. A path that is not in the table answers 404. Pages and files
    send an ETag made from their content and a Last-Modified date, and answer 304 to a client that has them
    already; `etag=False` and `last_modified=False` switch that off for the whole site, or for one path. Pages
    can be added, changed and removed while the site is served, also from several addresses at once::

        site = Site()
        site.page("/", title="Home", links=["/a", "/old"])
        site.page("/a", text="vacation request")
        site.redirect("/old", "/a")
        with site.serve() as url:
            ...
            assert site.count("/a") == 1
    """

    def __init__(self, *, etag: bool = True, last_modified: bool = True) -> None:
        self._etag = etag
        self._last_modified = last_modified
        self._resources: dict[str, Resource] = {}
        self._prefixes: dict[str, Resource] = {}
        self._requests: list[Request] = []
        self._lock = threading.Lock()

    # What the site holds -----------------------------------------------------------------------------------

    def page(
        self,
        path: str,
        *,
        title: str | None = None,
        links: Sequence[str] = (),
        text: str = "",
        robots: str | None = None,
        head: str = "",
        lang: str | None = "en",
        status: int = 200,
        headers: Headers = None,
        etag: str | bool | None = None,
        modified: datetime | bool | None = None,
    ) -> None:
        """Put an HTML page at `path`; `robots` is the META robots value, `head` raw markup.

        `etag` and `modified`: None follows the site, False leaves the header out, a value is sent as it is.
        """
        content = Html(title, tuple(links), text, robots, head, lang)
        fields = (("Content-Type", "text/html; charset=utf-8"), *pairs(headers))
        self._put(path, Resource(content.render(), status, fields, content), etag, modified)

    def file(
        self,
        path: str,
        body: bytes,
        content_type: str,
        *,
        headers: Headers = None,
        etag: str | bool | None = None,
        modified: datetime | bool | None = None,
    ) -> None:
        """Put any bytes at `path`; validators as in `page`."""
        self._put(
            path, Resource(body, 200, (("Content-Type", content_type), *pairs(headers))), etag, modified
        )

    def robots(
        self, text: str, *, status: int = 200, content_type: str = "text/plain; charset=utf-8"
    ) -> None:
        """Put `text` at `/robots.txt`."""
        self.respond("/robots.txt", status=status, headers={"Content-Type": content_type}, body=text)

    def sitemap(self, path: str, paths: Sequence[str]) -> None:
        """Put a sitemap at `path`; its entries are absolute with the host that the client asked for."""

        def answer(request: Request) -> Reply:
            host = request.header("Host")
            entries = "".join(f"<url><loc>http://{host}{entry}</loc></url>" for entry in paths)
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
            return Reply(200, (("Content-Type", "application/xml"),), body)

        self.dynamic(path, answer)

    def redirect(self, path: str, target: str, *, status: int = 301, headers: Headers = None) -> None:
        """Send the client from `path` to `target`, which goes into Location as it is."""
        self._resources[_target(path)] = Resource(b"", status, (("Location", target), *pairs(headers)))

    def respond(
        self,
        path: str,
        *,
        status: int = 200,
        headers: Headers = None,
        body: str | bytes = b"",
        delay: float = 0.0,
    ) -> None:
        """Answer `path` with exactly this, without validators, after `delay` seconds."""
        content = body.encode() if isinstance(body, str) else body
        self._resources[_target(path)] = Resource(content, status, pairs(headers), delay=delay)

    def gone(self, path: str) -> None:
        """Answer `path` with 410."""
        self.respond(path, status=410, headers={"Content-Type": "text/plain"}, body="gone\n")

    def slow(
        self,
        path: str,
        seconds: float,
        *,
        title: str = "slow",
        links: Sequence[str] = (),
        text: str = "",
        head: str = "",
    ) -> None:
        """Put a page at `path` that is sent only after `seconds`."""
        self.page(path, title=title, links=links, text=text, head=head)
        self._resources[_target(path)] = replace(self._resources[_target(path)], delay=seconds)

    def hold(self, path: str, *, begins: bool = False) -> threading.Event:
        """Send no answer for what lies at `path` until the event is set.

        With `begins` its head is sent at once: a crawl that is told to end drops what gives no sign for five seconds.
        """
        event = threading.Event()
        held = replace(self._resources[_target(path)], until=event, begins=begins)
        self._resources[_target(path)] = held
        return event

    def drip(
        self,
        path: str,
        chunk: bytes,
        *,
        pause: float = 0.01,
        times: int | None = None,
        content_type: str = "text/html",
    ) -> None:
        """Send `chunk` again and again as a chunked body, `pause` seconds apart; `times=None` never ends."""
        fields = (("Content-Type", content_type),)
        self._resources[_target(path)] = Resource(b"", 200, fields, drip=Drip(chunk, pause, times))

    def raw(self, path: str, data: bytes) -> None:
        """Write `data` to the socket and close it: cut-off bodies, wrong lengths; `b""` just hangs up."""
        self._resources[_target(path)] = Resource(data, 0, raw=True)

    def gzip_bomb(self, path: str, *, unpacked: int, content_type: str = "text/html") -> None:
        """Put a page at `path` that unpacks to `unpacked` bytes, from about a thousandth of that."""
        fields = {"Content-Type": content_type, "Content-Encoding": "gzip"}
        self.respond(path, headers=fields, body=gzip_of_zeros(unpacked))

    def dynamic(self, path: str, answer: Callable[[Request], Reply]) -> None:
        """Compute the answer for `path`; one that ends in `*` stands for all that begins with the rest.

        A path in the table wins over such a beginning, and a longer beginning over a shorter one.
        """
        if path.endswith("*"):
            self._prefixes[_target(path[:-1])] = Resource(compute=answer)
            self._prefixes = dict(sorted(self._prefixes.items(), key=lambda item: -len(item[0])))
        else:
            self._resources[_target(path)] = Resource(compute=answer)

    def change(
        self,
        path: str,
        *,
        title: str | None = None,
        links: Sequence[str] | None = None,
        text: str | None = None,
        robots: str | None = None,
        head: str | None = None,
        body: bytes | None = None,
        modified: datetime | None = None,
    ) -> None:
        """Change what is given and keep the rest; KeyError when there is nothing at `path`.

        An ETag made from the content follows it. Last-Modified goes on by an hour, or to `modified`.
        """
        old = self._resources[_target(path)]
        given = {"title": title, "links": links, "text": text, "robots": robots, "head": head}
        wanted = {name: value for name, value in given.items() if value is not None}
        content = old.html
        if content is not None and body is None:
            content = replace(content, **wanted)  # type: ignore[arg-type]  # the names are those of Html's fields
            body = content.render()
        elif body is None or wanted:
            raise TypeError(f"{path} is not a page: only its body can be changed")
        etag = etag_of(body) if old.etag == etag_of(old.body) else old.etag
        date = modified or (old.modified and old.modified + timedelta(hours=1))
        self._resources[_target(path)] = replace(old, body=body, html=content, etag=etag, modified=date)

    def touch(self, path: str, modified: datetime) -> None:
        """Set Last-Modified of `path` and leave its content alone."""
        self._resources[_target(path)] = replace(self._resources[_target(path)], modified=modified)

    def remove(self, path: str) -> None:
        """Take `path` out of the site, so that it answers 404; KeyError when there is nothing there."""
        del self._resources[_target(path)]

    @property
    def content(self) -> Hashable:
        """What the site holds: two sites with the same answer alike."""
        return frozenset(self._resources.items()), tuple(self._prefixes.items())

    # What was asked ----------------------------------------------------------------------------------------

    @property
    def requests(self) -> list[Request]:
        """A copy of all requests so far, in the order in which they came."""
        with self._lock:
            return list(self._requests)

    @property
    def bodies(self) -> int:
        """How many full bodies were sent: answers 200 to GET."""
        return sum(request.status == 200 and request.method == "GET" for request in self.requests)

    def paths(self) -> list[str]:
        """Return the paths asked for, `/robots.txt` too, in order and with repetitions."""
        return [request.path for request in self.requests]

    def page_paths(self) -> set[str]:
        """Return the paths asked for, but those that every crawler looks at by itself: robots.txt and sitemap."""
        return set(self.paths()) - {"/robots.txt", "/sitemap.xml"}

    def counts(self) -> Counter[str]:
        """Return how often each path was asked for."""
        return Counter(self.paths())

    def count(self, path: str) -> int:
        """Return how often `path` was asked for, by any method."""
        return self.counts()[_target(path)]

    def statuses(self, path: str) -> list[int]:
        """Return the statuses that `path` was answered with, in order."""
        return [request.status for request in self.requests if request.path == _target(path)]

    def reset(self) -> None:
        """Forget the requests; the pages stay."""
        with self._lock:
            self._requests.clear()

    # Serving -----------------------------------------------------------------------------------------------

    @contextmanager
    def serve(
        self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> Iterator[str]:
        """Serve the site in a thread and give its address, without a slash at the end.

        Every address of 127.0.0.0/8 is a host of its own; the site can be served on several at once.
        """
        server = Server(self._answer, host, port, tls)
        server.start()
        try:
            yield server.url
        finally:
            server.stop()

    def _answer(self, request: Request) -> Reply:
        reply = self._find(request.path).reply(request)
        empty = request.method == "HEAD" or reply.status in {204, 304}
        status = 0 if reply.raw else reply.status
        with self._lock:
            self._requests.append(replace(request, status=status, sent=0 if empty else len(reply.body)))
        return reply

    def _find(self, path: str) -> Resource:
        resource = self._resources.get(path)
        if resource is not None:
            return resource
        return next((found for start, found in self._prefixes.items() if path.startswith(start)), _NOT_FOUND)

    def _put(
        self, path: str, resource: Resource, etag: str | bool | None, modified: datetime | bool | None
    ) -> None:
        tag = etag_of(resource.body) if _wanted(etag, self._etag) else None
        date = BIRTH if _wanted(modified, self._last_modified) else None
        self._resources[_target(path)] = replace(
            resource,
            etag=etag if isinstance(etag, str) else tag,
            modified=modified if isinstance(modified, datetime) else date,
        )


_NOT_FOUND = Resource(b"not found\n", 404, (("Content-Type", "text/plain; charset=utf-8"),))


def _wanted(own: object, general: bool) -> bool:
    """Say whether a validator is made: by the wish for this path, or else by the rule of the site."""
    return general if own is None else own is True


def _target(path: str) -> str:
    """Write a path as clients send it: what is not visible ASCII becomes percent escapes of UTF-8."""
    if not path.startswith("/"):
        raise ValueError(f"a path begins with a slash: {path!r}")
    return quote(path, safe=_ASCII)
