"""Which guard a handler class gets, and which crawls are refused because nobody can build one."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from ipaddress import ip_address, ip_network
from types import SimpleNamespace
from typing import Any

import pytest
from handlers.conftest import Runner
from handlers.ways import PATHS, path_of
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.settings import Settings
from support.context import made_context
from twisted.internet.defer import Deferred, succeed

from ultracrawl.crawl.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.crawl.download_errors.kinds import AddressRefusedError
from ultracrawl.crawl.transport.outgoing import Send, send_with
from ultracrawl.errors import UserError
from ultracrawl.handlers import FTP_HANDLER, HTTP_HANDLER
from ultracrawl.handlers.guarding.choice import Guarding, guard_handlers, guarding_of
from ultracrawl.handlers.guarding.guards import (
    BrowserGuard,
    ConnectionGuard,
    HostNameGuard,
    ProxyGuard,
    ReactorGuard,
)
from ultracrawl.handlers.guarding.handler import GuardedDownloadHandler
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.sources import DataSource

STORED = "ultracrawl.handlers.stored.StoredDownloadHandler"


class Unknown:
    lazy = True


class Declared:
    ultracrawl_guarded_by = "proxy"


class MadeAroundOurs:
    ultracrawl_guarded_by = "itself"


class Derived(HTTP11DownloadHandler):
    pass


def chosen(path: Any, *, settings: dict[str, Any] | None = None, **options: Any) -> Any:
    """Return what handles http after the guard has looked at the handlers."""
    made = Settings(
        {"DOWNLOAD_HANDLERS": {"http": path, "https": HTTP_HANDLER, "s3": None}, **(settings or {})}
    )
    made["DOWNLOAD_HANDLERS"].set("ftp", FTP_HANDLER)
    source = DataSource.model_validate({"name": "s", "start_urls": ["http://a.example/"], **options})
    guard_handlers(made, source)
    handlers = made["DOWNLOAD_HANDLERS"]
    assert (handlers["https"], handlers["ftp"], handlers["s3"]) == (HTTP_HANDLER, FTP_HANDLER, None)
    return handlers["http"]


@pytest.mark.parametrize(
    ("path", "guard"),
    [
        pytest.param(PATHS["http11"], ReactorGuard, id="http11"),
        pytest.param(PATHS["http2"], ReactorGuard, id="http2"),
        pytest.param(PATHS["playwright"], BrowserGuard, id="playwright"),
        pytest.param("scrapy.core.downloader.handlers._httpx.HttpxDownloadHandler", ProxyGuard, id="httpx"),
        pytest.param(Derived, ReactorGuard, id="derived"),
        pytest.param(Declared, ProxyGuard, id="declared"),
    ],
)
def test_a_foreign_handler_gets_the_guard_that_fits(path: Any, guard: type) -> None:
    for kind, known in PATHS.items():
        if path == known:
            path_of(kind)
    guarded = chosen(path)
    assert issubclass(guarded, GuardedDownloadHandler)
    assert guarded.guard is guard


@pytest.mark.parametrize("path", [HTTP_HANDLER, STORED, MadeAroundOurs])
def test_a_handler_that_guards_itself_is_left_alone(path: Any) -> None:
    assert chosen(path) is path


def test_what_is_declared_wins_over_what_a_base_is_known_for() -> None:
    assert guarding_of(type("Own", (Derived,), {"ultracrawl_guarded_by": "proxy"})) is Guarding.PROXY


def test_a_handler_that_nobody_can_guard_is_refused() -> None:
    with pytest.raises(
        UserError,
        match=r"source s: settings.DOWNLOAD_HANDLERS.http: the address guard cannot check .*guard: names",
    ):
        chosen(Unknown)
    assert chosen(Unknown, boundary={"guard": "names"}).guard is HostNameGuard


def test_names_alone_are_no_reason_to_check_less() -> None:
    assert chosen(PATHS["http11"], boundary={"guard": "names"}).guard is ReactorGuard


def test_a_handler_that_cannot_be_loaded_is_a_mistake() -> None:
    with pytest.raises(UserError, match=r"nowhere.Handler cannot be loaded: No module named 'nowhere'"):
        chosen("nowhere.Handler")


NTLM = {"a": {"url": "http://a.example/", "user": "u", "password": "p", "scheme": "ntlm"}}
PROXY = {"servers": {"p": {"url": "http://proxy.example:8080"}}}


@pytest.mark.parametrize(
    ("path", "options"),
    [
        pytest.param(PATHS["http11"], {"authentication": NTLM}, id="ntlm"),
        pytest.param(
            PATHS["http11"],
            {"client_certificates": {"c": {"url": "https://a.example/", "certificate": "c.pem"}}},
            id="certificate",
        ),
        pytest.param(Declared, {"proxy": PROXY}, id="proxy"),
    ],
)
def test_what_a_handler_cannot_do_is_refused(path: Any, options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="this handler does not support"):
        chosen(path, **options)
    if options.get("proxy"):
        assert chosen(PATHS["http11"], **options)


@pytest.mark.parametrize(
    "settings",
    [
        {"PLAYWRIGHT_CDP_URL": "http://elsewhere:9222"},
        {"PLAYWRIGHT_CONNECT_URL": "ws://elsewhere"},
        {"PLAYWRIGHT_BROWSER_PROVIDER": "own.Provider"},
        {"PLAYWRIGHT_BROWSER_TYPE": "firefox"},
        {"PLAYWRIGHT_LAUNCH_OPTIONS": {"proxy": {"server": "http://elsewhere:1"}}},
        {"PLAYWRIGHT_LAUNCH_OPTIONS": {"args": ["--no-proxy-server"]}},
        {"PLAYWRIGHT_CONTEXTS": {"own": {"proxy": {"server": "http://elsewhere:1"}}}},
        {"PLAYWRIGHT_CONTEXTS": {"own": {"user_data_dir": "/tmp/x"}}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_browser_that_would_go_past_the_guard_is_refused(settings: dict[str, Any]) -> None:
    path_of("playwright")
    with pytest.raises(UserError, match=f"with the value of {next(iter(settings))}, the browser"):
        chosen(PATHS["playwright"], settings=settings)


@pytest.mark.parametrize(
    ("guard", "meta"),
    [
        (
            BrowserGuard,
            {"playwright": True, "playwright_context_kwargs": {"proxy": {"server": "http://a.example"}}},
        ),
        (BrowserGuard, {"playwright": True, "playwright_context_kwargs": {"user_data_dir": "own"}}),
        (ProxyGuard, {"proxy": "http://a.example"}),
    ],
)
def test_a_request_that_would_go_past_the_guard_is_not_sent(
    guard: type[ConnectionGuard], meta: dict[str, Any]
) -> None:
    sent: list[Request] = []

    async def send(request: Request) -> Response:
        sent.append(request)
        return Response(request.url)

    async def fetch() -> None:
        made = guard(AddressPolicy())
        try:
            with pytest.raises(ValueError, match="cannot be"):
                await made.fetch(Request("http://a.example/", meta=meta), send)
        finally:
            await made.close()

    asyncio.run(fetch())
    assert sent == []


# ---- by names


class Hosts:
    """Knows addresses of hosts."""

    def __init__(self, **known: tuple[str, ...]) -> None:
        self._known = known

    def begin_look_up(self, host: str) -> Future[tuple[str, ...]]:
        found: Future[tuple[str, ...]] = Future()
        found.set_result(self._known.get(host.replace(".", "_"), ()))
        return found


def fetched(request: Request, answered_by: str = "", **known: tuple[str, ...]) -> Response:
    """Return the answer to a request behind a guard of names; 10.1.0.0/16 is open."""
    policy = AddressPolicy((ip_network("10.1.0.0/16"),))
    hosts: Any = Hosts(**known)

    async def send(request: Request) -> Response:
        return Response(request.url, ip_address=ip_address(answered_by) if answered_by else None)

    return asyncio.run(HostNameGuard(policy, hosts).fetch(request, send))


def test_names_are_checked_before_a_request_goes_out() -> None:
    assert (
        fetched(Request("http://in.example/"), in_example=("10.1.0.1", "8.8.8.8")).url == "http://in.example/"
    )
    with pytest.raises(AddressRefusedError):
        fetched(Request("http://in.example/"), in_example=("8.8.8.8", "10.2.0.1"))
    with pytest.raises(AddressRefusedError):
        fetched(Request("http://user@in.example:8080/"), in_example=("127.0.0.1",))
    with pytest.raises(CannotResolveHostError):
        fetched(Request("http://in.example/"))


def test_the_proxy_of_a_request_is_what_is_connected_to() -> None:
    request = Request("http://in.example/", meta={"proxy": "proxy.example:8080"})
    with pytest.raises(AddressRefusedError):
        fetched(request, in_example=("8.8.8.8",), proxy_example=("127.0.0.1",))
    trusted = Request("http://in.example/", meta={"proxy": "http://proxy.example:1", TRUSTED_KEY: "p"})
    assert fetched(trusted, proxy_example=("127.0.0.1",)).status == 200


def test_an_answer_that_names_a_refused_address_is_dropped() -> None:
    with pytest.raises(AddressRefusedError):
        fetched(Request("http://in.example/"), "127.0.0.1", in_example=("8.8.8.8",))


def test_the_report_says_once_that_names_alone_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracrawl.handlers.guarding.guards.feature_of", lambda *_: Hosts())
    context = made_context(rules=SimpleNamespace(addresses=AddressPolicy()))
    for _ in range(2):
        HostNameGuard.for_crawl(Any, context, Unknown())  # type: ignore[arg-type]  # no crawler is asked
    for ending in context.hooks.run_ending:
        ending(complete=True)
    (remark,) = context.counters.remarks
    assert remark.startswith(
        "the address guard checks host names only, because Unknown opens its connections itself"
    )


# ---- the handler around it


class Passes(ConnectionGuard):
    async def fetch(self, request: Request, send: Send) -> Response:
        return await send(request)


class Names:
    """A handler whose answers name the request that it got, as some do."""

    async def download_request(self, request: Request) -> Response:
        return Response(
            request.url, headers={"X-Shown": request.headers.get("X-Token", b"")}, request=request
        )


class OldNames:
    """The same as handlers were before Scrapy 2.14, with nothing to close."""

    def download_request(self, request: Request, spider: Spider) -> Deferred[Response]:
        return succeed(Response(request.url, headers={"X-Shown": spider.name}, request=request))


class Shows:
    """Stands for the credentials of a source."""

    def around(self, send: Send) -> Send:
        return lambda request: send_with(request, send, {"X-Token": "secret"})

    def around_bare(self, send: Send) -> Send:
        return send


@pytest.mark.parametrize(("handler", "shown"), [(Names(), b"secret"), (OldNames(), b"s")])
def test_an_answer_names_the_request_without_what_was_added(
    runner: Runner, handler: Any, shown: bytes
) -> None:
    crawler = Crawler(Spider)
    crawler.spider = Spider("s")
    access: Any = Shows()
    guarded = GuardedDownloadHandler(crawler, handler, Passes(AddressPolicy()), access)
    request = Request("http://a.example/")

    async def converse() -> Response:
        response = await guarded.download_request(request)
        await guarded.close()
        return response

    response = runner.run(converse())
    assert response.headers["X-Shown"] == shown
    assert response.request is request
    assert "X-Token" not in request.headers
