"""What the page of a URL knows beside the checks: who links to it, each visit, and why somebody does not see it."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from lxml.html import HtmlElement
from service.pages.admin.conftest import Administration, texts
from support.crawled import CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.pages.admin.sources import url_page

PASSWORD = "correct horse battery"


def page_of(url: str, **options: str) -> str:
    return f"/admin/sources/site/url?{urlencode({'url': url, **options})}"


def test_linking_pages_and_visits_are_shown_when_they_are_asked_for(
    workspace: InProcessWorkspace, site: NetworkSite, url: str
) -> None:
    site.page("/heron", title="Heron", text="the heron", links=["/egret"])
    workspace.define(f"{url}/", log={"fetch": True})
    workspace.crawl()
    workspace.crawl("--force")
    administration = Administration(workspace)
    short = administration.get(page_of(f"{url}/egret"), Role.EDITOR)
    assert not short.cssselect('[aria-labelledby="visits"]')
    (link,) = (one.get("href") for one in short.cssselect(".as a") if "more" in one.get("href"))
    page = administration.get(link, Role.EDITOR)
    linking = [
        row.cssselect("a")[0].text_content() for row in page.cssselect(".facts div") if row.cssselect("a")
    ]
    assert {f"{url}/", f"{url}/heron"} <= set(linking)
    visits = [texts(row, "td") for row in page.cssselect('[aria-labelledby="visits"] tbody tr')]
    assert [row[1] for row in visits] == ["200", "200"]
    assert [row[4] == "new" for row in visits] == [False, True], "the newest first"
    other = administration.get(page_of(f"{url}/", more="1"))
    assert len(other.cssselect('[aria-labelledby="visits"] tbody tr')) == 2, "a URL that others begin with"


def test_without_a_log_there_are_no_visits(administration: Administration, url: str) -> None:
    page = administration.get(page_of(f"{url}/heron", more="1"))
    assert page.cssselect("#visits")
    assert not page.cssselect('[aria-labelledby="visits"]')


@pytest.fixture
def divided(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Administration:
    """Pages for everybody, for a group, and for nobody."""
    site.page("/hr/pay", title="Pay", text="pay")
    site.page("/", title="Home", text="home", links=["/hr/pay", "/open/news", "/rest"])
    site.page("/open/news", title="News", text="news")
    site.page("/rest", title="Rest", text="rest")
    workspace.define(f"{url}/", acl="required", acl_paths={"/hr/": ["hr"], "/open/": []})
    with (workspace.directory / "ultracrawl.yaml").open("a") as file:
        file.write("sign_in: {groups: {payroll: [hr]}}\n")
    crawled_projects.crawl(workspace, site)
    administration = Administration(workspace)
    administration.users.add_user("ben", Role.READER, PASSWORD, ("staff",))
    administration.users.add_user("eva", Role.READER, PASSWORD, ("hr",))
    TokenStore.of_project(administration.project).create_token("all", Role.READER, None)
    return administration


def sight(administration: Administration, url: str, who: str) -> str:
    (line,) = texts(administration.get(page_of(url, who=who)), ".sight")
    return line


@pytest.mark.parametrize(
    ("path", "who", "sees"),
    [
        ("/hr/pay", "user:ben", False), ("/hr/pay", "user:eva", True), ("/hr/pay", "token:all", True),
        ("/hr/pay", "payroll", True), ("/hr/pay", "x; hr", True), ("/hr/pay", "x", False), ("/hr/pay", "public", False),
        ("/open/news", "x", True), ("/open/news", "public", False), ("/rest", "user:eva", False),
        ("/rest", "token:all", True), ("/nothing", "token:all", False),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_a_search(
    divided: Administration, url: str, path: str, who: str, sees: bool
) -> None:
    if path == "/nothing":
        assert not texts(divided.get(page_of(f"{url}{path}", who=who)), ".sight"), (
            "the source does not know it"
        )
        return
    assert ("does not" not in sight(divided, f"{url}{path}", who)) is sees


def test_each_reason_has_its_own_line(divided: Administration, url: str) -> None:
    lines = {
        sight(divided, f"{url}/hr/pay", "user:ben"),
        sight(divided, f"{url}/rest", "user:ben"),
        sight(divided, f"{url}/hr/pay", "user:eva"),
    }
    lines.add(sight(divided, f"{url}/open/news", "public"))
    divided.users.add_user("kim", Role.READER, PASSWORD, ("group:hr",))
    divided.users.add_user("lee", Role.READER, PASSWORD, ("hr",), ("other",))
    lines |= {sight(divided, f"{url}/hr/pay", who) for who in ("user:kim", "user:lee", "user:nobody")}
    assert len({line.partition(" ")[2] for line in lines}) == 7


def test_a_name_without_its_kind_is_that_of_the_user(divided: Administration, url: str) -> None:
    assert sight(divided, f"{url}/hr/pay", "Eva") == sight(divided, f"{url}/hr/pay", "user:eva")
    unknown = {
        sight(divided, f"{url}/hr/pay", who).partition(" ")[2] for who in ("nobody", "token:no", "user:no")
    }
    assert len(unknown) == 1
    assert sight(divided, f"{url}/hr/pay", "staff").partition(" ")[2] not in unknown, "ben has it"


def test_more_linking_pages_than_are_shown_are_said_and_one_link_away(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_page, "_MOST", 1)
    site.page("/heron", title="Heron", text="the heron", links=["/egret"])
    workspace.define(f"{url}/")
    workspace.crawl()
    administration = Administration(workspace)

    def linking(page: HtmlElement) -> list[str]:
        return [one.text_content() for one in page.cssselect(".facts dd a.address")]

    some = administration.get(page_of(f"{url}/egret", more="1"))
    assert len(linking(some)) == 1
    (link,) = (one.get("href") for one in some.cssselect(".facts a") if "all_linking" in one.get("href"))
    every = administration.get(link)
    assert linking(every) == [f"{url}/", f"{url}/heron"]
    assert not [one for one in every.cssselect(".facts a") if "all_linking" in one.get("href")]


@pytest.mark.parametrize(
    ("path", "named"), [("/hr/pay", {"hr"}), ("/open/news", set()), ("/rest", set())]
)  # fmt: skip
def test_who_may_see_a_document_stands_on_its_page(
    divided: Administration, url: str, path: str, named: set[str]
) -> None:
    page = divided.get(page_of(f"{url}{path}"))
    (line,) = texts(page, ".readers")
    assert {one for one in ("hr", "staff") if one in line.split(": ")[-1].split(", ")} == named
    lines = {
        texts(divided.get(page_of(f"{url}{one}")), ".readers")[0]
        for one in ("/hr/pay", "/open/news", "/rest")
    }
    assert len(lines) == 3, "some, everybody and nobody are told apart"


def test_readers_that_a_document_names_itself_are_shown_if_the_service_knows_them(
    workspace: InProcessWorkspace,
) -> None:
    urls = ["https://hr.example.com/a", "https://hr.example.com/b"]
    readers = "<acl>user:mary</acl><acl>elsewhere</acl>", "<acl>elsewhere</acl>"
    rows = [
        f'<document url="{one}"><text>a text</text>{acl}</document>'
        for one, acl in zip(urls, readers, strict=True)
    ]
    (workspace.directory / "pay.xml").write_text(f"<documents>{''.join(rows)}</documents>")
    agent = {"class": "ultracrawl.agents.DocumentFile", "parameters": {"file": "pay.xml"}}
    workspace.write({"sources": {"site": {"type": "agent", **agent, "acl": ["sales"]}}})
    workspace.crawl()
    administration = Administration(workspace)
    administration.users.add_user("mary", Role.READER, PASSWORD, ("user:mary",))
    told = [texts(administration.get(page_of(one)), ".readers, .readers .muted") for one in urls]
    assert "mary" in told[0][0]
    assert [len(one) for one in told] == [2, 2], "others may see it, too"
    assert not any("sales" in one[0] for one in told), "what the definition says does not count"


def test_readers_are_for_administrators(divided: Administration, url: str) -> None:
    page = divided.get(page_of(f"{url}/hr/pay", who="user:eva"), Role.EDITOR)
    assert not page.cssselect(".sight, #who, .readers")
    assert "<i>" not in divided.browser().get(page_of(f"{url}/hr/pay", who="<i>x")).text
