"""The logs of single events: what each has, off without being asked for, bounded, without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.fast import fast_xml
from support.project import Workspace
from support.resource import Reply
from support.site import Site

from ultracrawl.index import Deletion
from ultracrawl.run.logs.event_logs import FeedLog
from ultracrawl.run.logs.log_files import ColumnLog, ElementLog

ALL = {
    "fetch": True,
    "postprocess": "text",
    "header": True,
    "scheduler": True,
    "dsfeed": True,
    "site": True,
}
NAMES = ("fetch", "postprocess", "header", "scheduler", "dsfeed", "site")


def lines(workspace: Workspace, name: str, source: str = "site") -> list[list[str]]:
    """Return the fields of each line behind its time."""
    file = workspace.directory / "var/log" / f"{source}.{name}.log"
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert all(len(row[0]) == 20 and row[0].endswith("Z") for row in rows), "the time comes first"
    return [row[1:] for row in rows]


def written(workspace: Workspace) -> set[str]:
    folder = workspace.directory / "var/log"
    return {name for name in NAMES for _ in folder.glob(f"*.{name}.log")}


@pytest.fixture
def pages(site: Site) -> Site:
    links = ["/a", "/copy", "/gone", "/broken", "/pic", "/old", "/quiet"]
    site.page("/", title="Home", text="home words", links=links)
    site.page("/a", title="Same", text="the very same words")
    site.page("/copy", title="Same", text="the very same words")
    site.page("/quiet", title="Quiet", text="quiet words", robots="noindex")
    site.respond("/broken", status=503)
    site.file("/pic", b"\x89PNG\r\n\x1a\n", "image/png")
    site.redirect("/old", "/a")
    return site


def test_no_log_of_events_unless_one_is_asked_for(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    assert written(workspace) == set()


def test_fast_93_a_line_for_each_download(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", log={"fetch": True}, duplicates={"detect": True})
    workspace.crawl()
    rows = [(status, kind, hops, path.removeprefix(url), became) for status, kind, _, _, hops, path, became in
            lines(workspace, "fetch") if became != "sitemap"]  # fmt: skip
    assert len(rows) == 9
    assert set(rows) == {
        ("200", "text/html", "0", "/", "new"),
        ("200", "text/html", "1", "/a", "new"),
        ("200", "text/html", "1", "/copy", "duplicate"),
        ("404", "-", "1", "/gone", "error"),
        ("503", "-", "1", "/broken", "retry"),
        ("503", "-", "1", "/broken", "error"),
        ("200", "-", "1", "/pic", "discarded"),
        ("301", "-", "1", "/old", "redirect"),
        ("200", "text/html", "1", "/quiet", "discarded"),
    }
    home = next(row for row in lines(workspace, "fetch") if row[5] == f"{url}/")
    assert int(home[2]) > 100, "bytes of the body"
    assert 0 < max(float(row[3]) for row in lines(workspace, "fetch")) < 30
    workspace.crawl()
    assert [row[6] for row in lines(workspace, "fetch") if row[5] == f"{url}/a"] == ["new", "unchanged"]


def test_fast_93_what_has_no_answer_has_the_class_of_its_error(site: Site, workspace: Workspace) -> None:
    site.page("/", title="Home")
    with site.serve() as url:
        workspace.define(f"{url}/", log={"fetch": True}, robots={"obey": False}, sitemaps={"use": False})
    workspace.crawl(code=1)
    assert [(row[0], row[6]) for row in lines(workspace, "fetch")] == [("net", "retry"), ("net", "error")]


@pytest.mark.parametrize("form", ["text", "xml"])
def test_fast_94_what_was_decided_about_items(pages: Site, url: str, workspace: Workspace, form: str) -> None:
    workspace.define(f"{url}/", log={"postprocess": form}, duplicates={"detect": True})
    workspace.crawl()
    if form == "text":
        rows = {row[3].removeprefix(url): row[0] for row in lines(workspace, "postprocess")}
    else:
        text = (workspace.directory / "var/log/site.postprocess.log").read_text()
        items = list(ElementTree.fromstring(text))
        assert {item.tag for item in items} == {"item"}
        rows = {item.attrib["uri"].removeprefix(url): item.attrib["outcome"] for item in items}
    assert rows == {"/": "new", "/a": "new", "/copy": "duplicate", "/pic": "discarded", "/quiet": "discarded"}


def test_what_is_indexed_again_was_not_changed_on_the_server_and_changes_the_index(
    pages: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", log={"fetch": True, "postprocess": "text"})
    workspace.crawl()
    workspace.crawl("--force")
    assert [row[6] for row in lines(workspace, "fetch") if row[5] == f"{url}/a"] == ["new", "unchanged"]
    assert [row[0] for row in lines(workspace, "postprocess") if row[3] == f"{url}/a"] == ["new", "changed"]


def secret_site(site: Site) -> None:
    site.page("/", title="Home", links=["/a"], headers={"Set-Cookie": "id=COOKIE; Path=/"})
    site.page("/a", title="A")
    site.respond(
        "/login",
        headers={"Content-Type": "text/html"},
        body="<form action=/in><input type=password name=pw></form>",
    )
    site.dynamic(
        "/in*",
        lambda request: Reply(
            302, (("Location", "/welcome?ticket=TICKET"), ("Set-Cookie", "s=SESSION; Path=/")), b""
        ),
    )
    site.page("/welcome?ticket=TICKET", title="Hello")


def test_fast_95_headers_without_what_is_secret(site: Site, url: str, workspace: Workspace) -> None:
    secret_site(site)
    host = url.split("/")[2].partition(":")[0]
    workspace.define(
        f"{url}/",
        log={"header": True, "fetch": True, "postprocess": "text", "dsfeed": True, "site": True},
        cookies={"enabled": True},
        user_agent="Example/1.0",
        authentication={"all": {"url": f"{url}/", "user": "robot", "password": "PASSWORD", "scheme": "basic"}},
        site_headers={"key": {"url": f"{url}/", "headers": {"X-Door": "DOORKEY", "X-Api-Token": "TOKEN"}}},
        logins={"main": {"action": f"{url}/in", "method": "GET", "fields": {"pw": "FORMPASSWORD"}, "sites": [host]}},
    )  # fmt: skip
    workspace.crawl()
    rows = lines(workspace, "header")
    text = "\n".join("\t".join(row) for row in rows)
    for secret in ("COOKIE", "SESSION", "PASSWORD", "DOORKEY", "TOKEN", "FORMPASSWORD", "TICKET", "cm9ib3Q6"):
        assert secret not in text, secret
    for log in (workspace.directory / "var/log").iterdir():
        assert "FORMPASSWORD" not in log.read_text()
    request = next(row for row in rows if row[:3] == ["request", "GET", f"{url}/a"])
    assert {"User-Agent: Example/1.0", "Authorization: ****", "Cookie: ****", "X-Door: ****"} <= set(request)
    answer = next(row for row in rows if row[:3] == ["answer", "200", f"{url}/"])
    assert {"Set-Cookie: ****", "Content-Type: text/html; charset=utf-8"} <= set(answer)
    assert [row[2] for row in rows if row[:2] == ["request", "GET"]].count(f"{url}/robots.txt") == 1
    sent = [row[2] for row in rows if row[0] == "request"]
    assert f"{url}/in" in sent, "a login is in it, without its query"
    assert any(request.header("X-Door") == "DOORKEY" for request in site.requests), "they were sent"


def test_fast_97_what_adaptive_refreshing_chose(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(8)])
    for number in range(8):
        site.page(f"/{number}", title="P", text=str(number))
    weights = {"change_history": 0, "inverse_length": 2, "inverse_depth": 3}
    adaptive = {"coverage_min": 3, "coverage_max_pct": 0, "aim": "score", "weights": weights}
    refresh = {"mode": "adaptive", "interval": "24 h", "adaptive": adaptive}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False}, log={"scheduler": True})
    workspace.crawl()
    assert written(workspace) == set(), "the first cycle chooses nothing"
    workspace.crawl()
    rows = lines(workspace, "scheduler")
    assert len(rows) == 3
    kind, score, chosen, *parts = rows[0]
    assert (kind, chosen) == ("known", f"{url}/"), "the best first"
    assert "inverse_depth=3.000" in parts
    assert "inverse_length=2.000" in parts
    assert float(score) == pytest.approx(sum(float(part.partition("=")[2]) for part in parts), abs=0.01)


def test_fast_98_what_went_to_the_index(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", log={"dsfeed": True}, duplicates={"detect": True})
    workspace.crawl()
    first = lines(workspace, "dsfeed")
    assert sorted(row for row in first if row[1] != "anchors") == [
        ["site", "add", f"{url}/", "indexed"],
        ["site", "add", f"{url}/a", "indexed"],
    ]
    pages.change("/", links=["/a"], text="other words")
    pages.gone("/a")
    pages.remove("/copy")
    workspace.crawl()
    rows = lines(workspace, "dsfeed")[len(first) :]
    assert sorted(row[1:] for row in rows if row[1] != "anchors") == [
        ["add", f"{url}/", "indexed"],
        ["delete", f"{url}/a", "indexed"],
    ]


def test_fast_99_the_life_of_a_site(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a", "/broken"])
    site.page("/a", title="A", text="words")
    site.respond("/broken", status=404)
    name = url.split("//")[1]
    workspace.define(f"{url}/", log={"site": True}, sitemaps={"use": False})
    workspace.crawl()
    rows = lines(workspace, "site")
    assert rows[0][:2] == ["start", name]
    assert [row[0] for row in rows[-2:]] == ["idle", "done"]
    assert {row[0] for row in rows} <= {"start", "idle", "resume", "done"}
    fetched, size, items, errors = map(int, rows[-1][2:])
    assert (fetched, items, errors) == (3, 2, 1)
    assert size > 100
    workspace.crawl()
    assert lines(workspace, "site")[len(rows)][0] == "refresh", "a site that was crawled before"


def test_fast_99_a_site_that_is_given_up(site: Site, workspace: Workspace) -> None:
    with site.serve() as url:
        links = [f"{url}/{number}" for number in range(3)]
    workspace.define(start_urls=links, log={"site": True}, robots={"obey": False}, sitemaps={"use": False},
                     politeness={"delay": 0, "backoff": {"limit": 1, "longest": 0}})  # fmt: skip
    workspace.crawl(code=None)
    assert [row[0] for row in lines(workspace, "site")] == ["start", "suspend", "done"]


def test_fast_93_to_99_defaults_of_a_collection(pages: Site, url: str, workspace: Workspace) -> None:
    """Without a word, a collection keeps the four logs that are on by default; each can be switched."""

    def crawl(**options: Any) -> set[str]:
        given = {"delay": 0.0, "start_uris": (f"{url}/",), "refresh_mode": "adaptive"}
        given |= {"adaptive/coverage_min": 2, **{f"log/{name}": value for name, value in options.items()}}
        (workspace.directory / "c.xml").write_text(fast_xml(given))
        for _ in range(2):
            assert workspace.command("crawl", "-c", "c.xml").code == 0
        found = written(workspace)
        for file in (workspace.directory / "var/log").iterdir():
            file.unlink()
        return found

    assert crawl() == {"fetch", "postprocess", "dsfeed", "site"}
    switched = dict.fromkeys(("fetch", "postprocess", "dsfeed", "site"), "none")
    assert crawl(**switched, header="text", scheduler="text") == {"header", "scheduler"}


def test_a_log_without_room_is_given_up_and_the_crawl_goes_on(
    pages: Site, url: str, workspace: Workspace
) -> None:
    (workspace.directory / "var/log").mkdir(parents=True)
    for name in NAMES:
        (workspace.directory / f"var/log/site.{name}.log").mkdir()
    workspace.define(f"{url}/", log=ALL)
    run = workspace.crawl(code=1).run
    assert run["outcomes"]["NEW"] == 2
    problems = [one for one in run["problems"] if "cannot be written" in one]
    assert len(problems) == 5, "scores were not chosen; each of the others is told of once"


# ---- the log itself


def test_columns_are_bounded_and_hostile_fields_stay_inside(tmp_path: Path) -> None:
    log = ColumnLog(tmp_path / "l" / "s.fetch.log", 2000, lambda: 0.0)
    log.add("a\tb\nc\x1b", 7, "x" * 100_000)
    log.flush()
    (line,) = log.path.read_text().splitlines()
    assert line.split("\t")[:3] == ["1970-01-01T00:00:00Z", "a\\u0009b\\u000ac\\u001b", "7"]
    assert len(line) < 5000
    for number in range(500):
        log.add(number)
        log.flush()
    files = list(log.path.parent.iterdir())
    assert len(files) == 2
    assert sum(file.stat().st_size for file in files) <= 2000 + 5000
    log.given_up = True
    log.add("nothing")
    log.flush()
    assert "nothing" not in log.path.read_text()


DAY = 86_400.0


@pytest.mark.parametrize("kind", [ColumnLog, ElementLog])
def test_each_day_has_a_log_of_its_own(tmp_path: Path, kind: Any) -> None:
    now = [DAY - 1]
    log = kind(tmp_path / "s.fetch.log", 1 << 20, lambda: now[0], 2)

    def add(event: str) -> None:
        log.add_element("item", f'name="{event}"') if isinstance(log, ElementLog) else log.add(event)

    add("first")
    now[0] = DAY
    add("second")
    log.flush()
    for day in range(2, 5):
        now[0] = day * DAY
        add(f"of day {day}")
        log.flush()
        add(f"again {day}")
        log.flush()
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(texts) == ["s.fetch.1970-01-03.log", "s.fetch.1970-01-04.log", "s.fetch.log"]
    assert "of day 3" in texts["s.fetch.1970-01-04.log"]
    assert "again 3" in texts["s.fetch.1970-01-04.log"]
    assert "of day 4" in texts["s.fetch.log"]
    if kind is ElementLog:
        assert {len(ElementTree.fromstring(text)) for text in texts.values()} == {2}


def test_lines_of_two_days_in_one_flush_are_divided(tmp_path: Path) -> None:
    now = [DAY - 1]
    log = ColumnLog(tmp_path / "s.fetch.log", 1 << 20, lambda: now[0], 2)
    log.add("before")
    now[0] = DAY
    log.add("after")
    log.flush()
    assert "before" in (tmp_path / "s.fetch.1970-01-01.log").read_text()
    assert (tmp_path / "s.fetch.log").read_text() == "1970-01-02T00:00:00Z\tafter\n"


def test_lines_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[bytes]()
    monkeypatch.setattr(ColumnLog, "_write", lambda _, text: written.append(text))
    log = ColumnLog(tmp_path / "s.fetch.log", 1 << 30, lambda: 0.0)
    for number in range(2000):
        log.add("200", "text/html", number, "0.012", 3, "http://h.example/a/page.html", "new")
    assert written == []
    log.flush()
    assert [text.count(b"\n") for text in written] == [2000]


def test_fast_98_what_could_not_be_indexed_has_its_reason(tmp_path: Path) -> None:
    log = ColumnLog(tmp_path / "s.dsfeed.log", 1 << 20, lambda: 0.0)
    feed = FeedLog(log, "pages")
    one, two = (Deletion("s", f"http://h.example/{number}") for number in (1, 2))
    feed.refused("", [(1, one)], "no room")
    feed.indexed("mirror", [(2, two)])
    log.flush()
    assert [line.split("\t")[1:] for line in log.path.read_text().splitlines()] == [
        ["pages", "delete", "http://h.example/1", "not indexed: no room"],
        ["mirror", "delete", "http://h.example/2", "indexed"],
    ]
