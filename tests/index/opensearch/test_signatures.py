"""`auth: aws`: every request is signed, as a verifier before a real node finds."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from index.conftest import ATTRIBUTES, LIBRARY
from support.opensearch import Open, Options
from support.resource import Reply
from support.server import Request, Server
from support.signed_requests import is_signed

from ultracrawl.errors import IndexStoreError, MissingExtraError, UserError
from ultracrawl.index import Deletion, SearchQuery
from ultracrawl.index.opensearch import OpenSearchIndex
from ultracrawl.index.opensearch import server as server_module

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1"
SIGNED: Options = {"auth": "aws", "user": KEY, "password": SECRET, "region": REGION}


@pytest.fixture
def came() -> list[Request]:
    """The requests that came in."""
    return []


@pytest.fixture
def verified(options: Options, came: list[Request]) -> Iterator[str]:
    """The URL of a server that passes on to the node what is signed, and refuses everything else."""

    def answer(request: Request) -> Reply:
        came.append(request)
        kind = ("Content-Type", "application/json")
        if not is_signed(request, KEY, SECRET, REGION, "es"):
            return Reply(403, (kind,), b'{"message": "The signature does not match"}')
        connection = http.client.HTTPConnection(urlsplit(str(options["url"])).netloc, timeout=60)
        with closing(connection):
            headers = {"Content-Type": request.header("Content-Type") or ""}
            connection.request(request.method, request.path, request.body or None, headers)
            answered = connection.getresponse()
            return Reply(answered.status, (kind,), answered.read())

    server = Server(answer)
    server.start()
    yield server.url
    server.stop()


@pytest.mark.servers
def test_every_request_is_signed(opened: Open, verified: str, came: list[Request]) -> None:
    index = opened(url=verified, **SIGNED)
    index.apply(LIBRARY)
    index.apply([Deletion("s", "/heron")])
    assert index.search(SearchQuery('egret müller "the grey" it\'s 100%', limit=5)).total >= 0
    assert [hit.url for hit in index.search(SearchQuery("東京")).hits] == ["/cjk"]
    assert index.rebuild() == len(LIBRARY) - 1
    assert len(list(index.urls())) == len(LIBRARY) - 1
    assert index.check() == []
    assert len({one.path.partition("?")[0] for one in came}) > 8
    assert SECRET not in repr([(one.path, one.headers, one.body) for one in came])


@pytest.mark.servers
@pytest.mark.parametrize(
    "wrong",
    [{"password": "other"}, {"user": "other"}, {"region": "us-east-1"}],
    ids=["secret", "key", "region"],
)
def test_what_is_signed_otherwise_is_refused(opened: Open, verified: str, wrong: Options) -> None:
    index = opened(url=verified, **{**SIGNED, **wrong})
    with pytest.raises(IndexStoreError) as raised:
        index.apply(LIBRARY)
    assert "403" in str(raised.value)
    assert "does not match" in str(raised.value)
    assert str(SIGNED["password"]) not in str(raised.value)


@pytest.mark.servers
def test_a_changed_request_is_no_longer_signed(opened: Open, verified: str, came: list[Request]) -> None:
    opened(url=verified, **SIGNED).apply(LIBRARY)
    (bulk,) = (one for one in came if one.path.startswith("/_bulk"))
    assert is_signed(bulk, KEY, SECRET, REGION, "es")
    for changed in (
        replace(bulk, body=bulk.body + b"\n"),
        replace(bulk, path=bulk.path.replace("true", "false")),
        replace(bulk, method="PUT"),
        replace(bulk, headers={**bulk.headers, "host": "other"}),
    ):
        assert not is_signed(changed, KEY, SECRET, REGION, "es")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The environment of the default chain: it is empty, and no machine is asked."""
    for name in (
        "AWS_PROFILE",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return monkeypatch


@pytest.mark.servers
@pytest.mark.parametrize("place", ["environment", "profile"])
def test_keys_come_from_the_default_chain(
    opened: Open, verified: str, keys: Any, tmp_path: Path, place: str
) -> None:
    if place == "environment":
        keys.setenv("AWS_ACCESS_KEY_ID", KEY)
        keys.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        keys.setenv("AWS_DEFAULT_REGION", REGION)
    else:
        (tmp_path / "AWS_SHARED_CREDENTIALS_FILE").write_text(
            f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
        )
        (tmp_path / "AWS_CONFIG_FILE").write_text(f"[default]\nregion = {REGION}\n")
    assert opened(url=verified, auth="aws").apply(LIBRARY) == len(LIBRARY)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "given", [{"region": REGION}, {"user": KEY, "password": SECRET}], ids=["keys", "region"]
)
def test_what_is_missing_is_one_line(given: Options, tmp_path: Path) -> None:
    index = OpenSearchIndex(tmp_path, ATTRIBUTES, {"url": "http://127.0.0.1:9", "auth": "aws", **given})
    with pytest.raises(UserError) as raised:
        index.apply(LIBRARY)
    assert "\n" not in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_missing_extra_is_named_when_the_index_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError) as raised:
        OpenSearchIndex(tmp_path, ATTRIBUTES, {"url": "http://127.0.0.1:9", **SIGNED})
    assert "ultracrawl[s3]" in str(raised.value)
