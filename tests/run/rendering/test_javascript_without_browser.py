"""A source whose pages need a browser, on a machine that has none."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site

from ultracrawl.run import Visit, rendering
from ultracrawl.run.rendering import browser, page_renderer

SCRIPTED = "<title>shell</title><p>words of the server</p><a href=/next>x</a><script>1</script>"


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "PROGRAMS", ("no-such-browser",))


@pytest.fixture
def shell(site: Site) -> Site:
    site.file("/", SCRIPTED.encode(), "text/html")
    site.page("/next")
    return site


@pytest.mark.usefixtures("no_browser", "shell")
def test_pages_are_read_as_sent_and_the_report_says_so(workspace: Workspace, url: str) -> None:
    workspace.define(f"{url}/", javascript={"use": True})
    ended = workspace.crawl()
    assert (ended.code, ended.run["outcomes"], len(ended.run["remarks"])) == (0, {"NEW": 2}, 1)
    assert ended.run["rejected_by"] == {"javascript failed": 1}
    assert set(workspace.search("words of the server")) == {"/"}


@pytest.mark.usefixtures("no_browser", "shell")
def test_lint_gives_a_hint(workspace: Workspace, url: str) -> None:
    workspace.define(f"{url}/", javascript={"use": True})
    ended = workspace.command("lint", "--json")
    (finding,) = ended.lines
    assert (ended.code, finding["fatal"]) == (0, False)


@pytest.mark.usefixtures("shell")
def test_a_run_with_a_browser_renders_pages_that_were_read_without_one(
    workspace: Workspace, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.define(f"{url}/", javascript={"use": True})
    with monkeypatch.context() as patch:
        patch.setattr(browser, "PROGRAMS", ("no-such-browser",))
        workspace.crawl()
    opened = list[str]()

    async def open_page(_: object, visit: Visit, *_given: object) -> browser.Rendered:
        opened.append(visit.url.removeprefix(url))
        return browser.Rendered(SCRIPTED)

    monkeypatch.setattr(rendering, "browser_program", lambda _: "browser")
    monkeypatch.setattr(page_renderer.PageRenderer, "_open_page", open_page)
    run = workspace.crawl().run
    assert (opened, run["remarks"], run["rejected_by"]) == (["/"], [], {})
