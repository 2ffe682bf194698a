"""Of several copies the one near the start stands for all, whichever is met first."""

from __future__ import annotations

import pytest
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

pytestmark = pytest.mark.servers

LANGUAGES = ("da", "de", "en", "fr")
PAGES = ("", "mod/", "mod/core.html", "mod/mime.html", "glossary.html")
PARTS = {"": ("mod/", "glossary.html"), "mod/": ("mod/core.html", "mod/mime.html")}
TRANSLATED = {("de", "glossary.html")}


def put(site: Site, language: str, page: str, delay: float = 0) -> None:
    """Put a page that leads to its parts and its translations, and shows none of that."""
    links = [f"/manual/{language}/{part}" for part in PARTS.get(page, ())]
    links += [f"/manual/{other}/{page}" for other in LANGUAGES if other != language]
    head = "".join(f'<link rel="alternate" href="{link}">' for link in links)
    text = f"needle {language}" if (language, page) in TRANSLATED else "needle"
    site.slow(f"/manual/{language}/{page}", delay, title=f"Page {page}", text=text, head=head)


@pytest.fixture
def manual(site: Site) -> Site:
    """A manual in four languages, in which hardly a page is translated."""
    for language in LANGUAGES:
        for page in PAGES:
            put(site, language, page)
    return site


ENGLISH = sorted(f"/manual/en/{page}" for page in PAGES)
EXPECTED = sorted([*ENGLISH, "/manual/de/glossary.html"])


@pytest.mark.parametrize("slow", [None, "", "mod/", "mod/core.html"])
def test_copies_beside_the_start_url_stand_for_all(
    manual: Site, url: str, workspace: Workspace, slow: str | None
) -> None:
    if slow is not None:
        put(manual, "en", slow, delay=0.5)
    workspace.define(f"{url}/manual/en/")
    run = workspace.crawl().run
    assert workspace.indexed() == EXPECTED
    assert run["outcomes"] == {"NEW": len(EXPECTED), "DUPLICATE": len(LANGUAGES) * len(PAGES) - len(EXPECTED)}
    again = workspace.crawl().run
    assert again["outcomes"] == {"NOT_MODIFIED": len(EXPECTED), "DUPLICATE": run["outcomes"]["DUPLICATE"]}


def test_a_first_crawl_indexes_none_that_it_has_to_remove(
    manual: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/manual/en/", politeness={"delay": 0, "concurrency": 1})
    run = workspace.crawl().run
    assert (run["indexed"], run["deleted"]) == (len(EXPECTED), 0)


def test_a_killed_crawl_chooses_the_same(manual: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/manual/en/", politeness={"delay": 0.05, "concurrency": 1})
    for asked in (3, 8):
        crawling = workspace.start("crawl")
        until(lambda asked=asked: len(manual.requests) >= asked, crawling)
        kill_group(crawling)
    workspace.crawl()
    assert workspace.indexed() == EXPECTED


def test_what_the_start_url_redirects_to_is_the_start(manual: Site, url: str, workspace: Workspace) -> None:
    manual.redirect("/", "/manual/", status=302)
    manual.redirect("/manual/", "/manual/en/")
    workspace.define(f"{url}/")
    workspace.crawl()
    assert [path for path in workspace.indexed() if path != "/"] == [
        path for path in EXPECTED if path != "/manual/en/"
    ]


def test_copies_that_did_not_change_take_their_places_when_the_start_moves(
    manual: Site, url: str, workspace: Workspace
) -> None:
    manual.redirect("/", "/manual/fr/")
    workspace.define(f"{url}/")
    workspace.crawl()
    french = sorted(path.replace("/en/", "/fr/") for path in EXPECTED)
    assert workspace.indexed() == french
    manual.redirect("/", "/manual/en/")
    workspace.crawl()
    assert workspace.indexed() == EXPECTED
    workspace.crawl()
    assert workspace.indexed() == EXPECTED
