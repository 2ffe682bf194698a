"""The package's face: a few lines of Python crawl and search, as often as wanted."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from documentation.pages import blocks
from support.project import LOOPBACK, ROOT, Workspace
from support.sentences import sentence
from support.site import Site

import ultracrawl

pytestmark = pytest.mark.servers  # much time

README_LINES = next(one for one in blocks(ROOT / "README.md", "python") if "ultracrawl.crawl" in one)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def project(site: Site, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return a project of one site, which is the working directory."""
    site.page("/", title="Home", links=["/holiday"])
    site.page("/holiday", title="Holiday form", text="The holiday form is HR-12.")
    workspace = Workspace(tmp_path)
    workspace.define(f"{url}/")
    monkeypatch.chdir(tmp_path)
    return workspace


@pytest.mark.usefixtures("project")
def test_the_lines_of_the_readme_crawl_and_search_again_and_again_beside_an_event_loop(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async def cell_of_a_notebook() -> None:
        exec(compile(README_LINES, "README.md", "exec"), {})

    assert len([line for line in README_LINES.splitlines() if line]) == 5
    for indexed in (2, 0):
        asyncio.run(cell_of_a_notebook())
        summary, hit = capfd.readouterr().out.splitlines()
        assert summary.startswith(f"2 URLs, 2 fetched, {indexed} indexed")
        assert hit == f"Holiday form {url}/holiday"


def test_a_url_needs_no_file(site: Site, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.page("/", title="Home", text="everything stands here")
    monkeypatch.chdir(tmp_path)
    (report,) = ultracrawl.crawl(f"{url}/")
    assert (report.fetched, report.failed) == (1, False)
    with ultracrawl.Searcher() as searcher:
        assert [hit.title for hit in searcher.search("everything")] == ["Home"]


def test_sources_are_chosen_those_with_mistakes_reported_and_what_a_spider_prints_is_no_answer(
    project: Workspace, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (project.directory / "loud.py").write_text(
        "from ultracrawl.spiders import SourceSpider\nprint('hello')\nclass Loud(SourceSpider): pass\n"
    )
    options = {"start_urls": [f"{url}/"], "politeness": {"delay": 0}, "boundary": LOOPBACK}
    loud = {**options, "class": "loud.Loud"}
    project.write({"sources": {"a": options, "b": loud, "bad": {"start_url": url}}})
    b, bad = ultracrawl.crawl(project.directory / "ultracrawl.yaml", sources=["b", "bad"], force=True)
    assert (b.source, b.outcomes.total(), b.problems) == ("b", 2, [])
    assert (bad.source, bad.begun) == ("bad", False)
    assert "start_url" in bad.problems[0]
    captured = capfd.readouterr()
    assert (captured.out, "hello" in captured.err) == ("", True)


def test_mistakes_and_failed_work_are_errors_of_the_face(project: Workspace) -> None:
    with pytest.raises(ultracrawl.UserError, match=sentence("python.no_source_named_other")):
        ultracrawl.crawl(sources=["other"])
    with pytest.raises(ultracrawl.UserError, match=sentence("python.no_source_named_other")):
        ultracrawl.Searcher().search("x", sources=["other"])
    cache = project.directory / "var" / "cache"
    cache.mkdir(parents=True)
    (cache / "site").write_bytes(b"no folder")
    with pytest.raises(ultracrawl.WorkError, match="document cache"):
        ultracrawl.crawl()


def test_a_url_that_cannot_be_crawled_is_a_mistake_of_the_user() -> None:
    with pytest.raises(ultracrawl.UserError):
        ultracrawl.crawl("ftp://nowhere.invalid/")


def test_the_face_loads_nothing_before_it_is_used() -> None:
    program = (
        "import sys, ultracrawl\n"
        "print(*sorted(name for name in sys.modules if name.split('.')[0] in ('ultracrawl', 'scrapy', 'pydantic')))\n"
        "print(ultracrawl.crawl.__module__, ultracrawl.Searcher.__module__)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded, places = ran.stdout.splitlines()
    assert loaded == "ultracrawl"
    assert places == "ultracrawl.python_api ultracrawl.index.searching"


def test_every_name_is_there_and_has_its_type() -> None:
    typed = (ROOT / "ultracrawl" / "__init__.pyi").read_text()
    for name in ultracrawl.__all__:
        assert getattr(ultracrawl, name)
        assert f" {name} as {name}\n" in typed
    with pytest.raises(AttributeError):
        _ = ultracrawl.search  # type: ignore[attr-defined]
