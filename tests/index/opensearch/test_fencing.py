"""Who writes a source: what a former holder sent late changes nothing, whatever the servers have forgotten."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from index.conftest import LIBRARY, document
from support.bulk_proxy import Body, BulkProxy, bulk_proxy, keep_late
from support.opensearch import Open, Options, behind, forget_deletions, send

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Deletion, IndexEngine
from ultracrawl.index.engine import Holder, Json, Lease
from ultracrawl.index.opensearch.server import Servers, StatusError

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

VERSION = 1 << 32
ONE, NEXT = 7, 8
"""Epochs of holders of a source."""


def held(epoch: int, source: str = "s") -> Lease:
    return Lease(lambda: 60.0, lambda: Holder(source, epoch))


def fences(options: Options) -> list[str]:
    """Return source (its hash) and epoch of the aliases by which sources are written."""
    found = send("GET", f"{options['url']}/{options['name']}/_alias")
    assert isinstance(found, dict)
    (index,) = found.values()
    names = (one.removeprefix(f"{options['name']}-writes-") for one in index["aliases"])
    return sorted(one.rpartition("-")[0] for one in names if one != options["name"])


def epochs(options: Options) -> list[int]:
    return [int(one.partition("-")[2]) for one in fences(options)]


def urls(index: IndexEngine) -> list[str]:
    return sorted(url for _, url in index.urls())


@pytest.fixture
def proxied(options: Options) -> Iterator[tuple[Options, BulkProxy]]:
    """The options of an index behind a proxy."""
    with bulk_proxy(str(options["url"])) as (address, proxy):
        yield {"url": address, "timeout": 30}, proxy


@pytest.mark.parametrize("is_other", [True, False], ids=["another one's", "its own"])
def test_a_late_request_does_not_bring_a_deleted_document_back(
    opened: Open, options: Options, proxied: tuple[Options, BulkProxy], is_other: bool
) -> None:
    behind_proxy, proxy = proxied
    late = opened(**behind_proxy)
    late.apply_version([document("/kept", "heron")], VERSION, held(ONE))
    proxy.faults = [keep_late]
    with pytest.raises(IndexStoreError):
        late.apply_version([document("/gone", "heron")], VERSION + 1, held(ONE))
    index, epoch = (opened(), NEXT) if is_other else (late, ONE)
    index.apply_version([document("/gone", "heron")], VERSION + 1, held(epoch))
    index.apply_version([Deletion("s", "/gone")], VERSION + 2, held(epoch))
    forget_deletions(options)
    assert proxy.deliver_late() == [404]
    index.refresh()
    assert urls(index) == ["/kept"]
    assert epochs(options) == [epoch]


def test_one_more_request_each_time_a_source_is_taken_and_none_without_leases(
    opened: Open, options: Options, proxied: tuple[Options, BulkProxy]
) -> None:
    behind_proxy, proxy = proxied
    index = opened(**behind_proxy)
    index.apply_version(LIBRARY, VERSION)
    index.apply_version(LIBRARY, VERSION)
    numbers = []
    for lease in (Lease(), held(ONE), held(ONE), held(NEXT), held(NEXT), held(NEXT), Lease()):
        proxy.paths.clear()
        index.apply_version([document("/more", "more")], VERSION + 1, lease)
        numbers.append(len(proxy.paths))
    least = min(numbers)
    assert [number - least for number in numbers] == [0, 1, 0, 1, 0, 0, 0]
    assert epochs(options) == [NEXT]


def test_sources_and_indexes_have_holders_of_their_own(opened: Open, options: Options) -> None:
    index, other = opened(), opened()
    for number, source in enumerate(("s", "s-1", "t")):
        index.apply_version([document("/a", "heron", source=source)], VERSION, held(ONE + number, source))
    other.apply_version([document("/b", "heron", source="s")], VERSION, held(ONE + 9, "s"))
    index.apply_version([Deletion("t", "/a")], VERSION, held(ONE + 2, "t"))
    assert sorted(epochs(options)) == [ONE + 1, ONE + 2, ONE + 9]
    assert urls(index) == ["/a", "/a", "/b"]
    index.forget_holders("s")
    assert sorted(epochs(options)) == [ONE + 1, ONE + 2]
    index.forget_holders("s")
    index.apply_version([document("/c", "heron", source="s")], VERSION, held(ONE + 10, "s"))
    assert sorted(epochs(options)) == [ONE + 1, ONE + 2, ONE + 10]


def test_a_former_holder_that_goes_on_is_refused_and_shuts_nobody_out(opened: Open, options: Options) -> None:
    former, index = opened(), opened()
    former.apply_version(LIBRARY, VERSION, held(ONE))
    index.apply_version([document("/more", "more")], VERSION + 1, held(NEXT))
    with pytest.raises(IndexStoreError):
        former.apply_version([document("/late", "late")], VERSION + 2, held(ONE))
    assert epochs(options) == [NEXT]
    index.apply_version([document("/last", "last")], VERSION + 2, held(NEXT))
    assert {"/more", "/last"} < set(urls(index))
    assert "/late" not in urls(index)


@pytest.mark.parametrize("act", ["rebuild", "clear"])
@pytest.mark.parametrize("is_within", [False, True], ids=["between batches", "in a batch"])
def test_a_holder_goes_on_when_another_index_has_taken_the_place(
    opened: Open, options: Options, proxied: tuple[Options, BulkProxy], is_within: bool, act: str
) -> None:
    behind_proxy, proxy = proxied
    index, other = opened(**behind_proxy), opened()
    index.apply_version([document("/a", "heron")], VERSION, held(ONE))
    (before,) = behind(options)
    replace = getattr(other, act)
    if is_within:

        def replaced(proxy: BulkProxy, body: Body) -> tuple[int, bytes]:
            replace()
            return proxy.pass_on(body)

        proxy.faults = [replaced]
    else:
        replace()
    index.apply_version([document("/b", "heron")], VERSION + 1, held(ONE))
    assert proxy.faults == []
    assert behind(options) != [before]
    assert urls(index) == ([] if act == "clear" else ["/a"]) + ["/b"]
    assert epochs(options) == [ONE]
    assert index.check() == []
    facts = index.facts()
    assert facts.server is not None
    assert [facts.server.name] == behind(options)


def test_a_rebuild_leaves_no_alias_of_those_who_write_no_more(opened: Open, options: Options) -> None:
    """A source may have left the definition without its documents being removed."""
    index, other = opened(), opened()
    index.apply_version([document("/a", "heron", source="dropped")], VERSION, held(ONE, "dropped"))
    other.apply_version([document("/b", "heron")], VERSION, held(ONE))
    index.rebuild()
    assert epochs(options) == []
    other.apply_version([document("/c", "heron")], VERSION + 1, held(ONE))
    assert epochs(options) == [ONE]
    assert urls(index) == ["/a", "/b", "/c"]


def test_a_late_request_that_comes_before_the_first_one_of_the_next_holder_undoes_nothing(
    opened: Open, options: Options, proxied: tuple[Options, BulkProxy]
) -> None:
    """Nobody has written since: it is as if it came in time."""
    behind_proxy, proxy = proxied
    late, index = opened(**behind_proxy), opened()
    late.apply_version([document("/gone", "heron"), document("/old", "heron")], VERSION, held(ONE))
    proxy.faults = [keep_late]
    changes = [document("/gone", "late"), document("/old", "late"), document("/more", "late")]
    with pytest.raises(IndexStoreError):
        late.apply_version(changes, VERSION + 1, held(ONE))
    forget_deletions(options)
    assert proxy.deliver_late() == [200, 200, 201]
    index.apply_version([Deletion("s", "/gone"), document("/old", "new")], VERSION + 2, held(NEXT))
    found = {one.url: one.text for one in index.documents()}
    assert found == {"/old": "new", "/more": "late"}


def test_an_index_that_was_removed_in_a_batch_is_made_anew(
    opened: Open, options: Options, proxied: tuple[Options, BulkProxy]
) -> None:
    behind_proxy, proxy = proxied
    index = opened(**behind_proxy)
    index.apply_version([document("/a", "heron")], VERSION, held(ONE))

    def removed(proxy: BulkProxy, body: Body) -> tuple[int, bytes]:
        (name,) = behind(options)
        assert send("DELETE", f"{options['url']}/{name}")
        return proxy.pass_on(body)

    proxy.faults = [removed]
    index.apply_version([document("/b", "heron")], VERSION + 1, held(ONE))
    assert urls(index) == ["/b"]


@dataclass
class Answers:
    """The answers to the requests that make aliases; then those of the servers."""

    errors: list[StatusError] = field(default_factory=list)
    unconfirmed: int = 0
    asked: int = 0


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    made, ask = Answers(), Servers.ask

    def answered(servers: Servers, method: str, path: str, *rest: Json, **parameters: Json) -> object:
        if path != "/_aliases":
            return ask(servers, method, path, *rest, **parameters)
        made.asked += 1
        if made.errors:
            raise made.errors.pop(0)
        found = ask(servers, method, path, *rest, **parameters)
        if made.unconfirmed:
            made.unconfirmed -= 1
            return {"acknowledged": False}
        return found

    monkeypatch.setattr(Servers, "ask", answered)
    return made


def test_busy_servers_are_asked_again(opened: Open, options: Options, answers: Answers) -> None:
    answers.errors = [StatusError("busy", 429), StatusError("busy", 503)]
    opened().apply_version(LIBRARY, VERSION, held(ONE))
    assert (answers.asked, epochs(options)) == (3, [ONE])


def test_a_full_disk_is_named_at_once(opened: Open, options: Options, answers: Answers) -> None:
    answers.errors = [StatusError("blocked", 429, "cluster_block_exception")]
    index = opened()
    with pytest.raises(IndexStoreError, match="disk"):
        index.apply_version(LIBRARY, VERSION, held(ONE))
    assert (answers.asked, index.count()) == (1, 0)
    index.apply_version(LIBRARY, VERSION, held(ONE))
    assert index.count() == len(LIBRARY)


def test_nothing_is_written_until_all_servers_know_who_writes(opened: Open, answers: Answers) -> None:
    answers.unconfirmed = 1
    index = opened()
    with pytest.raises(IndexStoreError):
        index.apply_version(LIBRARY, VERSION, held(ONE))
    assert index.count() == 0
    index.apply_version(LIBRARY, VERSION, held(ONE))
    assert index.count() == len(LIBRARY)


def test_a_user_that_may_not_change_aliases_writes_all_the_same(
    opened: Open, options: Options, answers: Answers, caplog: pytest.LogCaptureFixture
) -> None:
    answers.errors = [StatusError("no permissions", 403, "security_exception")]
    index = opened()
    for version in (VERSION, VERSION + 1):
        index.apply_version(LIBRARY, version, held(ONE))
    assert (answers.asked, epochs(options), index.count()) == (1, [], len(LIBRARY))
    assert len([one for one in caplog.records if one.levelname == "WARNING"]) == 1


def test_who_has_no_time_left_makes_no_alias(opened: Open, options: Options, answers: Answers) -> None:
    left = [60.0]
    lease = Lease(lambda: left[0], lambda: Holder("s", NEXT))
    index = opened(retry=0.1)
    index.apply_version(LIBRARY, VERSION)
    left[0] = 0.0
    with pytest.raises(IndexStoreError):
        index.apply_version(LIBRARY, VERSION + 1, lease)
    assert (answers.asked, epochs(options)) == (0, [])
    left[0] = math.inf
    index.apply_version(LIBRARY, VERSION + 1, lease)
    assert epochs(options) == [NEXT]
