"""`javascript.use: auto`, and whose words are indexed by default: what a page says as sent decides."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.project import Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

TEXT = "Many words that the server has sent, so that nobody needs a script to read them. " * 3
WRITE = "<script>document.body.insertAdjacentHTML('beforeend', '<p>written <a href=/found>x</a>')</script>"


class Recorded:
    """A browser that notes when it is started."""

    def __init__(self, directory: Path) -> None:
        chromium = next(filter(None, map(shutil.which, PROGRAMS)))
        self._starts = directory / "starts"
        self.program = directory / "browser"
        self.program.write_text(f'#!/bin/sh\necho >> "{self._starts}"\nexec {chromium} "$@"\n')
        self.program.chmod(0o755)

    @property
    def started(self) -> bool:
        return self._starts.exists()


@pytest.fixture
def browser(tmp_path: Path) -> Recorded:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    return Recorded(tmp_path)


def decision(workspace: Workspace, address: str) -> tuple[str, str]:
    explained = workspace.command("explain", "--json", address).json
    (found,) = (one for one in explained["decisions"] if one["stage"] == "javascript")
    return found["rule"], found["reason"]


@pytest.mark.parametrize(
    ("body", "is_opened"),
    [
        (f"<p>short</p>{WRITE}", True),
        (f"<p>{TEXT}</p>{WRITE}", True),
        (f"<p>{TEXT}</p><a href='#part'>part</a>{WRITE}", True),
        (f"<p>{TEXT}</p><a href=/other>other</a>{WRITE}", False),
        (f"<p>short</p><a href=/other>other</a>{WRITE}", True),
        (f"<p>{TEXT}</p><a href=/>logo</a><a href='/#x'>x</a>{WRITE}", True),
        (f"<p>{TEXT}</p><a href=mailto:a@h.example>a</a><a href='javascript:void(0)'>b</a>{WRITE}", True),
        (f"<p>{TEXT}</p><a href=/paper.pdf>paper</a>{WRITE}", True),
        (f"<p>{TEXT}</p><a href=http://elsewhere.example/>elsewhere</a>{WRITE}", True),
        ("<p>short</p><script type=application/ld+json>{}</script>", False),
    ],
    ids=[
        "shell",
        "no links",
        "links to itself",
        "text and links",
        "links only",
        "logo",
        "no server",
        "file",
        "outside",
        "no scripts",
    ],
)
def test_what_a_page_as_sent_says_decides(
    site: Site, url: str, workspace: Workspace, browser: Recorded, body: str, is_opened: bool
) -> None:
    site.file("/", f"<title>t</title>{body}".encode(), "text/html")
    for path in ("/found", "/other"):
        site.page(path, text=TEXT, links=["/"])
    workspace.define(f"{url}/", javascript={"use": "auto", "browser": str(browser.program)})
    run = workspace.crawl().run
    assert run["problems"] == []
    assert ("/found" in workspace.indexed(), browser.started) == (is_opened, is_opened)
    assert workspace.search("written") == (["/"] if is_opened and "short" in body else [])
    rule, reason = decision(workspace, f"{url}/")
    assert rule == ("rendered" if is_opened else "auto")
    workspace.crawl()
    assert decision(workspace, f"{url}/") == (rule, reason), "an unchanged page keeps its decision"


def test_a_site_of_plain_pages_starts_no_browser(
    site: Site, url: str, workspace: Workspace, browser: Recorded
) -> None:
    for number in range(5):
        site.page(f"/{number}", text=f"few words {number}")
        site.page(f"/long{number}", text=f"{number} {TEXT}", links=["/"], head="<script>1</script>")
    site.page("/", links=[f"/{kind}{number}" for kind in ("", "long") for number in range(5)])
    workspace.define(f"{url}/", javascript={"use": "auto", "browser": str(browser.program)})
    workspace.crawl()
    assert len(workspace.indexed()) == 11
    assert not browser.started


@pytest.mark.parametrize(
    ("options", "whole"),
    [({}, "shell"), ({"keep_html": True}, "both"), ({"keep_html": False}, "none")],
    ids=["default", "on", "off"],
)
def test_whose_words_are_indexed(
    site: Site, url: str, workspace: Workspace, browser: Recorded, options: dict[str, bool], whole: str
) -> None:
    site.page("/", links=["/shell", "/full"])
    site.file("/shell", f"<p>short</p>{WRITE}".encode(), "text/html")
    site.file("/full", f"<p>{TEXT}</p>{WRITE}".encode(), "text/html")
    site.page("/found", text="found")
    workspace.define(f"{url}/", javascript={"use": True, **options})
    workspace.crawl()
    assert "/found" in workspace.indexed()
    expected = {"shell": ["/shell"], "both": ["/full", "/shell"], "none": []}
    assert sorted(workspace.search("written")) == expected[whole]


def test_filters_see_what_is_indexed(site: Site, url: str, workspace: Workspace, browser: Recorded) -> None:
    rules = "<Filter name=e>\nEnumerate fn=enumerate-urls\n</Filter>\n<Filter name=g>\nGenerate fn=extract-html-text\n"
    (workspace.directory / "filter.conf").write_text(f"{rules}</Filter>\n")
    site.file("/", f"<p>short</p>{WRITE}".encode(), "text/html")
    site.file("/found", f"<p>found {TEXT}</p><a href=/>x</a>{WRITE}".encode(), "text/html")
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    workspace.define(f"{url}/", javascript="auto", filters=filters, sitemaps={"use": False})
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/", "/found"]
    assert workspace.search("written") == ["/"]
