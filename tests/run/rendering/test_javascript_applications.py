"""Sites of applications: what is found equals what was written down by hand for each of them."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support.applications import APPLICATIONS, MODULES, ApplicationSite
from support.project import Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]

OPTIONS = {"hash_routes": True, "post_data": True, "pages": 4, "max_wait": 20, "timeout": 90}
PARTS = 4
"""Sites that share the applications, so that none takes long."""


def site_of_part(site: Site, part: int) -> ApplicationSite:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    require((MODULES / "svelte/package.json").exists(), "the frameworks", get="make sites")
    require(shutil.which("node"), "Node", "nodejs")
    return ApplicationSite(site, list(APPLICATIONS)[part::PARTS])


@pytest.fixture(params=range(PARTS))
def applications(site: Site, request: pytest.FixtureRequest) -> ApplicationSite:
    return site_of_part(site, request.param)


FURTHER = [pytest.param(part, marks=[pytest.mark.night] * (part > 0), id=str(part)) for part in range(PARTS)]
"""One part each time, for what the frameworks hardly differ in; the others by night."""


def test_links_and_words_of_all_applications(
    applications: ApplicationSite, url: str, workspace: Workspace
) -> None:
    check_links_and_words(applications, url, workspace, keep=None)


@pytest.mark.parametrize("part", FURTHER)
@pytest.mark.parametrize("keep", [True, False], ids=["on", "off"])
def test_links_and_words_whether_html_is_kept_or_not(
    site: Site, url: str, workspace: Workspace, part: int, keep: bool
) -> None:
    check_links_and_words(site_of_part(site, part), url, workspace, keep=keep)


def check_links_and_words(
    applications: ApplicationSite, url: str, workspace: Workspace, *, keep: bool | None
) -> None:
    options: dict[str, Any] = {"use": True, **OPTIONS, **({} if keep is None else {"keep_html": keep})}
    workspace.define(f"{url}/", javascript=options)
    run = workspace.crawl(timeout=300).run
    assert run["problems"] == []
    assert "javascript failed" not in run["rejected_by"]
    words, links = applications.words(), set(applications.links())
    routes = set(words) - {f"/{name}" for name in APPLICATIONS}
    assert set(workspace.indexed()) ^ {"/", *words, *links} == (routes if keep is False else set())
    shells = {f"/{name}" for name, one in applications.applications.items() if one.shell} | routes
    expected = {True: set(words), False: words.keys() & {"/declarative"}, None: shells}[keep]
    assert set(workspace.search(" OR ".join(words.values()))) ^ expected == set()
    assert not any(path.startswith("/posted") for path in applications.site.page_paths())


@pytest.mark.parametrize("part", FURTHER)
def test_later_runs_keep_what_was_found_and_find_what_is_new(
    site: Site, url: str, workspace: Workspace, part: int
) -> None:
    applications = site_of_part(site, part)
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": True, **OPTIONS})
    workspace.crawl(timeout=300)
    expected = {"/", *applications.words(), *applications.links()}
    assert set(workspace.indexed()) ^ expected == set()
    workspace.crawl(timeout=300)
    assert set(workspace.indexed()) ^ expected == set(), "an unchanged run loses nothing"
    applications.state = 2
    workspace.crawl("--force", timeout=300)
    words = applications.words()
    assert set(workspace.indexed()) ^ {"/", *words, *applications.links()} == set()
    assert set(workspace.search(" OR ".join(words.values()))) ^ set(words) == set()
