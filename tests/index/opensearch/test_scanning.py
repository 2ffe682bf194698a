"""Reads all documents of an index in pages, of several shards, while others write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from index.conftest import document
from support.opensearch import Open, Options, send
from support.until import until

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Deletion
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch import scanning
from ultracrawl.index.opensearch.scanning import Scan
from ultracrawl.index.opensearch.server import Servers, StatusError

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

NUMBER = 60
SNAPSHOT = "point_in_time"


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"])
def filled(request: pytest.FixtureRequest, opened: Open, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(scanning, "PAGE", 7)
    index = opened(shards=request.param)
    index.apply([document(f"/{number}", "heron") for number in range(NUMBER)])
    return index


def forget_snapshots(options: Options) -> None:
    """Let the servers forget all snapshots, as in a restart."""
    assert send("DELETE", f"{options['url']}/_search/{SNAPSHOT}/_all") is not None


def scan(options: Options) -> Iterator[str]:
    """Yield the URLs of all documents."""
    hits = Scan(Servers(options), str(options["name"]), {"match_all": {}}, {"_source": ["identity"]})
    return (str(hit["_source"]["identity"][1]) for hit in hits)


def without_snapshots(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    ask = Servers.ask

    def asked(servers: Servers, method: str, path: str, *rest: Any, **parameters: Any) -> Any:
        if SNAPSHOT in path:
            raise StatusError("no", status)
        return ask(servers, method, path, *rest, **parameters)

    monkeypatch.setattr(Servers, "ask", asked)


@pytest.mark.parametrize("status", [0, 400, 403])
def test_every_document_comes_once(
    filled: Any, options: Options, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    if status:
        without_snapshots(monkeypatch, status)
    assert sorted(scan(options)) == sorted(f"/{number}" for number in range(NUMBER))
    assert len(list(filled.urls("s"))) == NUMBER
    assert list(filled.urls("other")) == []
    assert len(list(filled.documents())) == NUMBER


def test_what_others_write_meanwhile_is_not_seen(filled: Any, options: Options) -> None:
    hits = scan(options)
    found = [next(hits)]
    changed = [document(f"/{number}", "egret") for number in range(0, NUMBER, 2)]
    filled.apply([*changed, Deletion("s", "/5"), document("/new", "heron")])
    found += hits
    assert sorted(found) == sorted(f"/{number}" for number in range(NUMBER))


@pytest.mark.parametrize("status", [0, 400])
def test_it_goes_on_without_its_snapshot(
    filled: Any, options: Options, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    hits = scan(options)
    found = [next(hits) for _ in range(30)]
    filled.apply([document("/1", "egret")])
    forget_snapshots(options)
    if status:
        without_snapshots(monkeypatch, status)
    found += hits
    assert set(found) == {f"/{number}" for number in range(NUMBER)}
    assert len(found) <= NUMBER + 1


@pytest.mark.usefixtures("filled")
def test_no_snapshot_is_left(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, kept = Servers.ask, list[str]()

    def asked(servers: Servers, method: str, path: str, *rest: Any, **parameters: Any) -> Any:
        answer = ask(servers, method, path, *rest, **parameters)
        if method == "POST" and SNAPSHOT in path:
            kept.append(answer["pit_id"])
        for one in answer["pits"] if method == "DELETE" else ():
            kept.remove(one["pit_id"])
        return answer

    monkeypatch.setattr(Servers, "ask", asked)
    hits = iter(Scan(Servers(options), str(options["name"]), {"match_all": {}}, {"_source": False}))
    next(hits)
    assert kept
    del hits
    assert not kept


@pytest.mark.parametrize("status", [0, 400])
def test_a_lost_shard_is_an_error_and_no_shorter_list(
    options: Options, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    index = f"{options['name']}-lost"
    # A node takes one of the three shards, and there is no other node.
    body: Json = {
        "settings": {
            "number_of_shards": 3,
            "number_of_replicas": 0,
            "routing.allocation.total_shards_per_node": 1,
        }
    }
    assert send("PUT", f"{options['url']}/{index}?wait_for_active_shards=0", body) is not None

    def is_partly_there() -> bool:
        health: Any = send("GET", f"{options['url']}/_cluster/health/{index}")
        return bool(health) and health["active_primary_shards"] == 1

    until(is_partly_there)
    if status:
        without_snapshots(monkeypatch, status)
    try:
        with pytest.raises(IndexStoreError):
            list(Scan(Servers(options), index, {"match_all": {}}, {"_source": False}))
    finally:
        send("DELETE", f"{options['url']}/{index}")
