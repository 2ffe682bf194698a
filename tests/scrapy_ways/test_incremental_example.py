"""The project in `examples/incremental` does what its README says: the second crawl asks, and indexes nothing anew."""

import re
import shutil
from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.site import Site

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "incremental"


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a copy of the example that crawls the site of the test, and writes down its statistics."""
    folder = desk.directory / "incremental"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("var", "__pycache__"))
    spiders = folder / "intranet" / "spiders.py"
    text = spiders.read_text()
    assert "http://127.0.0.1:8000/" in text
    spiders.write_text(text.replace("http://127.0.0.1:8000", url))
    return Desk(folder)


def exported(project: Desk, name: str) -> list[str]:
    return (project.directory / name).read_text().splitlines()


def index_files(project: Desk) -> list[str]:
    return sorted(path.name for path in (project.directory / "var" / "index").iterdir())


def test_the_second_crawl_asks_what_has_changed_and_indexes_nothing_anew(project: Desk, site: Site) -> None:
    project.crawled("pages", "-O", "first.jsonl")
    assert len(exported(project, "first.jsonl")) == 2
    assert project.found("vacation") == ["/a"]
    files = index_files(project)
    site.reset()

    project.crawled("pages", "-O", "second.jsonl")
    asked = {
        request.path: request.header("If-None-Match")
        for request in site.requests
        if request.path != "/robots.txt"
    }
    assert set(asked) == {"/", "/a"}
    assert all(asked.values())
    assert (site.statuses("/"), site.statuses("/a")) == ([304], [304])
    assert exported(project, "second.jsonl") == []
    assert index_files(project) == files

    site.page("/a", title="Vacation", text="how to ask for a holiday")
    project.crawled("pages", "-O", "third.jsonl")
    assert len(exported(project, "third.jsonl")) == 1
    assert (project.found("holiday"), project.found("request")) == (["/a"], [])


def test_the_settings_in_the_readme_are_those_of_the_example() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL)
    assert shown in (EXAMPLE / "intranet" / "settings.py").read_text()
