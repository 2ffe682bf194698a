"""Which answers become documents: types, detection, sizes, headers; each option off and on in real crawls."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

PDF = b"%PDF-1.4\n\x00\x01\x02 words" + b"\x00" * 50
PAGE = b"<!DOCTYPE html><html><head><title>T</title></head><body>needle <a href='/child'>x</a></body></html>"


def row_of(workspace: Workspace, path: str = "/d") -> dict[str, Any]:
    return workspace.urls()[path]


TYPES: dict[str, tuple[dict[str, Any], str, bytes, tuple[str, int, str]]] = {
    "ultra_search_30-not listed": ({}, "image/png", b"\x89PNG\r\n\x1a\n..", ("NOT_INDEXED", 1001, "30041 ")),
    "ultra_search_30-listed": ({}, "text/html", PAGE, ("NEW", 200, "")),
    "fast_39_example_35-text/*": ({"types": ["text/*"]}, "text/x-readme", b"needle", ("NEW", 200, "")),
    "fast_39_example_35-application/pdf": (
        {"types": ["text/*"]},
        "application/pdf",
        PDF,
        ("NOT_INDEXED", 1001, "30041 "),
    ),
    "fast_39-parameters and case": (
        {"types": ["text/html"]},
        "Text/HTML; Charset=utf-8",
        PAGE,
        ("NEW", 200, ""),
    ),
    "fast_39-missing type is detected": ({}, "", PAGE, ("NEW", 200, "")),
    "binary as text": ({"types": ["text/html"]}, "text/html", PDF, ("NOT_INDEXED", 1009, "30126 ")),
    "binary as plain text": ({}, "text/plain", b"GIF89a\x00\x01", ("NOT_INDEXED", 1009, "30126 ")),
    "no converter": ({"types": ["*/*"]}, "application/x-tex", b"words", ("NOT_INDEXED", 908, "there is no")),
    "ultra_search_121-empty": ({}, "text/html", b"", ("NOT_INDEXED", 911, "the document is empty")),
    "ultra_search_121-only blanks": (
        {},
        "text/html",
        b" \r\n\t ",
        ("NOT_INDEXED", 911, "the document is empty"),
    ),
    "fast_40-declared type counts": ({}, "application/x-page", PAGE, ("NOT_INDEXED", 1001, "30041 ")),
    "fast_40-detected type counts": ({"detect_types": True}, "application/x-page", PAGE, ("NEW", 200, "")),
    "fast_40-generic detection loses": (
        {"detect_types": True, "types": ["text/html"]},
        "text/html",
        b"just words, needle",
        ("NEW", 200, ""),
    ),
    "fast_40-wrong type found out": (
        {"detect_types": True, "types": ["application/x-executable", "text/html"]},
        "text/html",
        b"\x7fELF\x02\x01",
        ("NOT_INDEXED", 908, "there is no converter for application/x-executable"),
    ),
}


@pytest.mark.parametrize("case", TYPES)
def test_types(site: Site, url: str, workspace: Workspace, case: str) -> None:
    options, content_type, body, (outcome, status, reason) = TYPES[case]
    site.respond("/d", headers={"Content-Type": content_type} if content_type else {}, body=body)
    workspace.define(f"{url}/d", **options)
    run = workspace.crawl(code=0 if outcome == "NEW" else 1).run
    row = row_of(workspace)
    assert (row["outcome"], row["status_code"]) == (outcome, status)
    assert row["reason"].startswith(reason)
    assert run["scheduled"] == sum(run["outcomes"].values())
    if outcome == "NEW":
        assert workspace.search("needle") == ["/d"]


@pytest.mark.parametrize(
    ("options", "indexed", "child"),
    [
        ({"types": ["text/plain"]}, False, 0),
        ({"types": ["text/plain"], "follow_only_types": ["text/html"]}, False, 1),
        ({"types": ["text/plain", "text/html"], "follow_only_types": ["text/html"]}, True, 1),
    ],
    ids=["dropped", "followed only", "types win"],
)
def test_follow_only_types(
    site: Site, url: str, workspace: Workspace, options: dict[str, Any], indexed: bool, child: int
) -> None:
    site.file("/d", PAGE, "text/html")
    workspace.define(f"{url}/d", **options)
    workspace.crawl(code=0 if indexed or child else 1)
    assert (workspace.search("needle") == ["/d"]) is indexed
    assert site.count("/child") == child


def test_a_large_download_of_no_use_ends_early(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words", links=["/film"])
    site.drip("/film", b"x" * 65_536, pause=0.01, times=400, content_type="video/mp4")
    workspace.define(f"{url}/")
    ended = workspace.crawl()
    assert workspace.urls()["/film"]["status_code"] == 1001
    assert ended.run["bytes"] < 5_000_000
    assert ended.err == ""


SCRAPYS_OWN = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"


@pytest.mark.parametrize("coding", ["plain", "gzip", "chunked"])
@pytest.mark.processes
def test_scrapys_own_handler_reads_every_coding(
    site: Site, url: str, workspace: Workspace, coding: str
) -> None:
    body = page_of(40_000)
    if coding == "chunked":
        site.drip("/d", body, times=1)
    elif coding == "gzip":
        packed = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
        site.respond("/d", headers=packed, body=gzip.compress(body))
    else:
        site.respond("/d", headers={"Content-Type": "text/html"}, body=body)
    workspace.define(f"{url}/d", settings={"DOWNLOAD_HANDLERS": {"http": SCRAPYS_OWN}})
    ended = workspace.crawl()
    assert (ended.err, workspace.search("lastword")) == ("", ["/d"])


# ---- size


def page_of(size: int) -> bytes:
    head = b"<html><head><title>T</title></head><body><p>needle "
    return head + b"x " * ((size - len(head)) // 2) + b"lastword"


@pytest.mark.parametrize("coding", ["identity", "gzip", "chunked"])
@pytest.mark.parametrize(
    ("options", "outcome", "first", "last"),
    [
        pytest.param({"cut_off": 1000}, "NEW", True, False, id="fast_41_42_example_23-truncate"),
        pytest.param(
            {"cut_off": 1000, "truncate": False}, "NOT_INDEXED", False, False, id="fast_41_42_example_23-drop"
        ),
        pytest.param({"truncate": False}, "NEW", True, True, id="fast_41_42_example_23-unset"),
    ],
)
def test_cut_off(
    site: Site,
    url: str,
    workspace: Workspace,
    coding: str,
    options: dict[str, Any],
    outcome: str,
    first: bool,
    last: bool,
) -> None:
    body = page_of(1500)
    if coding == "chunked":
        site.drip("/d", body, times=1)
    else:
        headers = {"Content-Type": "text/html"} | ({"Content-Encoding": "gzip"} if coding == "gzip" else {})
        site.respond("/d", headers=headers, body=gzip.compress(body) if coding == "gzip" else body)
    workspace.define(f"{url}/d", attributes={"truncated": "Subject"}, **options)
    workspace.crawl(code=0 if first else 1)
    row = row_of(workspace)
    assert row["outcome"] == outcome
    assert (workspace.search("needle") == ["/d"]) is first
    assert (workspace.search("lastword") == ["/d"]) is last
    assert ("cut_off" in row["reason"]) is not last
    assert (workspace.search("Subject:bytes") == ["/d"]) is (first and not last)
    if outcome == "NOT_INDEXED":
        assert row["status_code"] == 958


def test_a_truncated_page_that_did_not_change_is_unmodified(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.respond("/d", headers={"Content-Type": "text/html"}, body=page_of(200_000))
    workspace.define(f"{url}/d", cut_off=1000)
    workspace.crawl()
    run = workspace.crawl().run
    assert run["outcomes"] == {"UNMODIFIED": 1}
    assert run["bytes"] < 200_000, "what is not read is not fetched"
    assert "cut_off" in row_of(workspace)["reason"]


# ---- headers


HEADERS: dict[str, tuple[dict[str, Any], list[tuple[str, str]], bool]] = {
    "fast_179-no rule": ({}, [("Content-Language", "xx")], True),
    "fast_179-covered": ({"Content-Language": "(xx|zz)(-.*)?"}, [("Content-Language", "zz-1")], False),
    "fast_179-not covered as a whole": ({"Content-Language": "xx"}, [("Content-Language", "xx-1")], True),
    "fast_179-name in any case": ({"content-language": ["en", "xx"]}, [("CONTENT-LANGUAGE", "xx")], False),
    "fast_179-repeated header": ({"X-Tag": "b"}, [("X-Tag", "a"), ("X-Tag", "b")], False),
    "fast_179-absent": ({"X-Tag": ".*"}, [], True),
}


@pytest.mark.parametrize("case", HEADERS)
def test_exclude_headers(site: Site, url: str, workspace: Workspace, case: str) -> None:
    rules, headers, kept = HEADERS[case]
    site.page("/d", title="T", text="needle", links=["/child"], headers=headers)
    workspace.define(f"{url}/d", exclude_headers=rules)
    run = workspace.crawl(code=0 if kept else 1).run
    assert (workspace.search("needle") == ["/d"]) is kept
    assert (site.count("/child") == 1) is kept
    if not kept:
        row = row_of(workspace)
        assert row["outcome"] == "NOT_INDEXED"
        assert row["reason"].startswith("exclude_headers ")
        assert [rule for rule in run["rejected_by"] if rule.startswith("exclude_headers ")]


def test_a_stored_document_whose_header_is_excluded_now_leaves_and_comes_back(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/d", title="T", text="needle")
    workspace.define(f"{url}/d", exclude_headers={"X-Stage": "draft"})
    workspace.crawl()
    assert workspace.search("needle") == ["/d"]
    site.page("/d", title="T", text="needle", headers={"X-Stage": "draft"}, etag=False, modified=False)
    assert workspace.crawl(code=1).run["cause"] == "header"
    assert workspace.search("needle") == []
    site.page("/d", title="T", text="needle")
    workspace.crawl()
    assert workspace.search("needle") == ["/d"]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"X-Tag": "(?=a"}, ["exclude_headers", "cannot be used"]),
        ({"X-Tag": "("}, ["exclude_headers", "cannot be used"]),
        ({"X Tag": "a"}, ["exclude_headers", "header"]),
    ],
)
def test_mistakes_in_exclude_headers_are_shown(
    workspace: Workspace, rules: dict[str, str], words: list[str]
) -> None:
    workspace.define("http://h.example/", exclude_headers=rules)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert all(word in ended.err + ended.out for word in words)
