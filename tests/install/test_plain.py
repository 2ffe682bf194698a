"""A plain install, without any extra, on the oldest Python and on the newest: a user's first day."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.site import Site

from .installed import Installed, installed

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]  # everything is really started

PAGES = ["/", "/plain", "/gzip", "/chunked"]


@pytest.fixture
def site() -> Site:
    site = Site()
    site.page("/", title="Home", links=["/plain", "/gzip", "/chunked", "/film"])
    site.page("/plain", title="Plain", text="heron " * 5000)
    html = "<html><head><title>T</title></head><body>{}</body></html>"
    packed = gzip.compress(html.format("egret " * 50_000).encode())
    site.file("/gzip", packed, "text/html", headers={"Content-Encoding": "gzip"})
    site.drip("/chunked", html.format("crane " * 1000).encode(), times=3)
    site.drip("/film", b"x" * 65_536, times=400, content_type="video/mp4")
    return site


@pytest.fixture
def no_curl(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which pycurl does not load."""
    folder = tmp_path / "hiding"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text('import sys\n\nsys.modules["pycurl"] = None\n')
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("python", [0, -1, None], ids=["oldest", "newest", "oldest-packages"])
def test_first_crawl_second_run_search_and_status(
    site: Site, url: str, tmp_path: Path, python: int | None
) -> None:
    work = Installed(tmp_path, installed(python))
    first = work.done("crawl", "--url", f"{url}/", "--delay", "0")
    assert "Note:" not in first.out
    assert work.outcomes() == {**dict.fromkeys(PAGES, "NEW"), "/film": "NOT_INDEXED"}
    again = work.done("crawl", "--json", "--url", f"{url}/", "--delay", "0").run
    assert again["outcomes"] == {"NOT_MODIFIED": 3, "UNMODIFIED": 1, "NOT_INDEXED": 1}
    assert again["bytes"] < 5_000_000
    assert [work.search(word) for word in ("heron", "egret", "crane")] == [
        ["/plain"],
        ["/gzip"],
        ["/chunked"],
    ]
    work.done("status")


@pytest.mark.parametrize("python", [0, -1], ids=["oldest", "newest"])
def test_without_libcurl_a_crawl_says_what_is_missing(
    site: Site, url: str, tmp_path: Path, no_curl: dict[str, str], python: int
) -> None:
    ended = Installed(tmp_path, installed(python)).command("crawl", "--url", f"{url}/", **no_curl)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.endswith("pip install --force-reinstall pycurl\n")
    assert site.requests == []


@pytest.mark.parametrize(("maker", "other"), [(0, -1), (-1, 0)], ids=["older-first", "newer-first"])
def test_each_python_goes_on_with_the_index_of_the_other(
    site: Site, url: str, tmp_path: Path, maker: int, other: int
) -> None:
    work, later = Installed(tmp_path, installed(maker)), Installed(tmp_path, installed(other))
    work.done("crawl", "--url", f"{url}/", "--delay", "0")
    assert later.search("heron") == ["/plain"]
    assert later.done("index", "check").out == "Sound.\n"
    site.page("/plain", title="Changed", text="bittern")
    site.page("/", title="Home", links=["/plain", "/gzip", "/new"])
    site.page("/new", title="New", text="bittern")
    assert later.done("crawl", "--json", "--url", f"{url}/", "--delay", "0").run["outcomes"]["MODIFIED"] == 2
    later.done("index", "optimise")
    for one in (work, later):
        assert one.done("index", "check").out == "Sound.\n"
        assert sorted(one.search("bittern")) == ["/new", "/plain"]
        assert one.search("egret") == ["/gzip"]
