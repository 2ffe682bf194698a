"""The site of the pages: each has its place, the references are whole, links lead somewhere, our box searches it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import docs_site
import pytest
import references
import yaml
from playwright.sync_api import Browser, expect
from support.chromium import chromium
from support.free_port import free_port, serving
from support.search_box import BOX, BoxPage, BoxService
from support.verbs import walk

MADE = {"reference/verbs", "reference/api"}
DEFINITION = docs_site.SETTINGS / "ultracrawl.yaml"


def test_each_page_has_one_place_on_the_home_page() -> None:
    listed = re.findall(r"^/(\S+)$", docs_site.HOME.read_text(), re.MULTILINE)
    there = [str(page.relative_to(docs_site.ROOT).with_suffix("")) for page in docs_site.pages()]
    assert sorted(listed) == sorted([*there, *MADE])


def test_the_page_of_verbs_has_each_with_its_options() -> None:
    chapters = re.findall(r"^#+ (ultracrawl .+)$", references.verbs_page(), re.MULTILINE)
    assert sorted(chapters) == sorted(name for name, _ in walk() if name != "ultracrawl")
    assert "--continuous" in references.verbs_page()


def test_the_page_of_the_api_has_each_request_and_each_object() -> None:
    page, description = references.api_page(), references.openapi()
    requests = [f"{method.upper()} {path}" for path, all_ in description["paths"].items() for method in all_]
    assert sorted(re.findall(r"^### `(.+)`$", page, re.MULTILINE)) == sorted(requests)
    objects = set(re.findall(r"^\((object-[\w-]+)\)=$", page, re.MULTILINE))
    assert len(objects) == len(description["components"]["schemas"])
    assert set(re.findall(r"\(#(object-[\w-]+)\)", page)) <= objects


def test_links_that_lead_nowhere_are_found_and_others_are_listed(tmp_path: Path) -> None:
    tmp_path.joinpath("a.html").write_text(
        "<h1 id=top></h1><a href=b.html></a><a href='c.html'></a><a href='#gone'></a><a href='b.html#there'></a>"
        "<a href='b.html#not'></a><img src=no.png><a href=https://www.example.com/x></a>"
    )
    tmp_path.joinpath("b.html").write_text("<h1 id=there></h1><a href='a.html#top'></a>")
    broken, external = docs_site.check_links(tmp_path)
    assert sorted(broken) == ["a.html: #gone", "a.html: b.html#not", "a.html: c.html", "a.html: no.png"]
    assert external == ["https://www.example.com/x"]


def test_a_service_needs_a_key(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        docs_site.main(["--folder", str(tmp_path / "site"), "--service", "http://127.0.0.1:8480"])
    assert (ended.value.code, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.servers
@pytest.mark.parametrize("link", ["gone.md", "b.md#gone"])
def test_a_warning_is_an_error(tmp_path: Path, link: str) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "b.md").write_text("# B\n\nText.\n")
    (pages / "index.md").write_text("# A\n\n[b](b.md#b)\n\n```{toctree}\nb\n```\n")
    assert docs_site.sphinx(pages, tmp_path / "html", "", "") == 0
    (pages / "index.md").write_text(f"# A\n\n[b]({link})\n\n```{{toctree}}\nb\n```\n")
    assert docs_site.sphinx(pages, tmp_path / "html", "", "") != 0


@pytest.mark.servers
@pytest.mark.processes
@pytest.mark.timeout(600)
def test_the_site_is_built_without_a_warning_and_searched_by_our_box(tmp_path: Path) -> None:
    folder, html = tmp_path / "site", tmp_path / "html"
    html.mkdir()
    files = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(html)]
    with serving(lambda port: [*files, str(port)], tmp_path / "files.log") as port:
        site = f"http://127.0.0.1:{port}"
        definition = yaml.safe_load(DEFINITION.read_text().replace("http://127.0.0.1:8000", site))
        service = BoxService(tmp_path, definition)
        with chromium() as browser:
            with service.serving(free_port()):
                words = ["--service", service.url, "--key", service.key("site", site)]
                assert docs_site.main(["--folder", str(folder), *words]) == 0
                shutil.copytree(folder / "html", html, dirs_exist_ok=True)
                service.workspace.crawl("pages", timeout=300)
                search_by_box(browser, site)
            search_without_service(browser, site)


def search_by_box(browser: Browser, site: str) -> None:
    """Find a chapter of a page, and go there."""
    box = BoxPage(browser.new_context(viewport={"width": 1280, "height": 900})).go(f"{site}/index.html")
    box.type("content-security-policy", ".section")
    expect(box.dialog).to_contain_text("Content-Security-Policy")
    box.page.keyboard.press("ArrowDown")
    box.page.keyboard.press("Enter")
    box.page.wait_for_url("**/docs/*.html**")
    assert box.errors == []


def search_without_service(browser: Browser, site: str) -> None:
    """Find the same chapter by the search of Sphinx, which stands where the box would be."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{site}/index.html")
    field = page.locator(f"{BOX} input[name=q]")
    expect(field).to_be_visible()
    field.fill("content-security-policy")
    field.press("Enter")
    expect(page.locator("#search-results li").first).to_contain_text("search box")
