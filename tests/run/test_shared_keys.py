"""URLs that have the key of another URL, in real crawls with keys of few bits: reported, and not silently lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import Ended, Workspace
from support.site import Site

from ultracrawl.rules.urls import canonical
from ultracrawl.rules.urls.canonical import url_key

BITS = 16


@pytest.fixture(autouse=True)
def few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = canonical.xxh3_64_intdigest
    monkeypatch.setattr(canonical, "xxh3_64_intdigest", lambda data: digest(data) & ((1 << BITS) - 1))


@pytest.fixture
def twin(url: str) -> Callable[[str], str]:
    """Return the path of a URL that has the key of another one."""

    def find(path: str) -> str:
        wanted = url_key(f"{url}{path}")
        return next(p for p in map("/twin{}".format, range(1 << 21)) if url_key(f"{url}{p}") == wanted)

    return find


def problem(url: str, second: str, first: str) -> str:
    return f"{url}{second} is not crawled: its key is that of {url}{first}"


def problems(ended: Ended) -> list[str]:
    return list(ended.run["problems"])


def test_of_two_links_with_one_key_one_is_fetched_and_one_reported(
    site: Site, url: str, workspace: Workspace, twin: Callable[[str], str]
) -> None:
    second = twin("/a")
    site.page("/", title="Home", links=["/a", "/b"])
    site.page("/a", title="A", text="heron")
    site.page("/b", title="B", text="egret", links=[second])
    site.page(second, title="Second", text="stork")
    workspace.define(f"{url}/")
    ended = workspace.crawl(code=1)
    assert problems(ended) == [problem(url, second, "/a")]
    assert ended.run["outcomes"] == {"NEW": 3}
    assert (site.count("/a"), site.count(second)) == (1, 0)


@pytest.mark.parametrize("way", ["start", "redirect"])
def test_a_start_url_or_target_with_the_key_of_a_known_url_is_reported(
    site: Site, url: str, workspace: Workspace, twin: Callable[[str], str], way: str
) -> None:
    second = twin("/a")
    site.page("/", title="Home", links=["/a", "/old"])
    site.page("/a", title="A", text="heron")
    site.page(second, title="Second", text="stork")
    site.redirect("/old", second)
    starts = [f"{url}/", f"{url}/a", f"{url}{second}"] if way == "start" else [f"{url}/"]
    workspace.define(start_urls=starts)
    ended = workspace.crawl(code=1)
    assert problems(ended) == [problem(url, second, "/a")]
    assert site.count(second) == 0


def test_of_two_listed_documents_with_one_key_one_is_reported(tmp_path: Path) -> None:
    docs, files = tmp_path / "docs", dict[int, Path]()
    docs.mkdir()
    for number in range(1 << BITS):
        second = docs / f"{number}.txt"
        if (first := files.setdefault(url_key(f"file://{second}"), second)) != second:
            break
    workspace = InProcessWorkspace(tmp_path)
    workspace.write({"sources": {"site": {"type": "file", "paths": ["docs"]}}})
    second.write_text("egret")
    workspace.crawl()
    first.write_text("heron")
    ended = workspace.crawl(code=1)
    assert all("is not crawled" in line for line in problems(ended))
    assert {f"file://{first}", f"file://{second}"} == {line.split()[0] for line in problems(ended)}
    assert len(workspace.search("egret")) == 1, "the known document stays"
    assert workspace.search("heron") == []
