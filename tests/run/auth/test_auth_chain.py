"""What the log-ins, headers and proxies of a source put around a download handler."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from support.context import made_context

from ultracrawl.errors import MissingExtraError
from ultracrawl.run.auth.chain import AuthChain
from ultracrawl.sources import DataSource, compile_source


def chain(**options: Any) -> AuthChain:
    source = DataSource.model_validate({"name": "a", "start_urls": ["https://a.example/"], **options})
    project = SimpleNamespace(key_file=None)
    return AuthChain(made_context(source, project=project, rules=compile_source(source)))


async def send(request: Request) -> Response:
    return Response(request.url)


def test_a_plain_source_costs_nothing() -> None:
    assert chain().around(send) is send


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"cookies": {"enabled": True}}, id="cookies"),
        pytest.param({"proxy": {"servers": {"p": {"url": "proxy:1"}}}}, id="proxy"),
        pytest.param(
            {"authentication": {"s": {"realm": "R", "user": "u", "password": "p"}}}, id="authentication"
        ),
        pytest.param(
            {"logins": {"l": {"page": "https://a.example/login", "fields": {"pw": "p"}}}}, id="login"
        ),
        pytest.param(
            {"site_headers": {"h": {"url": "https://a.example/", "headers": {"X-A": "1"}}}}, id="site-headers"
        ),
    ],
)
def test_what_is_configured_stands_before_the_handler(options: dict[str, Any]) -> None:
    assert chain(**options).around(send) is not send


@pytest.mark.parametrize(("scheme", "refused"), [("ntlm", True), ("auto", False)])
def test_ntlm_without_its_extra(monkeypatch: pytest.MonkeyPatch, scheme: str, refused: bool) -> None:
    monkeypatch.setattr("ultracrawl.run.auth.chain.ntlm_installed", lambda: False)
    entry = {"url": "https://a.example/", "user": "u", "password": "p", "scheme": scheme}
    if not refused:
        chain(authentication={"s": entry})
        return
    with pytest.raises(MissingExtraError, match=r"ultracrawl\[ntlm\]"):
        chain(authentication={"s": entry})
