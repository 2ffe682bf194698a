"""The source's own rewriter in real crawls: every outcome of Ultra Search 10, and what display URLs follow from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "rewriter"
HEAD = """
from pathlib import Path
from ultracrawl.rules.boundary import UrlRewriteError, UrlRewriter

def note(word):
    with Path("calls.txt").open("a") as stream:
        stream.write(word + "\\n")

class Mine(UrlRewriter):
    def open(self, log):
        note("open")
        log.warning("the rewriter says hello")
    def close(self):
        note("close")
"""


@pytest.fixture
def three(site: Site) -> Site:
    """A start page with two links, /a and /x, and pages for everything that a rewriter could make of /x."""
    site.page("/", title="Home", links=["/a", "/x"], text="home")
    for path in ("/a", "/x", "/inner/x", "/other"):
        site.page(path, title=path, text="needle")
    return site


def use(workspace: Workspace, url: str, body: str, **options: Any) -> None:
    """Write a rewriter with this body of `rewrite`, for links that end in /x, and a definition that names it."""
    lines = "".join(f"            {line}\n" for line in body.splitlines())
    code = (
        f"{HEAD}    def rewrite(self, candidate):\n        note(candidate.candidate_url.split('/', 3)[3])\n"
        f"        if candidate.candidate_url.endswith('/x'):\n{lines}        return False\n"
    )
    (workspace.directory / "rewriters.py").write_text(code)
    workspace.define(f"{url}/", urls={"rewriter": "rewriters.Mine"}, **options)


def fetched(site: Site) -> set[str]:
    return site.page_paths()


ACCESS = "candidate.access_url = candidate.candidate_url.replace('/x', '/inner/x')\nreturn True"
OUTCOMES: dict[str, tuple[str, set[str], set[str], dict[str, int]]] = {
    "ultra_search_89-returns false": ("return False", {"/a", "/x"}, {"/a", "/x"}, {}),
    "ultra_search_89-changes count only with true": (
        "candidate.display_url = candidate.candidate_url.replace('/x', '/other')",
        {"/a", "/x"},
        {"/a", "/x"},
        {},
    ),
    "ultra_search_90-discard": (
        "candidate.discard = True\nreturn True",
        {"/a"},
        {"/a"},
        {"url rewriter dropped": 1},
    ),
    "ultra_search_91-display URL": (
        "candidate.display_url = candidate.candidate_url.replace('/x', '/other')\nreturn True",
        {"/a", "/other"},
        {"/a", "/other"},
        {},
    ),
    "ultra_search_44_92-access URL": (ACCESS, {"/a", "/inner/x"}, {"/a", "/x"}, {}),
    "ultra_search_44_135-both": (
        f"candidate.display_url = 'https://outside.example/shown'\n{ACCESS}",
        {"/a", "/inner/x"},
        {"/a", "/shown"},
        {},
    ),
    "ultra_search_93-display URL none": (
        "candidate.display_url = None\nreturn True",
        {"/a"},
        {"/a"},
        {"url rewriter error": 1},
    ),
    "relative access URL": (
        "candidate.access_url = 'inner/x'\nreturn True",
        {"/a"},
        {"/a"},
        {"url rewriter error": 1},
    ),
    "ultra_search_94-outside the boundary": (
        "candidate.access_url = 'https://outside.example/x'\nreturn True",
        {"/a"},
        {"/a"},
        {"no include domain matches": 1},
    ),
    "ultra_search_95-raises": (
        "raise UrlRewriteError('cannot say')",
        {"/a"},
        {"/a"},
        {"url rewriter error": 1},
    ),
    "ultra_search_95-raises anything": ("1 / 0", {"/a"}, {"/a"}, {"url rewriter error": 1}),
}


@pytest.mark.parametrize(("body", "asked", "found", "rejected"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(
    three: Site,
    url: str,
    workspace: Workspace,
    body: str,
    asked: set[str],
    found: set[str],
    rejected: dict[str, int],
) -> None:
    use(workspace, url, body)
    run = workspace.crawl().run
    assert fetched(three) == asked | {"/"}
    assert set(workspace.search("needle")) == found
    assert run["rejected_by"] == rejected
    assert run["problems"] == []
    calls = (workspace.directory / "calls.txt").read_text().split()
    assert calls[0] == "open"
    assert calls[-1] == "close"
    assert {"a", "x"} <= set(calls), "ultra_search_88: it sees every link"


def test_ultra_search_43_without_an_access_url_the_display_url_is_fetched(
    three: Site, url: str, workspace: Workspace
) -> None:
    use(workspace, url, "return False")
    workspace.crawl()
    rows = workspace.urls()
    assert {row["access_url"] == row["display_url"] for row in rows.values()} == {True}


def test_ultra_search_135_the_access_url_is_in_no_search_result(
    three: Site, url: str, workspace: Workspace
) -> None:
    three.page("/inner/x", title="X", text="needle")
    use(workspace, url, f"candidate.display_url = 'https://outside.example/shown'\n{ACCESS}")
    workspace.crawl()
    hit = next(
        hit for hit in workspace.command("search", "needle", "--json").json["hits"] if "shown" in hit["url"]
    )
    assert hit["url"] == "https://outside.example/shown"
    assert hit["attributes"]["Host"] == ["outside.example"]
    assert "inner" not in str(hit)


def test_a_second_crawl_keeps_urls_and_asks_for_nothing_twice(
    three: Site, url: str, workspace: Workspace
) -> None:
    use(workspace, url, ACCESS)
    workspace.crawl()
    three.change("/inner/x", text="needle changed")
    run = workspace.crawl().run
    assert run["outcomes"] == {"MODIFIED": 1, "NOT_MODIFIED": 2}
    assert workspace.search("changed") == ["/x"]
    three.remove("/inner/x")
    workspace.crawl()
    assert workspace.search("changed") == []
    assert workspace.search("needle") == ["/a"]


def test_start_urls_and_redirect_targets_are_not_shown_to_it(
    three: Site, url: str, workspace: Workspace
) -> None:
    three.page("/", title="Home", links=["/moved"])
    three.redirect("/moved", "/x")
    use(workspace, url, "candidate.discard = True")
    workspace.define(f"{url}/", start_urls=[f"{url}/", f"{url}/other/x"], urls={"rewriter": "rewriters.Mine"})
    workspace.crawl(code=None)
    assert fetched(three) == {"/", "/other/x", "/moved", "/x"}


def test_an_error_in_open_ends_the_crawl_of_this_source_only(
    three: Site, url: str, workspace: Workspace
) -> None:
    use(workspace, url, "return False")
    (workspace.directory / "broken.py").write_text(
        "from ultracrawl.rules.boundary import UrlRewriter\nclass Broken(UrlRewriter):\n"
        "    def open(self, log):\n        raise OSError('no licence')\n"
    )
    common = {
        "start_urls": [f"{url}/"],
        "politeness": {"delay": 0},
        "boundary": {"networks": ["127.0.0.0/8"]},
    }
    workspace.write(
        {"sources": {"first": {**common, "urls": {"rewriter": "broken.Broken"}}, "second": dict(common)}}
    )
    ended = workspace.crawl(code=1)
    first, second = ended.json["runs"]
    (problem,) = first["problems"]
    assert all(part in problem for part in ("Broken", "open", "OSError: no licence"))
    assert (first["fetched"], first["outcomes"]) == (0, {})
    assert second["outcomes"] == {"NEW": 3}
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.Mine", "cannot be loaded"),
        ("rewriters.Nothing", "cannot be loaded"),
        ("rewriters.Path", "is no subclass"),
        ("rewriters.note", "is no subclass"),
    ],
)
def test_a_rewriter_that_cannot_be_used_is_one_line(
    three: Site, url: str, workspace: Workspace, path: str, words: str
) -> None:
    use(workspace, url, "return False")
    workspace.define(f"{url}/", urls={"rewriter": path})
    ended = workspace.crawl(code=2)
    assert words in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert three.requests == []


def test_an_error_in_close_is_a_problem_of_the_run(three: Site, url: str, workspace: Workspace) -> None:
    use(workspace, url, "return False")
    with (workspace.directory / "rewriters.py").open("a") as stream:
        stream.write("\nclass Late(Mine):\n    def close(self):\n        raise ValueError('late')\n")
    workspace.define(f"{url}/", urls={"rewriter": "rewriters.Late"})
    run = workspace.crawl(code=1).run
    (problem,) = run["problems"]
    assert all(part in problem for part in ("Late", "close", "ValueError: late"))
    assert run["indexed"] == 3


def test_a_rewriter_named_later_gives_known_pages_their_new_urls(
    three: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    assert set(workspace.search("needle")) == {"/a", "/x"}
    use(workspace, url, f"candidate.display_url = '{url}/shown'\n{ACCESS}")
    (planned,) = workspace.command("plan", "--json").json["sources"]
    assert planned["dropped_by"] == {sentence("rewriting.other_urls_now"): 1}
    run = workspace.crawl().run
    assert run["deleted"] == planned["deleted"] == 1
    assert set(workspace.search("needle")) == {"/a", "/shown"}
    workspace.define(f"{url}/")
    workspace.crawl()
    assert set(workspace.search("needle")) == {"/a", "/x"}


def test_explain_asks_the_rewriter(three: Site, url: str, workspace: Workspace) -> None:
    use(workspace, url, ACCESS)
    explained = workspace.command("explain", f"{url}/x", "--json").json
    assert (explained["canonical_url"], explained["display_url"]) == (f"{url}/inner/x", f"{url}/x")
    assert ["rewrite", "url rewriter rewritten"] in [
        [one["stage"], one["rule"]] for one in explained["decisions"]
    ]
    assert f"shown as {url}/x" in workspace.command("explain", f"{url}/x").out
    use(workspace, url, "candidate.discard = True")
    assert workspace.command("explain", f"{url}/x", "--json").json["accept"] is False
    seed = workspace.command("explain", f"{url}/", "--json").json
    assert sentence("rewriting.start_urls_are_not") in [one["reason"] for one in seed["decisions"]]


# ---- one display URL, one document


def test_ultra_search_45_the_second_access_url_of_a_display_url_is_956(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/1/x", "/2/x"])
    site.page("/1/x", title="One", text="first needle")
    site.page("/2/x", title="Two", text="second needle")
    use(
        workspace,
        url,
        f"candidate.access_url = candidate.candidate_url\ncandidate.display_url = '{url}/shown'\nreturn True",
    )
    run = workspace.crawl().run
    assert run["outcomes"] == {"DUPLICATE": 1, "NEW": 2}
    rows = workspace.urls()
    (refused,) = [row for row in rows.values() if row["outcome"] == "DUPLICATE"]
    (kept,) = [row for row in rows.values() if row["access_url"].endswith("/x") and row["indexed"]]
    assert (refused["status_code"], refused["indexed"]) == (956, False)
    assert kept["access_url"] in refused["reason"]
    assert workspace.search("needle") == ["/shown"]
    site.change(f"/{kept['access_url'].split('/', 3)[3]}", text="needle again")
    run = workspace.crawl().run
    assert run["outcomes"] == {"DUPLICATE": 1, "MODIFIED": 1, "NOT_MODIFIED": 1}, (
        "the first stays the first, also when both are fetched"
    )
    site.remove(f"/{kept['access_url'].split('/', 3)[3]}")
    workspace.crawl()
    workspace.crawl()
    assert workspace.urls()[f"/{refused['access_url'].split('/', 3)[3]}"]["indexed"], (
        "the second takes the place of one that is gone"
    )
    assert workspace.search("needle") == ["/shown"]


def test_ultra_search_45_a_page_under_its_own_url_counts_too(
    three: Site, url: str, workspace: Workspace
) -> None:
    use(
        workspace,
        url,
        f"candidate.access_url = '{url}/inner/x'\ncandidate.display_url = '{url}/a'\nreturn True",
    )
    run = workspace.crawl().run
    assert run["outcomes"] == {"DUPLICATE": 1, "NEW": 2}
    assert workspace.search("needle") == ["/a"]


def test_ultra_search_46_two_sources_may_show_the_same_url(
    three: Site, url: str, workspace: Workspace
) -> None:
    source = {
        "start_urls": [f"{url}/"],
        "politeness": {"delay": 0},
        "boundary": {"networks": ["127.0.0.0/8"]},
    }
    workspace.write({"sources": {"one": source, "two": source}})
    runs = workspace.crawl().json["runs"]
    assert [run["outcomes"] for run in runs] == [{"NEW": 3}, {"NEW": 3}]
    for name in ("one", "two"):
        assert sorted(workspace.search("needle", "--source", name)) == ["/a", "/x"]
    assert sorted(workspace.search("needle")) == ["/a", "/x"], "who asks both wants each page once"


# ---- display URLs borrowed from temporary redirects


@pytest.fixture
def redirected(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """/old leads to /new for a while, whose document is shown as /old."""
    site.page("/", title="Home", links=["/old"])
    site.redirect("/old", "/new", status=302)
    site.page("/new", title="New", text="needle of new")
    workspace.define(f"{url}/")
    assert crawled_projects.crawl(workspace, site).run["outcomes"] == {"NEW": 2, "REDIRECTED": 1}
    assert workspace.search("needle") == ["/old"]
    return site


def test_a_redirect_that_stays_changes_nothing(redirected: Site, workspace: Workspace) -> None:
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 2, "REDIRECTED": 1}
    redirected.change("/new", text="needle of newer")
    assert workspace.crawl().run["outcomes"] == {"MODIFIED": 1, "NOT_MODIFIED": 1, "REDIRECTED": 1}
    assert workspace.search("newer") == ["/old"]


def test_a_page_that_redirects_now_leaves_its_name_to_the_target(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/old"])
    site.page("/old", title="Old", text="needle of old")
    site.page("/new", title="New", text="needle of new")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.redirect("/old", "/new", status=302)
    assert workspace.crawl().run["outcomes"] == {"NEW": 1, "NOT_MODIFIED": 1, "REDIRECTED": 1}
    assert workspace.search("needle") == ["/old"]
    assert workspace.search("new") == ["/old"]


@pytest.mark.parametrize("broken_between", [False, True])
def test_a_redirect_that_became_a_page_takes_its_name_back(
    redirected: Site, workspace: Workspace, broken_between: bool
) -> None:
    if broken_between:
        redirected.respond("/old", status=500)
        workspace.crawl()
        assert workspace.search("needle") == ["/old"]
    redirected.page("/old", title="Old", text="needle of old")
    run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert workspace.search('"needle of old"') == ["/old"]
    assert workspace.search('"needle of new"') == ["/new"]
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 3}


def test_a_redirect_that_vanished_leaves_the_target_under_its_own_name(
    redirected: Site, workspace: Workspace
) -> None:
    redirected.remove("/old")
    workspace.crawl()
    assert workspace.search("needle") == ["/new"]


def test_a_redirect_that_leads_elsewhere_gives_its_name_to_the_other(
    redirected: Site, workspace: Workspace
) -> None:
    redirected.page("/newest", title="Newest", text="needle of newest")
    redirected.redirect("/old", "/newest", status=302)
    workspace.crawl()
    assert workspace.search('"needle of newest"') == ["/old"]
    assert workspace.search('"needle of new"') == ["/new"]


def test_a_redirect_that_became_permanent_shows_the_target(redirected: Site, workspace: Workspace) -> None:
    redirected.redirect("/old", "/new", status=301)
    workspace.crawl()
    assert workspace.search("needle") == ["/new"]


def test_a_chain_of_redirects_is_stable(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/one"])
    site.redirect("/one", "/two", status=302)
    site.redirect("/two", "/three", status=302)
    site.page("/three", title="Three", text="needle")
    workspace.define(f"{url}/")
    for outcomes in ({"NEW": 2, "REDIRECTED": 2}, {"NOT_MODIFIED": 2, "REDIRECTED": 2}):
        run = workspace.crawl().run
        assert run["outcomes"] == outcomes
        assert workspace.search("needle") == ["/one"]


def test_the_example_does_what_its_readme_says(site: Site, url: str, workspace: Workspace) -> None:
    for name in ("mirror.py", "ultracrawl.yaml", "scrapy.cfg"):
        text = (EXAMPLE / name).read_text()
        (workspace.directory / name).write_text(text.replace("http://127.0.0.1:8000", url))
    outside = "https://intranet.example.com"
    site.page("/", title="Home", links=["news/index.html?sid=1", f"{outside}/people/", "/calendar/1"])
    site.page("/news/", title="News", text="solar roof")
    site.page("/people/", title="People", text="solar roof")
    workspace.crawl()
    assert fetched(site) == {"/", "/news/", "/people/"}
    hits = workspace.command("search", "--json", "--as-typed", "solar roof").json["hits"]
    assert sorted(hit["url"] for hit in hits) == [f"{outside}/news/", f"{outside}/people/"]
