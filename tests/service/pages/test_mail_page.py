"""The page of a mail that has no other: from the archive, for whoever may see the mail, and nothing in it acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.pages.test_in_browser import DESKTOP, PHONE
from service.pages.test_page_attacks import assert_harmless
from support.chromium import chromium
from support.imap import PASSWORD, ImapServer, imap_server, mail
from support.in_process import InProcessWorkspace
from support.pages import Pages, Watched, served

from ultracrawl.service.pages.stored_copies import shown_mail

SCRIPT = "<script>alert(1)</script>"
WITH_PARTS = f"""\
From: =?utf-8?q?J=C3=B6rg?= <joerg@example.com>
To: dev@example.com
Cc: ben@example.com
Date: Mon, 2 Mar 2026 10:00:00 +0000
Subject: words of {SCRIPT}
Message-ID: <parts@example.com>
Content-Type: multipart/mixed; boundary=a

--a
Content-Type: text/plain

The text & {SCRIPT}
--a
Content-Type: text/html

<p onclick=alert(1)>A page <img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>{SCRIPT}</p>
--a
Content-Type: application/pdf
Content-Disposition: attachment; filename="{SCRIPT}.pdf"

%PDF
--a--
"""


@pytest.fixture
def crawled(workspace: InProcessWorkspace) -> Iterator[Callable[..., Pages]]:
    """Crawl mails, and return the pages."""
    with imap_server() as server:

        def crawl(*mails: str, **options: Any) -> Pages:
            server.inbox.add(*mails)
            workspace.write({"sources": {"list": source_of(server, **options)}})
            workspace.crawl()
            return Pages(workspace)

        yield crawl


def source_of(server: ImapServer, **options: Any) -> dict[str, Any]:
    return {"type": "mail", "server": server.url, "user": "reader", "password": PASSWORD, **options}


def hit_link(pages: Pages, query: str) -> str:
    """Return where the title of the only hit leads; empty: nowhere."""
    page = document_fromstring(pages.ask("/", params={"q": query}).text)
    (title,) = page.cssselect(".hit h3")
    return next((str(link.get("href")) for link in title.cssselect("a")), "")


def mail_page(pages: Pages, link: str) -> HtmlElement:
    answer = pages.ask(link)
    assert answer.status_code == 200
    return document_fromstring(answer.text)


def test_a_hit_without_a_url_leads_to_its_mail(crawled: Callable[..., Pages]) -> None:
    pages = crawled(WITH_PARTS, mail(1))
    page = mail_page(pages, hit_link(pages, "words of"))
    terms = [one.text_content() for one in page.cssselect("dt")]
    values = [" ".join(one.text_content().split()) for one in page.cssselect("dd")]
    told = dict(zip(terms, values, strict=True))
    assert told["From"] == "Jörg <joerg@example.com>"
    assert (told["To"], told["Copy to"]) == ("dev@example.com", "ben@example.com")
    assert "2026" in told["Date"]
    assert told["Attachments"] == f"{SCRIPT}.pdf"
    assert page.cssselect("h1")[0].text_content() == f"words of {SCRIPT}"
    text = page.cssselect("article")[0].text_content()
    assert "The text &" in text
    assert "A page" in text


def test_nothing_in_a_mail_can_act(crawled: Callable[..., Pages]) -> None:
    pages = crawled(WITH_PARTS)
    answer = pages.ask(hit_link(pages, "text"))
    assert_harmless(document_fromstring(answer.text))
    policy = answer.headers["content-security-policy"]
    assert {"sandbox", "default-src 'none'"} <= {part.strip() for part in policy.split(";")}
    assert "set-cookie" not in answer.headers
    assert "noarchive" in answer.headers["x-robots-tag"]


def test_a_mail_is_shown_to_its_readers_alone(crawled: Callable[..., Pages]) -> None:
    pages = crawled(mail(1), acl=["ann"])
    link = hit_link(pages.as_reader_of("ann"), "word1")
    assert pages.ask(link).status_code == 200
    assert pages.as_reader_of("ben").ask(link).status_code == 404
    assert pages.ask(link, signed_in=False).status_code in (302, 303, 401)


def test_a_mail_with_a_url_of_its_own_leads_there(crawled: Callable[..., Pages]) -> None:
    pages = crawled(mail(1), display_url="https://lists.example.com/{message_id}")
    assert hit_link(pages, "word1").startswith("https://lists.example.com/")


def test_a_mail_without_a_copy_has_no_page(crawled: Callable[..., Pages]) -> None:
    pages = crawled(mail(1))
    link = hit_link(pages, "word1")
    for file in pages.workspace.directory.rglob("*.eml"):
        file.unlink()
    assert pages.ask(link).status_code == 404


@pytest.mark.parametrize(
    "url", ["mail://list/INBOX/..%2f..%2fetc", "mail://list/INBOX/ab/cd", "file:///etc/passwd", ""]
)
def test_what_is_no_mail_of_the_index_is_not_shown(crawled: Callable[..., Pages], url: str) -> None:
    assert crawled(mail(1)).ask("/mail", params={"source": "list", "url": url}).status_code == 404


def test_a_page_of_the_web_is_no_mail(pages: Pages, url: str) -> None:
    assert pages.ask("/mail", params={"source": "site", "url": f"{url}/heron"}).status_code == 404


@pytest.mark.parametrize(
    "broken",
    [b"", b"\0\xff", b"Date: Mon, 99 Foo 99999\n\n", b"Content-Type: multipart/mixed\n\n--x", b"no header"],
)
def test_a_broken_mail_is_shown_as_far_as_it_can_be_read(broken: bytes) -> None:
    assert shown_mail(broken).date is None


def test_of_alternatives_the_richest_is_shown() -> None:
    def shown(*parts: str) -> str:
        body = "".join(f"--b\nContent-Type: text/{one}\n" for one in parts)
        message = f"Content-Type: multipart/alternative; boundary=b\n\n{body}--b--\n"
        return "".join(shown_mail(message.encode()).bodies)

    assert shown("plain\n\nas text", "html\n\n<p>as page") == "<p>as page</p>"
    assert "as text" in shown("plain\n\nas text", "html\n\n<img src=x>")


def test_a_mail_that_is_too_large_says_so() -> None:
    long = shown_mail(b"Subject: x\n\n" + b"word " * 300_000)
    assert long.is_truncated
    assert len("".join(long.bodies)) < 1_100_000
    assert not shown_mail(b"Subject: x\n\nword").is_truncated


@pytest.mark.servers
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_in_a_mail(
    crawled: Callable[..., Pages], size: dict[str, int], colours: str
) -> None:
    pages = crawled(WITH_PARTS)
    link = hit_link(pages, "text")
    with chromium() as browser, served(pages.app) as address:
        # The policy of the page keeps out the script that looks at it.
        context = browser.new_context(viewport=size, color_scheme=colours, bypass_csp=True)
        context.set_extra_http_headers({"Authorization": f"Bearer {pages.secret}"})
        window = Watched(context, address)
        page = window.open(link)
        assert window.findings() == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert window.foreign == []
        context.close()
