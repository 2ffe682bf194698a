"""The project in `examples/custom_spider` does what its README says."""

import re
import shutil
from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.site import Site

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "custom_spider"


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a copy of the example that crawls the site of the test."""
    folder = desk.directory / "custom_spider"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("var", "__pycache__", "*.egg-info"))
    source = folder / "norrhavn" / "sources" / "intranet.yaml"
    text = source.read_text()
    assert "http://127.0.0.1:8000/" in text
    source.write_text(text.replace("http://127.0.0.1:8000", url))
    return Desk(folder)


def main_page(title: str, body: str) -> str:
    return f"<title>{title}</title><nav><a href='/'>Home</a> <a href='/news/'>Navigation</a></nav><main>{body}</main>"


@pytest.fixture
def pages(site: Site) -> None:
    bodies = {
        "/": main_page("Home", "<p>welcome</p>"),
        "/news/": main_page("News", "<ul><li><a href='2025-03-roof.html'>Roof</a></ul>"),
        "/news/2025-03-roof.html": main_page("Solar roof", "<p>The solar roof is on.</p>"),
    }
    for path, body in bodies.items():
        site.respond(path, headers={"Content-Type": "text/html; charset=utf-8"}, body=body)


@pytest.mark.usefixtures("pages")
def test_the_example_crawls(project: Desk) -> None:
    lint = project.ultracrawl("lint")
    assert (lint.code, lint.out) == (0, "")
    assert project.scrapy("list").out.split() == ["intranet"]
    project.crawled("intranet")
    assert project.outcomes() == {"/": "NEW", "/news/": "NOT_INDEXED", "/news/2025-03-roof.html": "NEW"}
    assert project.found("solar roof", "--where", "Section=news") == ["/news/2025-03-roof.html"]
    assert project.found("navigation") == []
    (hit,) = project.ultracrawl(
        "search", "--json", "--as-typed", "solar", "--where", "Published=2025-03-01"
    ).json["hits"]
    assert hit["title"] == "Solar roof"


def test_the_class_in_the_documentation_is_the_one_of_the_example() -> None:
    text = (EXAMPLE.parents[1] / "docs" / "scrapy.md").read_text()
    (code,) = re.findall(r"```python\n(\"\"\"The class of the source.*?)```", text, re.DOTALL)
    assert code == (EXAMPLE / "norrhavn" / "spiders.py").read_text()
