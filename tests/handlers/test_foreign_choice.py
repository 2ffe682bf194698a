"""Which guard a handler class gets, and which crawls are refused because nobody can build one."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from importlib.util import find_spec
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
from support.requirement import require
from support.sentences import sentence
from twisted.internet.defer import Deferred, succeed

from ultracrawl.errors import UserError
from ultracrawl.handlers import FTP_HANDLER, HTTP_HANDLER
from ultracrawl.handlers.guarding.choice import GuardedDownloadHandler, guard_handlers
from ultracrawl.handlers.guarding.guards import (
    ConnectionGuard,
    HostNameGuard,
    ReactorGuard,
)
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.run.download_errors.kinds import AddressRefusedError
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.run.transport.outgoing import Send, send_with
from ultracrawl.sources import DataSource
from ultracrawl.sources.checking.access_checks import check_access

STORED = "ultracrawl.handlers.stored.StoredDownloadHandler"


class Unknown:
    lazy = True


class Declared(HTTP11DownloadHandler):
    ultracrawl_guarded_by = "reactor"


class OfOtherWords:
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
        pytest.param(PATHS["ftp"], ReactorGuard, id="ftp"),
        pytest.param(Declared, ReactorGuard, id="declared"),
    ],
)
def test_a_foreign_handler_gets_the_guard_that_fits(path: Any, guard: type) -> None:
    if path == PATHS["http2"]:
        path_of("http2")
    guarded = chosen(path)
    assert issubclass(guarded, GuardedDownloadHandler)
    assert guarded.guard is guard


@pytest.mark.parametrize("path", [HTTP_HANDLER, STORED, MadeAroundOurs])
def test_a_handler_that_guards_itself_is_left_alone(path: Any) -> None:
    assert chosen(path) is path


FOREIGN: dict[str, Any] = {
    "unknown": Unknown,
    "other words": OfOtherWords,
    "derived": Derived,
    "httpx": "scrapy.core.downloader.handlers._httpx.HttpxDownloadHandler",
    "playwright": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
}
LOGINS: dict[str, Any] = {
    "logins": {"l": {"page": "http://a.example/in", "fields": {"user": "u"}}},
    "authentication": {"a": {"url": "http://a.example/", "user": "u", "password": "p"}},
    "site_headers": {"h": {"url": "http://a.example/", "headers": {"X-Key": "k"}}},
    "cookies": {"enabled": True},
}


@pytest.mark.parametrize("path", FOREIGN.values(), ids=list(FOREIGN))
def test_a_handler_that_nobody_can_guard_is_refused_or_checked_by_names(path: Any) -> None:
    if "playwright" in str(path):
        require(find_spec("scrapy_playwright"), "scrapy-playwright", get="pip install scrapy-playwright")
    if "httpx" in str(path):
        require(find_spec("httpx"), "httpx", get="pip install httpx")
    with pytest.raises(UserError, match=r"source s: settings.DOWNLOAD_HANDLERS.http: .*guard: names"):
        chosen(path)
    assert chosen(path, boundary={"guard": "names"}).guard is HostNameGuard


@pytest.mark.parametrize("option", LOGINS)
def test_names_alone_are_not_enough_where_a_source_logs_in(option: str) -> None:
    with pytest.raises(UserError, match=f"`{option}"):
        chosen(Unknown, boundary={"guard": "names"}, **{option: LOGINS[option]})
    assert chosen(PATHS["http11"], boundary={"guard": "names"}, **{option: LOGINS[option]})


@pytest.mark.parametrize("option", [*LOGINS, ""])
def test_the_definition_is_checked_for_it(option: str) -> None:
    source = {"start_urls": ["http://a.example/"], "boundary": {"guard": "names"}}
    own = {option: LOGINS[option]} if option else {}
    made = DataSource.model_validate({"name": "s", **source, **own})
    found = [one for one in check_access(made) if one.path == ("boundary", "guard")]
    assert [one.fatal for one in found] == [bool(option)]


def test_names_alone_are_no_reason_to_check_less() -> None:
    assert chosen(PATHS["http11"], boundary={"guard": "names"}).guard is ReactorGuard


def test_a_handler_that_cannot_be_loaded_is_a_mistake() -> None:
    with pytest.raises(UserError, match=r"nowhere.Handler cannot be loaded: No module named 'nowhere'"):
        chosen("nowhere.Handler")


NTLM = {"a": {"url": "http://a.example/", "user": "u", "password": "p", "scheme": "ntlm"}}


@pytest.mark.parametrize(
    ("path", "options"),
    [
        pytest.param(PATHS["http11"], {"authentication": NTLM}, id="ntlm"),
        pytest.param(
            PATHS["http11"],
            {"client_certificates": {"c": {"url": "https://a.example/", "certificate": "c.pem"}}},
            id="certificate",
        ),
    ],
)
def test_what_a_handler_cannot_do_is_refused(path: Any, options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=sentence("handlers.handler_does_not_support")):
        chosen(path, **options)


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
    monkeypatch.setattr("ultracrawl.handlers.guarding.guards.parts_of", lambda _: {HostAddresses: Hosts()})
    context = made_context(rules=SimpleNamespace(addresses=AddressPolicy()))
    for _ in range(2):
        HostNameGuard.for_crawl(Any, context, Unknown())  # type: ignore[arg-type]  # no crawler is asked
    (remark,) = set(context.run.closing_remarks)
    assert remark.startswith(sentence("guard.names_only_for_unknown"))


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
