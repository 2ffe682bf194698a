"""Real sites: the documentation that Debian ships, served by nginx, compared with what `wget -r` finds."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from support.docs import postgresql_html, python_html
from support.nginx import Nginx, nginx_site
from support.project import Workspace
from support.requirement import require

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

TITLE = re.compile(rb"<title>(.*?)</title>", re.S)
MEGABYTE = 1 << 20


def wget(url: str, into: Path) -> set[str]:
    """Return the paths of all HTML files that wget finds from a start page."""
    program = shutil.which("wget")
    require(program is not None, "wget", "wget")
    assert program is not None
    into.mkdir()
    words = [program, "-q", "-r", "-l", "inf", "-np", "-nH", "-A", "*.html", "-P", str(into), url]
    subprocess.run(words, check=False, timeout=120)
    return {"/" + quote(str(found.relative_to(into))) for found in into.rglob("*.html")}


def title_of(file: Path) -> str:
    found = TITLE.search(file.read_bytes())
    text = html.unescape(found.group(1).decode("utf-8", "replace")) if found else ""
    return " ".join(text.replace("\xa0", " ").split())


@pytest.mark.parametrize(
    ("docs", "least"), [(postgresql_html, 1100), (python_html, 450)], ids=["postgresql", "python"]
)
def test_the_same_pages_as_wget_all_searchable_with_their_titles(
    docs: Callable[[], Path], least: int, workspace: Workspace, tmp_path: Path
) -> None:
    root = docs()
    with nginx_site(root) as server:
        expected = wget(f"{server.url.rstrip('/')}/index.html", tmp_path / "mirror")
        assert len(expected) >= least
        workspace.define(
            f"{server.url.rstrip('/')}/index.html",
            limits={"max_size": "32 MB"},
            boundary={"exclude_extensions": [".txt", ".py", ".zip"]},
        )
        run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    pages = {path for path, row in workspace.urls().items() if row["outcome"] == "NEW"}
    assert {path for path in pages if path.endswith(".html")} == expected
    assert run["indexed"] == len(pages)
    found = workspace.command("search", "--json", "--as-typed", "--limit", "1000", "the").json
    titles = {"/" + hit["url"].split("/", 3)[3]: hit["title"] for hit in found["hits"]}
    wrong = {
        path: (title, title_of(root / path[1:]))
        for path, title in titles.items()
        if " ".join(title.replace("\xa0", " ").split()) != title_of(root / path[1:])
    }
    assert wrong == {}
    assert workspace.indexed() == sorted(pages), "every page can be found, once"


def full_bodies(server: Nginx) -> list[str]:
    return [one.path for one in server.requests() if one.status == 200 and one.path != "/robots.txt"]


def test_the_second_run_fetches_no_body_and_changes_are_seen_exactly(
    workspace: Workspace, tmp_path: Path
) -> None:
    root = tmp_path / "site"
    shutil.copytree(postgresql_html(), root)
    with nginx_site(root) as server:
        workspace.define(f"{server.url.rstrip('/')}/index.html")
        first = workspace.crawl().run
        server.reset()
        second = workspace.crawl().run
        assert full_bodies(server) == []
        assert second["outcomes"] == {"NOT_MODIFIED": first["outcomes"]["NEW"]}
        assert (second["indexed"], second["deleted"]) == (0, 0)

        changed, vanished, added = root / "sql-select.html", root / "bookindex.html", root / "brand-new.html"
        body = changed.read_text().replace("</body>", '<p>zanzibarword <a href="brand-new.html">x</a></body>')
        changed.write_text(body)
        vanished.unlink()
        added.write_text("<title>Brand new</title><p>timbuktuword")
        third = workspace.crawl().run
    outcomes = third["outcomes"]
    assert outcomes.pop("NOT_MODIFIED") == first["outcomes"]["NEW"] - 2
    assert outcomes == {"GONE": 1, "MODIFIED": 1, "NEW": 1}
    assert (third["indexed"], third["deleted"]) == (2, 1)
    assert workspace.search("zanzibarword") == ["/sql-select.html"]
    assert workspace.search("timbuktuword") == ["/brand-new.html"]
    assert "/bookindex.html" not in workspace.search("title:index")
