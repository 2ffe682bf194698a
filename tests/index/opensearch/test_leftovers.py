"""What killed processes leave behind of indexes that they filled, and who may remove it."""

from __future__ import annotations

import signal
from itertools import count
from pathlib import Path

import pytest
from index.conftest import ATTRIBUTES, LIBRARY, document
from support.bulk_proxy import Body, BulkProxy, bulk_proxy
from support.opensearch import Open, Options, behind, send
from support.project import LOOPBACK, Workspace

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch import aliases
from ultracrawl.index.opensearch.aliases import ABANDONED_SECONDS, Alias, NewIndex, filled_alias
from ultracrawl.index.opensearch.filling import Filling
from ultracrawl.index.opensearch.server import Servers
from ultracrawl.index.stored_fields import SCHEMA_VERSION

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


def make_older(options: Options, name: str, seconds: float) -> None:
    """Make the mark of an index that is filled older."""
    path = f"{options['url']}/{name}/_mapping"
    found = send("GET", path)
    assert isinstance(found, dict)
    meta = found[name]["mappings"]["_meta"]
    assert meta["ultracrawl"]["renewed"] > 1.7e9, "the time of a server"
    meta["ultracrawl"]["renewed"] -= seconds
    assert send("PUT", path, {"_meta": meta}) is not None


def leave_behind(options: Options) -> str:
    """Make an index as a process that is killed leaves it behind, and return its name."""
    servers = Servers(options)
    name = f"{options['name']}-{SCHEMA_VERSION}-{next(_NUMBERS)}"
    made = NewIndex(servers, name, ATTRIBUTES)
    Alias(servers, options)._create(name, ATTRIBUTES, made.marked(), made.alias)
    servers.close()
    return name


_NUMBERS = count(20261127000000000000)


@pytest.mark.parametrize("act", ["rebuild", "clear", "apply"])
def test_what_a_killed_process_left_behind_is_removed_when_it_is_old(
    opened: Open, options: Options, act: str
) -> None:
    opened().apply(LIBRARY)
    (before,) = behind(options)
    old, young = leave_behind(options), leave_behind(options)
    make_older(options, old, ABANDONED_SECONDS + 60)
    index = opened()
    if act == "apply":
        index.apply(LIBRARY[:1])
    else:
        getattr(index, act)()
    (now,) = set(behind(options)) - {young}
    assert (now == before) is (act == "apply")
    assert index.count() == (0 if act == "clear" else len(LIBRARY))


def test_only_what_was_filled_for_this_index_is_removed(opened: Open, options: Options) -> None:
    opened().apply(LIBRARY)
    (own,) = behind(options)
    name = options["name"]
    other = leave_behind({**options, "name": f"{name}-7"})
    kept = [other, f"{name}-7-20261127000000000000", f"{name}-8-20261127000000000000", f"{name}-notes"]
    mark: dict[str, Json] = {"schema": 7, "attributes": {}, "alias": name, "renewed": 1}
    bodies: list[Json] = [
        {},
        {"mappings": {"_meta": {"ultracrawl": mark}}, "aliases": {f"{name}-in-use": {}}},
        {"mappings": {"_meta": {"ultracrawl": mark}}},
    ]
    for index, body in zip(kept[1:], bodies, strict=True):
        assert send("PUT", f"{options['url']}/{index}", body) is not None
    make_older(options, other, ABANDONED_SECONDS + 60)
    opened().rebuild()
    assert set(kept) < set(behind(options))
    assert own not in behind(options)


def test_who_goes_on_after_its_index_was_removed_fails_and_makes_none(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, other = opened(), opened()
    stopped.apply(LIBRARY)
    copy = Filling.copy

    def copied(self: Filling) -> None:
        copy(self)
        monkeypatch.setattr(Filling, "copy", copy)
        (name,) = (one for one in behind(options) if not one.endswith("-0"))
        make_older(options, name, ABANDONED_SECONDS + 60)
        assert other.rebuild() == len(LIBRARY)

    monkeypatch.setattr(Filling, "copy", copied)
    with pytest.raises(IndexStoreError):
        stopped.rebuild()
    assert len(behind(options)) == 1
    assert other.count() == len(LIBRARY)
    assert other.apply([document("/more", "more")]) == 1


def test_who_writes_into_a_removed_index_makes_none(opened: Open, options: Options) -> None:
    opened().apply(LIBRARY)
    alias = Alias(Servers(options), options)
    index = alias.current()
    assert index is not None
    with alias.new_index(ATTRIBUTES) as made:
        filling = Filling(Servers(options), index.name, made, ATTRIBUTES)
        assert send("DELETE", f"{options['url']}/{made.name}") is not None
        with pytest.raises(IndexStoreError):
            filling.copy()
    assert behind(options) == [index.name]


def test_an_index_that_took_its_place_is_not_removed(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the last request of a rebuild is lost."""
    index = opened()
    index.apply(LIBRARY)
    turn = Alias.turn

    def turned(*given: object) -> None:
        turn(*given)  # type: ignore[arg-type]
        raise IndexStoreError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(Alias, "turn", turned)
        for act in (index.rebuild, index.clear):
            (before,) = behind(options)
            with pytest.raises(IndexStoreError):
                act()
            (after,) = behind(options)
            assert after != before
    assert index.apply(LIBRARY) == len(LIBRARY)


def test_an_index_that_was_taken_for_left_behind_and_then_took_its_place_stays(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply(LIBRARY)
    alias = Alias(Servers(options), options)
    former = alias.current()
    assert former is not None
    with alias.new_index(ATTRIBUTES) as made:
        make_older(options, made.name, ABANDONED_SECONDS + 60)
        looked, turn = aliases.time_of, alias.turn

        def turned_meanwhile(servers: Servers) -> int:
            turn(made, former)
            return looked(servers)

        monkeypatch.setattr(aliases, "time_of", turned_meanwhile)
        alias.remove_abandoned()
    assert behind(options) == [made.name]
    assert send("GET", f"{options['url']}/{made.name}/_alias/{filled_alias(made.name)}") is None


def test_who_is_at_work_says_so_again(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply(LIBRARY)
    monkeypatch.setattr(aliases, "_RENEWED_SECONDS", 0.0)
    renew = NewIndex.renew

    def renewed(self: NewIndex, *, at_once: bool = False) -> None:
        make_older(options, self.name, ABANDONED_SECONDS + 60)
        renew(self, at_once=at_once)
        Alias(Servers(options), options).remove_abandoned()

    monkeypatch.setattr(NewIndex, "renew", renewed)
    assert index.rebuild() == len(LIBRARY)


def test_a_rebuild_that_is_killed_leaves_an_index_that_the_next_crawl_removes(
    url: str, options: Options, tmp_path: Path, opened: Open
) -> None:
    opened().apply(LIBRARY)
    (before,) = behind(options)
    with bulk_proxy(str(options["url"])) as (address, proxy):
        workspace = Workspace(tmp_path)
        source = {"start_urls": [url], "boundary": LOOPBACK}
        index = {"engine": "opensearch", **options, "url": address}
        workspace.write({"index": index, "sources": {"birds": source}})
        process = workspace.start("index", "rebuild")

        def killed(proxy: BulkProxy, body: Body) -> tuple[int, bytes]:
            process.send_signal(signal.SIGKILL)
            return proxy.pass_on(body)

        proxy.faults = [killed]
        process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL
        (left,) = set(behind(options)) - {before}
        assert workspace.command("search", "heron", timeout=120).code == 0
        assert workspace.crawl(timeout=300, code=None).run
        assert left in behind(options), "it may still be filled"
        make_older(options, left, ABANDONED_SECONDS + 60)
        assert workspace.command("index", "rebuild", timeout=300).code == 0
        assert len(behind(options)) == 1
