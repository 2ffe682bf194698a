"""One content under several URLs: indexed once, under the best URL, and kept when that URL goes."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

STORY = "a heron stands in the shallow water and waits for a fish that does not come "


def fill(site: Site, *paths: str, text: str = STORY, **page: Any) -> None:
    """Put the same page at each path, and links to all of them at the start page."""
    for path in paths:
        site.page(path, title="Heron", text=text, **page)
    site.page("/", title="Start", links=paths, text="where everything begins")


def test_ultra_search_123_a_second_url_is_not_indexed(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert run["outcomes"] == {"DUPLICATE": 1, "NEW": 2}
    assert run["status_codes"] == {"200": 2, "909": 1}
    assert workspace.search("shallow") == ["/heron"]
    row = workspace.urls()["/print/heron"]
    assert (row["outcome"], row["status_code"], row["indexed"]) == ("DUPLICATE", 909, False)
    assert row["duplicate_of"] == f"{url}/heron"
    assert row["reason"] == f"has the content of {url}/heron"
    explained = workspace.command("explain", f"{url}/heron", "--json").json
    assert explained["duplicates"] == [{"url": f"{url}/print/heron", "indexed": False}]


def test_ultra_search_123_message_30083_is_logged(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/", settings={"LOG_LEVEL": "INFO"})
    ended = workspace.crawl()
    log = ended.err + "".join(path.read_text() for path in workspace.directory.rglob("*.log"))
    assert "30083" in log


def test_a_known_duplicate_that_did_not_change_is_ignored(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.reset()
    run = workspace.crawl().run
    assert run["status_codes"] == {"304": 2, "910": 1}
    assert run["outcomes"] == {"DUPLICATE": 1, "NOT_MODIFIED": 2}
    assert site.statuses("/print/heron") == [304]
    assert workspace.urls()["/print/heron"]["duplicate_of"] == f"{url}/heron"
    run = workspace.crawl("--force").run
    assert run["status_codes"] == {"200": 2, "909": 1}
    assert workspace.indexed() == ["/", "/heron"]


@pytest.mark.parametrize("first", ["/x", "/longer/x", "/x?a=1"])
def test_the_survivor_does_not_depend_on_which_answer_came_first(
    site: Site, url: str, workspace: Workspace, first: str
) -> None:
    paths = ["/x", "/longer/x", "/x?a=1"]
    fill(site, *paths)
    for path in paths:
        if path != first:
            site.slow(path, 0.4, title="Heron", text=STORY)
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert workspace.indexed() == ["/", "/x"]
    assert run["outcomes"] == {"DUPLICATE": 2, "NEW": 2}
    assert (run["indexed"], run["deleted"], run["documents"]) == (2, 0, 2)
    assert run["status_codes"] == {"200": 2, "909": 2}
    assert workspace.outcomes() == {"/": "NEW", "/x": "NEW", "/longer/x": "DUPLICATE", "/x?a=1": "DUPLICATE"}
    reasons = {row["reason"] for row in workspace.urls().values() if row["outcome"] == "DUPLICATE"}
    assert reasons == {f"has the content of {url}/x"}, "not of one that lost its place"
    assert workspace.crawl().run["outcomes"] == {"DUPLICATE": 2, "NOT_MODIFIED": 2}


def vanish(site: Site, how: str) -> None:
    match how:
        case "gone":
            site.remove("/heron")
        case "noindex":
            site.change("/heron", robots="noindex")
        case "changed":
            site.change("/heron", text="an egret has taken the place")
        case "redirect":
            site.redirect("/heron", "/")


@pytest.mark.parametrize("how", ["gone", "noindex", "changed", "redirect"])
def test_another_takes_the_place_of_a_survivor_that_vanished_in_the_same_run(
    site: Site, url: str, workspace: Workspace, how: str
) -> None:
    fill(site, "/heron", "/print/heron", "/third/copy/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    vanish(site, how)
    run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert workspace.search("shallow") == ["/print/heron"]
    rows = workspace.urls()
    assert rows["/third/copy/heron"]["duplicate_of"] == f"{url}/print/heron"
    again = workspace.crawl().run["outcomes"]
    assert again["DUPLICATE"] == 1
    assert "NEW" not in again
    assert "MODIFIED" not in again
    assert workspace.search("shallow") == ["/print/heron"]


def test_a_survivor_outside_a_narrowed_boundary_is_replaced(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"exact": f"{url}/heron"}]}})
    workspace.crawl()
    assert workspace.search("shallow") == ["/print/heron"]


def test_if_the_successor_cannot_be_fetched_the_next_one_is(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron", "/third/copy/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.remove("/heron")
    site.respond("/print/heron", status=500)
    workspace.crawl()
    assert workspace.search("shallow") == ["/third/copy/heron"]
    site.page("/print/heron", title="Heron", text=STORY)
    workspace.crawl()
    assert workspace.search("shallow") == ["/print/heron"], "the better URL takes over when it answers again"


def test_an_error_changes_no_hands(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.respond("/heron", status=500)
    workspace.crawl()
    assert workspace.search("shallow") == ["/heron"]


@pytest.mark.parametrize(
    ("options", "head", "indexed"),
    [
        pytest.param({}, ("", ""), 1, id="fast_52-on"),
        pytest.param({"detect": False}, ("", ""), 2, id="fast_52-off"),
        pytest.param({}, ("<!--a-->", "<!--b-->"), 1, id="by-text"),
        pytest.param({"by": "body"}, ("<!--a-->", "<!--b-->"), 2, id="by-body"),
        pytest.param({}, ('<meta name="k" content="1">', ""), 1, id="fast_54-off"),
        pytest.param({"meta": True}, ('<meta name="k" content="1">', ""), 2, id="fast_54-on"),
        pytest.param({"by": "body", "cut_off": 84}, ("<!--a-->", "<!--b-->"), 1, id="fast_55-cut"),
    ],
)
def test_what_is_compared(
    site: Site, url: str, workspace: Workspace, options: Any, head: tuple[str, str], indexed: int
) -> None:
    fill(site, "/a", "/b")
    site.page("/a", title="Heron", text=STORY, head=head[0])
    site.page("/b", title="Heron", text=STORY, head=head[1])
    workspace.define(f"{url}/", duplicates=options)
    workspace.crawl()
    assert len(workspace.search("shallow")) == indexed


LONG = " ".join(f"word{number % 97} and thing{number}" for number in range(200))


@pytest.mark.parametrize(
    ("options", "indexed"),
    [
        pytest.param({}, 2, id="fast_53-off"),
        pytest.param({"near": True}, 1, id="fast_53-on"),
        pytest.param({"near": True, "near_words": 10_000}, 2, id="fast_53-too-short"),
        pytest.param({"near": True, "detect": False}, 2, id="fast_53-needs-detect"),
    ],
)
def test_nearly_equal_texts(site: Site, url: str, workspace: Workspace, options: Any, indexed: int) -> None:
    fill(site, "/a", "/b")
    site.page("/a", title="Heron", text=LONG)
    site.page("/b", title="Heron", text=LONG + " today")
    site.page("/other", title="Else", text=LONG[::-1])
    workspace.define(start_urls=[f"{url}/", f"{url}/other"], duplicates=options)
    workspace.crawl()
    found = set(workspace.indexed())
    assert {"/", "/other"} <= found
    assert len(found & {"/a", "/b"}) == indexed


def test_near_distance_0_wants_equal_hashes(site: Site, url: str, workspace: Workspace) -> None:
    from ultracrawl.rules.duplicates.fingerprint import distance, signature

    words = LONG.split()
    other = next(
        text
        for text in (" ".join([*words[:at], "egret", *words[at + 1 :]]) for at in range(100))
        if 0 < distance(signature(text) or 0, signature(LONG) or 0) <= 3
    )
    fill(site, "/a", "/b")
    site.page("/a", title="Heron", text=LONG)
    site.page("/b", title="Heron", text=other)
    workspace.define(f"{url}/", duplicates={"near": True, "near_distance": 0})
    workspace.crawl()
    assert len(workspace.indexed()) == 3


@pytest.mark.parametrize(("canonical", "survivor"), [(True, "/long/heron"), (False, "/heron")])
def test_the_canonical_link_helps_to_choose(
    site: Site, url: str, workspace: Workspace, canonical: bool, survivor: str
) -> None:
    fill(site, "/heron", "/long/heron", head=f'<link rel="canonical" href="{url}/long/heron">')
    workspace.define(f"{url}/", duplicates={"canonical": canonical})
    workspace.crawl()
    assert workspace.search("shallow") == [survivor]


@pytest.mark.parametrize(
    ("follow", "asked"), [pytest.param(False, 0, id="fast_47-no"), pytest.param(True, 1, id="fast_47-yes")]
)
def test_links_of_duplicates(site: Site, url: str, workspace: Workspace, follow: bool, asked: int) -> None:
    fill(site, "/heron", "/print/heron")
    site.page("/print/heron", title="Heron", text=STORY, head='<link rel="next" href="/only-here">')
    site.page("/only-here", title="Child", text="reached through a duplicate")
    one_by_one = {"delay": 0, "concurrency": 1}
    workspace.define(f"{url}/", duplicates={"follow_links": follow}, politeness=one_by_one)
    workspace.crawl()
    assert site.count("/only-here") == asked


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        pytest.param({}, 5, id="fast_110-default"),
        pytest.param({"listed": 2}, 2, id="fast_110-two"),
        pytest.param({"listed": 0}, 0, id="fast_110-none"),
        pytest.param({"listed": 1, "always_listed": ".*/e/.*"}, 2, id="fast_114"),
    ],
)
def test_how_many_duplicates_are_remembered(
    site: Site, url: str, workspace: Workspace, options: Any, listed: int
) -> None:
    fill(site, "/h", "/a/h", "/b/h", "/c/h", "/d/h", "/e/h")
    workspace.define(f"{url}/", duplicates=options, politeness={"delay": 0, "concurrency": 1})
    workspace.crawl()
    assert workspace.search("shallow") == ["/h"]
    for _ in range(2):  # what is remembered stays when nothing changes
        rows = workspace.urls()
        assert sum(row["duplicate_of"] is not None for row in rows.values()) == listed
        assert workspace.crawl("--force").run["outcomes"]["DUPLICATE"] == 5
    assert workspace.search("shallow") == ["/h"]


def test_pages_without_text_are_compared_by_their_bodies(site: Site, url: str, workspace: Workspace) -> None:
    for path, script in (("/a", "one()"), ("/b", "two()"), ("/c", "one()")):
        body = f"<title>App</title><script>{script}</script>".encode()
        site.file(path, body, "text/html")
    workspace.define(start_urls=[f"{url}/a", f"{url}/b", f"{url}/c"])
    workspace.crawl(code=1)
    assert workspace.indexed() == ["/a", "/b"]


def test_switching_detection_off_indexes_every_url_again(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    workspace.define(f"{url}/", duplicates={"detect": False})
    workspace.crawl()
    assert sorted(workspace.search("shallow")) == ["/heron", "/print/heron"]
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.search("shallow") == ["/heron"]


@pytest.mark.processes
def test_kills_leave_every_content_in_the_index_once(site: Site, url: str, workspace: Workspace) -> None:
    contents = range(60)
    for number in contents:
        for path in (f"/p{number}", f"/print/p{number}"):
            site.page(path, title=f"Page {number}", text=f"unique{number} " + STORY)
    links = [path for number in contents for path in (f"/print/p{number}", f"/p{number}")]
    site.page("/", title="Start", links=links, text="where everything begins")
    workspace.define(f"{url}/", politeness={"delay": 0.003, "concurrency": 4})
    for number in range(15, 121, 20):
        process = workspace.start("crawl", "--json")
        until(lambda number=number: len(site.requests) >= number, process)
        kill_group(process)
    once = sorted(["/", *(f"/p{number}" for number in contents)])
    for _ in range(2):
        workspace.crawl()
        assert workspace.indexed() == once
    rows = workspace.urls()
    assert sorted(path for path, row in rows.items() if row["indexed"]) == once, (
        "a copy would not be replaced"
    )
    assert {rows[f"/print/p{number}"]["outcome"] for number in contents} == {"DUPLICATE"}


def test_fast_110_a_url_that_lost_its_place_counts_among_those_remembered(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/h", "/a/h", "/b/h", "/c/h", "/d/h")
    site.slow("/h", 0.5, title="Heron", text=STORY)
    workspace.define(f"{url}/", duplicates={"listed": 2})
    workspace.crawl()
    assert workspace.search("shallow") == ["/h"]
    assert sum(row["duplicate_of"] is not None for row in workspace.urls().values()) == 2
    assert workspace.crawl().run["outcomes"]["DUPLICATE"] == 4
