"""The first steps of docs/first-steps.md in their order: a URL is crawled, then a definition of its site is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.network import NetworkSite
from support.project import ANY_PORT, LOOPBACK, Ended, Workspace
from support.site import Site

ENGINES = ["whoosh", "tantivy"]
WITHOUT_SQL = {"paths": {"127.0.0.1": {"exclude": ["/sql-"]}}}


@pytest.fixture
def manual(site: Site) -> Site:
    site.page("/", title="Home", text="heron home", links=["/vacuum", "/sql-vacuum", "/old"])
    site.page("/vacuum", title="Vacuum", text="heron vacuum")
    site.page("/sql-vacuum", title="Vacuum command", text="heron vacuum kingfisher")
    site.page("/old", title="Old", text="heron old")
    return site


@pytest.fixture
def other() -> Iterator[str]:
    other = NetworkSite()
    other.page("/", title="Other", text="heron elsewhere", links=["/x"])
    other.page("/x", title="X", text="heron x")
    with other.serve() as address:
        yield address


def source_of(url: str, **boundary: Any) -> dict[str, Any]:
    return {
        "start_urls": [f"{url}/"],
        "boundary": {**LOOPBACK, **boundary},
        "politeness": {"delay": 0},
        "sitemaps": {"ttl": 0},
    }


def define(workspace: Workspace, engine: str = "whoosh", **sources: Any) -> None:
    workspace.write({"index": {"engine": engine}, "sources": sources})


def found(workspace: Workspace, *words: str) -> list[str]:
    """Return the URLs of all hits of a search, by path; one that is found twice stands twice."""
    hits = workspace.command("search", "--json", "--as-typed", "--limit", "100", *words).json["hits"]
    return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)


def crawl_url(workspace: Workspace, url: str, code: int = 0) -> Ended:
    ended = workspace.command("crawl", "--url", f"{url}/", "--delay", "0", "--json")
    assert ended.code == code, ended.err
    return ended


def adhoc_name(url: str) -> str:
    return url.partition("://")[2].replace(":", "-")


def names_of(workspace: Workspace) -> dict[str, int]:
    """Return the number of documents of each source in the index."""
    sources = workspace.command("index", "info", "--json").json["sources"]
    assert isinstance(sources, dict)
    return sources


@pytest.mark.parametrize("engine", ENGINES)
def test_every_page_is_found_once_and_no_excluded_one(
    manual: Site, url: str, workspace: Workspace, engine: str
) -> None:
    crawl_url(workspace, url)
    assert found(workspace, "heron") == ["/", "/old", "/sql-vacuum", "/vacuum"]
    define(workspace, engine, pg=source_of(url, **WITHOUT_SQL))
    assert workspace.command("lint").code == 0
    if engine == "whoosh":
        assert found(workspace, "heron") == ["/", "/old", "/sql-vacuum", "/vacuum"], "it is still defined"
    for _ in range(2):
        ended = workspace.crawl()
        assert found(workspace, "heron") == ["/", "/old", "/vacuum"]
        assert found(workspace, "kingfisher") == []
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 3}
    manual.remove("/old")
    manual.page("/", title="Home", text="heron home", links=["/vacuum", "/sql-vacuum", "/new"])
    manual.page("/new", title="New", text="heron new")
    for _ in range(3):
        workspace.crawl()
        assert found(workspace, "heron") == ["/", "/new", "/vacuum"]
    assert names_of(workspace) == {"pg": 3}
    status = workspace.command("status", "--json").json
    assert [one["source"] for one in status["sources"]] == ["pg"]
    assert status["left_over"] == []
    assert workspace.command("index", "check").code == 0
    kept = [path.name for path in (workspace.directory / "var").rglob("*127.0.0.1*")]
    assert [name for name in kept if not name.endswith(".lock")] == []


def test_the_definition_takes_over_without_fetching_anything_again(
    manual: Site, url: str, workspace: Workspace
) -> None:
    crawl_url(workspace, url)
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    manual.reset()
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 3}
    assert run["deleted"] == 1
    assert manual.count("/sql-vacuum") == 0, "it left without a request"
    assert f"took over 4 documents of {adhoc_name(url)}" in "".join(run["remarks"])
    assert not (workspace.directory / "var" / "adhoc.yaml").exists()


def test_a_definition_that_admits_more_reads_its_pages_again(
    manual: Site, url: str, workspace: Workspace, other: str
) -> None:
    manual.page(
        "/vacuum", title="Vacuum", text="heron vacuum", links=[f"{other.replace('127.0.0.1', 'localhost')}/"]
    )
    crawl_url(workspace, url)
    hosts = {"domains": {"include": ["127.0.0.1", "localhost"]}, "ports": ANY_PORT}
    define(workspace, pg=source_of(url, **hosts))
    run = workspace.crawl().run
    assert run["outcomes"]["NEW"] == 2
    assert "/x" in found(workspace, "heron")


def test_of_two_sites_the_one_without_a_definition_stays(
    manual: Site, url: str, workspace: Workspace, other: str
) -> None:
    crawl_url(workspace, url)
    crawl_url(workspace, other)
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    for _ in range(2):
        workspace.crawl()
        assert found(workspace, "heron") == ["/", "/", "/old", "/vacuum", "/x"]
    assert names_of(workspace) == {"pg": 3, adhoc_name(other): 2}
    crawl_url(workspace, other)
    assert workspace.crawl(adhoc_name(other)).run["outcomes"] == {"NOT_MODIFIED": 2}
    assert names_of(workspace) == {"pg": 3, adhoc_name(other): 2}
    define(workspace, pg=source_of(url, **WITHOUT_SQL), other=source_of(other))
    assert workspace.crawl(code=0).json["runs"]
    assert names_of(workspace) == {"pg": 3, "other": 2}


def test_a_second_source_of_another_site_changes_nothing(
    manual: Site, url: str, workspace: Workspace, other: str
) -> None:
    crawl_url(workspace, url)
    define(workspace, pg=source_of(url, **WITHOUT_SQL), other=source_of(other))
    for _ in range(3):
        workspace.crawl()
        assert found(workspace, "heron") == ["/", "/", "/old", "/vacuum", "/x"]


def test_a_site_that_a_definition_has_is_crawled_by_its_name(
    manual: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    workspace.crawl()
    told = crawl_url(workspace, url, code=2).err
    assert "`ultracrawl crawl pg`" in told
    assert names_of(workspace) == {"pg": 3}
    assert not (workspace.directory / "var" / "adhoc.yaml").exists()


def test_two_sources_that_could_take_over_are_reported_and_nothing_is_done(
    manual: Site, url: str, workspace: Workspace
) -> None:
    crawl_url(workspace, url)
    name = adhoc_name(url)
    define(
        workspace,
        a=source_of(url, paths={"127.0.0.1": {"exclude": ["/old"]}}),
        b=source_of(url, **WITHOUT_SQL),
    )
    advice = f"`ultracrawl remove {name}` or `ultracrawl rename {name} a` or `ultracrawl rename {name} b`"
    assert advice in workspace.command("status").out
    assert advice in workspace.command("lint").out
    for run in workspace.crawl().json["runs"]:
        assert f"ultracrawl remove {name}" in "".join(run["remarks"])
    assert names_of(workspace) == {"a": 3, "b": 3, name: 4}
    assert found(workspace, "heron") == ["/", "/old", "/sql-vacuum", "/vacuum"], "each once"
    assert workspace.command("remove", name, "--yes").code == 0
    assert names_of(workspace) == {"a": 3, "b": 3}
    assert f"remove {name}" not in workspace.command("status").out


def test_a_start_url_that_the_definition_excludes_leaves(
    manual: Site, url: str, workspace: Workspace
) -> None:
    crawl_url(workspace, url)
    define(workspace, pg=source_of(url, paths={"127.0.0.1": {"include": ["/vacuum"]}}))
    for _ in range(2):
        workspace.crawl(code=None)
        assert set(found(workspace, "heron")) <= {"/vacuum"}


def test_a_source_of_the_same_name_goes_on(manual: Site, url: str, workspace: Workspace) -> None:
    crawl_url(workspace, url)
    define(workspace, **{adhoc_name(url): source_of(url, **WITHOUT_SQL)})
    for _ in range(2):
        workspace.crawl()
        assert found(workspace, "heron") == ["/", "/old", "/vacuum"]
    assert not (workspace.directory / "var" / "adhoc.yaml").exists()


def test_a_source_that_both_made_before_is_left_over(manual: Site, url: str, workspace: Workspace) -> None:
    """As in a folder of an earlier version, which crawled both."""
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    workspace.crawl()
    (workspace.directory / "ultracrawl.yaml").rename(workspace.directory / "aside.yaml")
    (workspace.directory / "var" / "adhoc.yaml").unlink(missing_ok=True)
    crawl_url(workspace, url)
    (workspace.directory / "aside.yaml").rename(workspace.directory / "ultracrawl.yaml")
    name = adhoc_name(url)
    assert found(workspace, "heron") == ["/", "/old", "/sql-vacuum", "/vacuum"]
    assert f"ultracrawl remove {name}" in workspace.command("status").out
    assert f"ultracrawl remove {name}" in "".join(workspace.crawl().run["remarks"])
    assert found(workspace, "heron") == ["/", "/old", "/vacuum"]
    assert f"left over: {name}" in workspace.command("status").out
    workspace.command("remove", name, "--yes")
    assert names_of(workspace) == {"pg": 3}


def test_while_its_site_is_being_crawled_nothing_is_taken_over(
    manual: Site, url: str, workspace: Workspace
) -> None:
    import fcntl

    crawl_url(workspace, url)
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    before = {path for path in (workspace.directory / "var").rglob("*") if path.is_file()}
    with (workspace.directory / "var" / "state" / f"{adhoc_name(url)}.sqlite.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = workspace.command("crawl")
        assert ended.code == 1
        assert "another process" in ended.err
        assert adhoc_name(url) in ended.err
    assert names_of(workspace) == {adhoc_name(url): 4}
    gone = [path.name for path in before if not path.exists()]
    assert gone == []
    workspace.crawl()
    assert names_of(workspace) == {"pg": 3}


def test_files_with_the_same_state_do_not_hide_each_other(
    manual: Site, url: str, workspace: Workspace, other: str
) -> None:
    define(workspace, pg=source_of(url, **WITHOUT_SQL))
    workspace.crawl()
    second = workspace.directory / "second.yaml"
    second.write_text(yaml.safe_dump({"sources": {"other": source_of(other)}}))
    workspace.crawl("-c", "second.yaml")
    for words in ((), ("-c", "second.yaml")):
        assert found(workspace, "heron", *words) == ["/", "/", "/old", "/vacuum", "/x"]
        assert workspace.command("status", "--json", *words).json["left_over"] == []
    second.unlink()
    assert found(workspace, "heron") == ["/", "/old", "/vacuum"]
    assert "left over: other" in workspace.command("status").out


def test_a_folder_that_was_moved_is_the_same(
    manual: Site, url: str, workspace: Workspace, other: str, tmp_path: Path
) -> None:
    first, moved = (type(workspace)(tmp_path / name) for name in ("first", "moved"))
    first.directory.mkdir()
    define(first, pg=source_of(url, **WITHOUT_SQL), other=source_of(other))
    first.crawl()
    define(first, pg=source_of(url, **WITHOUT_SQL))
    first.directory.rename(moved.directory)
    assert found(moved, "heron") == ["/", "/old", "/vacuum"]
    assert "left over: other" in moved.command("status").out


def test_nothing_is_left_out_while_a_definition_has_mistakes(
    manual: Site, url: str, workspace: Workspace, other: str
) -> None:
    define(workspace, pg=source_of(url, **WITHOUT_SQL), other=source_of(other))
    workspace.crawl()
    define(workspace, pg=source_of(url, **WITHOUT_SQL), third={"start_urls": ["no url"]})
    assert "/x" in found(workspace, "heron")
    assert workspace.command("status", "--json").json["left_over"] == []
