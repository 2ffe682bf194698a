"""Which documents of a page of URLs the servers do not have."""

from __future__ import annotations

import pytest
from support.opensearch import Open

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.opensearch.server import Servers

pytestmark = pytest.mark.servers


def test_documents_are_known_before_they_can_be_found(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened()
    assert index.missing("s", ["/a", "/b"]) == {"/a", "/b"}, "there is no index yet"
    index.apply([IndexDocument("s", "/a", "", "text"), IndexDocument("t", "/b", "", "text")])
    with monkeypatch.context() as patched:
        patched.setattr("ultracrawl.index.opensearch.aliases.Alias.refresh", lambda *_: None)
        index.apply([IndexDocument("s", "/c", "", "text"), Deletion("s", "/a")])
    assert index.missing("s", ["/a", "/b", "/c"]) == {"/a", "/b"}
    assert index.missing("s", []) == set()
    assert index.count("s") == 1
    assert [url for _, url in index.urls("s")] == ["/a"]
    index.refresh()
    assert [url for _, url in index.urls("s")] == ["/c"]


def test_a_shard_that_does_not_answer_is_an_error_and_no_loss(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply([IndexDocument("s", "/a", "", "text")])
    whole = Servers.ask

    def ask(servers: Servers, method: str, path: str, *words: object, **options: object) -> object:
        if "_mget" in path:
            return {"docs": [{"error": {"type": "no_shard_available", "reason": "its node is gone"}}]}
        return whole(servers, method, path, *words, **options)

    monkeypatch.setattr(Servers, "ask", ask)
    with pytest.raises(IndexStoreError):
        index.missing("s", ["/a"])
