"""`scrapy shell`, `fetch`, `view`, `parse` and `check` look at pages through a source, and crawl nothing."""

import pytest
from scrapy_ways.runs import Desk
from support.files import pdf
from support.project import Ended
from support.sentences import sentence
from support.site import Site

TOKEN = "Bearer not-for-everybody"
DOCUMENT = "print((response.status, response.css('title::text').get()))"


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a directory with a source that has headers of its own and a secret one."""
    desk.scrapy_cfg()
    desk.write("token", TOKEN).chmod(0o600)
    secret = {"url": f"{url}/", "headers": {"Authorization": "file:token"}}
    desk.define(
        site={
            "start_urls": [f"{url}/"],
            "user_agent": "tester/1",
            "headers": {"X-Team": "docs"},
            "site_headers": {"docs": secret},
        }
    )
    return desk


def looked(project: Desk, site: Site, *words: str, asked: set[str], **env: str) -> Ended:
    """Run a command, which asks for these paths and robots.txt alone, and leaves nothing behind."""
    before = sorted(project.directory.rglob("*"))
    ended = project.scrapy(*words, **env)
    assert "Traceback" not in ended.err, ended.err
    assert site.page_paths() == asked
    home = project.directory / ".home"
    assert [path for path in sorted(project.directory.rglob("*")) if home not in (path, *path.parents)] == [
        path for path in before if home not in (path, *path.parents)
    ]
    return ended


def test_fetch_prints_the_answer_with_all_that_the_source_shows(project: Desk, site: Site, url: str) -> None:
    ended = looked(project, site, "fetch", "--spider=site", f"{url}/a", asked={"/a"})
    assert (ended.code, "request a vacation" in ended.out) == (0, True)
    (request,) = (one for one in site.requests if one.path == "/a")
    shown = [request.header(name) for name in ("User-Agent", "X-Team", "Authorization")]
    assert shown == ["tester/1", "docs", TOKEN]
    assert TOKEN not in ended.err


def test_the_source_of_a_host_is_found_by_the_url(project: Desk, site: Site, url: str) -> None:
    looked(project, site, "fetch", f"{url}/a", asked={"/a"})
    assert {one.header("X-Team") for one in site.requests} == {"docs"}


def test_fetch_follows_redirects(project: Desk, site: Site, url: str) -> None:
    site.redirect("/old", "/a")
    ended = looked(project, site, "fetch", "--spider=site", f"{url}/old", asked={"/old", "/a"})
    assert "request a vacation" in ended.out


def test_fetch_gets_whole_files_that_no_crawl_would_read(project: Desk, site: Site, url: str) -> None:
    site.respond("/i.png", headers={"Content-Type": "image/png"}, body=b"x" * 100_000)
    ended = looked(project, site, "fetch", "--spider=site", f"{url}/i.png", asked={"/i.png"})
    assert len(ended.out) >= 100_000


def test_addresses_that_a_crawl_may_not_ask_are_not_asked(project: Desk, site: Site, url: str) -> None:
    own = project.directory / "ultracrawl.yaml"
    own.write_text(own.read_text().replace("127.0.0.0/8", "10.9.9.9/32").replace(url, "http://192.0.2.1"))
    ended = looked(project, site, "fetch", "--spider=site", f"{url}/a", asked=set())
    assert ended.out.strip() == ""
    assert f"No document from {url}/a: " in ended.err


def test_shell_has_the_answer(project: Desk, site: Site, url: str) -> None:
    told = looked(project, site, "shell", "--spider=site", f"{url}/a", "-c", DOCUMENT, asked={"/a"})
    assert "(200, 'Vacation')" in told.out


def test_shell_obeys_robots_txt_as_the_source_does(project: Desk, site: Site, url: str) -> None:
    words = ("shell", "--spider=site", f"{url}/private", "-c", "print(response)")
    assert looked(project, site, *words, asked=set()).out.startswith("None")


def test_view_opens_the_page(project: Desk, site: Site, url: str) -> None:
    ended = looked(project, site, "view", "--spider=site", f"{url}/a", asked={"/a"}, BROWSER="echo %s")
    assert "file:///" in ended.out


def test_parse_shows_links_and_document(project: Desk, site: Site, url: str) -> None:
    body = '<title>Home</title><h2>welcome</h2><a href="/a">a</a><a href="https://other.example/">b</a>'
    site.respond("/", headers={"Content-Type": "text/html"}, body=body)
    ended = looked(project, site, "parse", "--spider=site", "--nocolour", f"{url}/", asked={"/"})
    assert f"[<GET {url}/a>]" in ended.out
    assert "'Title': ['Home']" in ended.out
    assert "'text': 'welcome" in ended.out


def test_parse_reads_what_is_no_html(project: Desk, site: Site, url: str) -> None:
    site.respond(
        "/d.pdf", headers={"Content-Type": "application/pdf"}, body=pdf(link=f"{url}/a", title="Report")
    )
    ended = looked(project, site, "parse", "--spider=site", "--nocolour", f"{url}/d.pdf", asked={"/d.pdf"})
    assert "'Title': ['Report']" in ended.out
    assert f"[<GET {url}/a>]" in ended.out


def test_parse_reads_feeds(project: Desk, site: Site, url: str) -> None:
    definition = (project.directory / "ultracrawl.yaml").read_text()
    (project.directory / "ultracrawl.yaml").write_text(f"{definition}    feeds: {{urls: ['{url}/feed']}}\n")
    entries = "".join(f"<item><link>{one}</link></item>" for one in (f"{url}/a", "http://other.example/"))
    feed = f'<rss version="2.0"><channel><title>News</title>{entries}</channel></rss>'
    site.respond("/feed", headers={"Content-Type": "application/rss+xml"}, body=feed)
    ended = looked(project, site, "parse", "--spider=site", "--nocolour", f"{url}/feed", asked={"/feed"})
    assert f"[<GET {url}/a>]" in ended.out
    assert sentence("feeds.one_of_two_inside") in ended.err


def test_parse_says_why_there_is_no_document(project: Desk, site: Site, url: str) -> None:
    site.page("/", title="Home", robots="noindex", links=["/a"])
    ended = looked(project, site, "parse", "--spider=site", "--nocolour", f"{url}/", asked={"/"})
    assert f"[<GET {url}/a>]" in ended.out
    assert "# Scraped Items  ------------------------------------------------------------\n[]" in ended.out
    assert f"No document from {url}/: " in ended.err
    assert "noindex" in ended.err


def test_check_reads_the_start_page(project: Desk, site: Site) -> None:
    ended = looked(project, site, "check", "site", asked={"/"})
    assert (ended.code, ended.err.split()[-1]) == (0, "OK")
    assert "Ran 1 contract in" in ended.err


def test_check_fails_without_the_start_page(project: Desk, site: Site) -> None:
    site.gone("/")
    assert project.scrapy("check", "site").code == 1


def test_a_crawl_is_not_taken_for_a_look(project: Desk, site: Site) -> None:
    project.crawled("site")
    assert project.outcomes() == {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}
