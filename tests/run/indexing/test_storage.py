"""Stored documents: kept, removed, made again without a request, exported."""

from __future__ import annotations

import gzip
import shutil
import time
from typing import Any

import pytest
from support.clock import wall_time
from support.project import Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.documents.response_bodies import DocumentStore
from ultracrawl.stores.project_stores import open_documents


@pytest.fixture
def small(site: Site) -> Site:
    site.page("/", title="Home", links=["/a", "/b", "/missing"], text="welcome everybody")
    meta = '<meta name="team" content="Zoo">'
    site.page(
        "/a", title="Alpha", text="the first animal is an aardvark", head=meta, headers={"X-Team": "Savanna"}
    )
    site.page("/b", title="Beta", text="the second animal is a badger " * 40)
    return site


def store(workspace: Workspace) -> DocumentStore:
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    return open_documents(project, project.sources["site"])


def kept(workspace: Workspace) -> dict[str, StoredAnswer]:
    """Return what is stored, by path."""
    documents = store(workspace)
    answers = [documents.get(key) for key in documents.stored_keys()]
    documents.close()
    return {"/" + answer.url.split("/", 3)[3]: answer for answer in answers if answer is not None}


def define(workspace: Workspace, url: str, storage: dict[str, Any], **options: Any) -> None:
    workspace.define(f"{url}/", storage={"keep": True, **storage}, **options)


@pytest.mark.parametrize("form", ["blocks", "files"], ids=["fast_100-bstore", "fast_100-flatfile"])
def test_what_is_in_the_index_is_kept_and_what_left_it_is_not(
    small: Site, url: str, workspace: Workspace, form: str
) -> None:
    define(workspace, url, {"form": form})
    workspace.crawl()
    answers = kept(workspace)
    assert set(answers) == {"/", "/a", "/b"}
    assert b"aardvark" in answers["/a"].body
    assert answers["/a"].header("x-team") == "Savanna"
    small.change("/a", text="an antelope")
    small.remove("/b")
    workspace.crawl()
    answers = kept(workspace)
    assert set(answers) == {"/", "/a"}
    assert b"antelope" in answers["/a"].body
    assert any((workspace.directory / "var/documents/site").glob("files" if form == "files" else "*.sqlite"))


def test_by_default_nothing_is_kept(small: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    assert not (workspace.directory / "var/documents").exists()
    assert workspace.command("reindex").code == 2
    assert "storage" in workspace.command("export", "--warc", "x.warc").err


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param({}, True, id="fast_101-yes"),
        pytest.param({"headers": False}, False, id="fast_101-no"),
    ],
)
def test_headers(small: Site, url: str, workspace: Workspace, options: Any, names: bool) -> None:
    define(workspace, url, options)
    workspace.crawl()
    answer = kept(workspace)["/a"]
    assert bool(answer.header("X-Team")) is names
    assert answer.header("Content-Type").startswith("text/html")


@pytest.mark.parametrize(
    ("options", "number"),
    [pytest.param({}, 3, id="fast_102-no"), pytest.param({"duplicates": True}, 4, id="fast_102-yes")],
)
def test_bodies_of_duplicates(small: Site, url: str, workspace: Workspace, options: Any, number: int) -> None:
    small.page("/copy/b", title="Beta", text="the second animal is a badger " * 40)
    small.change("/", links=["/a", "/b", "/copy/b"])
    define(workspace, url, options)
    workspace.crawl()
    assert len(kept(workspace)) == number


@pytest.mark.parametrize("form", ["blocks", "files"])
@pytest.mark.parametrize(
    ("options", "small_enough"),
    [
        pytest.param({}, True, id="fast_103-yes"),
        pytest.param({"compress": False}, False, id="fast_103-no"),
        pytest.param({"compress_exclude": ["text/*"]}, False, id="fast_104"),
    ],
)
def test_compression(
    small: Site, url: str, workspace: Workspace, form: str, options: Any, small_enough: bool
) -> None:
    body = b"<title>Long</title>" + b"the same again " * 5000
    small.file("/a", body, "text/html")
    define(workspace, url, {"form": form, **options})
    workspace.crawl()
    documents = store(workspace)
    assert (documents.size < 30_000) is small_enough
    documents.close()
    assert kept(workspace)["/a"].body == body


def test_the_store_is_bounded(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, {"size": 1000, "compress": False})
    run = workspace.crawl(code=1).run
    assert len(kept(workspace)) < 3
    assert "storage.size" in run["problems"][0]
    assert run["outcomes"]["NEW"] == 3, "the crawl goes on"


def test_what_a_server_claims_in_the_name_of_a_lister_is_not_stored(
    site: Site, url: str, workspace: Workspace
) -> None:
    claim = {"X-Ultracrawl-Entry": '{"access_url":"x","title":"Claimed"}'}
    site.page("/", title="Home", text="welcome", headers=claim)
    define(workspace, url, {"headers": True})
    workspace.crawl()
    workspace.command("reindex")
    assert workspace.command("search", "--json", "--as-typed", "Claimed").json["hits"] == []
    assert len(workspace.command("search", "--json", "--as-typed", "Home").json["hits"]) == 1


@pytest.mark.parametrize("form", ["blocks", "files"])
@pytest.mark.parametrize("headers", [True, False])
def test_everything_is_made_again_without_a_request(
    small: Site, url: str, workspace: Workspace, form: str, headers: bool
) -> None:
    options = {"form": form, "headers": headers}
    define(workspace, url, options)
    workspace.crawl()
    before = workspace.urls()
    shutil.rmtree(workspace.directory / "var/index")
    assert workspace.indexed() == []
    small.reset()
    run = workspace.command("reindex", "--json").run
    assert small.requests == []
    assert run["outcomes"] == {"REINDEXED": 3}
    assert (run["fetched"], run["indexed"], run["scheduled"]) == (0, 3, 3)
    assert workspace.indexed() == ["/", "/a", "/b"]
    after = workspace.urls()
    for path, row in after.items():
        changed = {name for name in row if row[name] != before[path][name]}
        assert changed <= {"outcome"}
    outcomes = workspace.crawl().run["outcomes"]
    assert outcomes == {"GONE": 1, "NOT_MODIFIED": 3}, "links and validators are as they were"


def test_a_changed_definition_counts_at_once(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, {})
    workspace.crawl()
    define(
        workspace,
        url,
        {},
        attributes={"team": "Subject", "x-team": "Author"},
        extract={"Description": "=seen"},
    )
    small.reset()
    workspace.command("reindex")
    assert small.requests == []
    assert workspace.search("", "--where", "Subject=Zoo") == ["/a"]
    assert workspace.search("", "--where", "Author=Savanna") == ["/a"]
    assert len(workspace.search("", "--where", "Description=seen")) == 3
    assert workspace.crawl().run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 3}


def test_documents_that_are_not_stored_are_counted_and_stay(
    small: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    define(workspace, url, {})
    small.change("/a", text="an antelope")
    workspace.crawl()
    ended = workspace.command("reindex", "--json")
    assert ended.code == 1
    assert ended.run["problems"][0].startswith(sentence("storage.two_not_stored"))
    assert workspace.indexed() == ["/", "/a", "/b"]


def test_a_page_that_a_new_rule_keeps_out_leaves_the_index(
    small: Site, url: str, workspace: Workspace
) -> None:
    small.change("/a", robots="noindex")
    define(workspace, url, {}, robots={"meta": False})
    workspace.crawl()
    define(workspace, url, {})
    workspace.command("reindex")
    assert workspace.indexed() == ["/", "/b"]


@pytest.mark.parametrize("form", ["blocks", "files"])
@pytest.mark.servers  # much time
def test_kills_lose_no_stored_document(site: Site, url: str, workspace: Workspace, form: str) -> None:
    pages = [f"/p{number}" for number in range(80)]
    for path in pages:
        site.page(path, title=path, text=f"the text of {path} " * 50)
    site.page("/", title="Home", links=pages, text="welcome everybody")
    define(workspace, url, {"form": form}, politeness={"delay": 0.005, "concurrency": 4})
    for number in (20, 40, 60):
        process = workspace.start("crawl", "--json")
        until(lambda number=number: len(site.requests) >= number, process)
        kill_group(process)
    workspace.crawl()
    assert set(kept(workspace)) == {"/", *pages}
    assert workspace.command("reindex", "--json").run["outcomes"] == {"REINDEXED": 81}


@pytest.mark.parametrize("name", ["out.warc", "out.warc.gz"])
def test_warc_export(small: Site, url: str, workspace: Workspace, name: str) -> None:
    define(workspace, url, {})
    before = int(wall_time())
    workspace.crawl()
    ended = workspace.command("export", "site", "--warc", name)
    assert ended.out == f"3 documents in {name}\n"
    data = (workspace.directory / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    records = list(parsed(data))
    assert [head["WARC-Type"] for head, _ in records] == ["warcinfo", "response", "response", "response"]
    found = {head["WARC-Target-URI"]: block for head, block in records[1:]}
    http, _, body = found[f"{url}/a"].partition(b"\r\n\r\n")
    assert http.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"X-Team: Savanna" in http
    assert f"Content-Length: {len(body)}".encode() in http
    assert b"aardvark" in body
    assert all(head["WARC-Date"] >= time.strftime("%Y-%m-%d", time.gmtime(before)) for head, _ in records)
    assert workspace.command("export", "--warc", name).code == 2, "no file is overwritten"


def parsed(data: bytes) -> Any:
    """Yield head and block of each record, by the grammar of ISO 28500."""
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        version, *lines = head.decode().split("\r\n")
        assert version == "WARC/1.1"
        fields = dict(line.split(": ", 1) for line in lines)
        length = int(fields["Content-Length"])
        yield fields, rest[:length]
        assert rest[length : length + 4] == b"\r\n\r\n"
        data = rest[length + 4 :]


def test_a_damaged_answer_costs_one_document_nothing(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, {"form": "files"})
    workspace.crawl()
    path = next(
        path for path in (workspace.directory / "var/documents").rglob("*.doc") if b"/b" in path.read_bytes()
    )
    path.write_bytes(path.read_bytes()[:-20])
    run = workspace.command("reindex", "--json").run
    assert run["outcomes"] == {"FAILED": 1, "REINDEXED": 2}
    assert workspace.indexed() == ["/", "/a", "/b"], "it stays in the index as it is"


@pytest.mark.parametrize("lost", [False, True], ids=["index kept", "index lost"])
def test_documents_that_were_read_in_part_are_made_again_in_part(
    site: Site, url: str, workspace: Workspace, lost: bool
) -> None:
    site.page("/", links=["/feed.xml"])
    site.file("/feed.xml", b"<rss><title>T</title><p>needle</p><p>cut", "application/rss+xml")
    define(workspace, url, {}, types=["text/html", "data"])
    workspace.crawl()
    assert workspace.indexed() == ["/", "/feed.xml"]
    if lost:
        shutil.rmtree(workspace.directory / "var" / "index")
    workspace.command("reindex")
    assert workspace.indexed() == ["/", "/feed.xml"]
    assert workspace.search("needle") == ["/feed.xml"]
    reason = workspace.urls()["/feed.xml"]["reason"]
    assert reason == "broken XML: no element found"
