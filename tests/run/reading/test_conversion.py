"""Documents that are not HTML in real crawls: found, followed, refused with a clear status, and the run goes on."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.compound import old_presentation, outlook_message
from support.project import ROOT, Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request
from support.site import Site

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def hide(workspace: Workspace, *modules: str) -> dict[str, str]:
    """Return the environment in which these modules are not installed."""
    folder = workspace.directory / "hidden"
    folder.mkdir(exist_ok=True)
    lines = "\n".join(f"sys.modules[{module!r}] = None" for module in modules)
    (folder / "sitecustomize.py").write_text(f"import sys\n{lines}\n")
    return {"PYTHONPATH": f"{folder}:{ROOT}"}


def converter_that(workspace: Workspace, code: str) -> dict[str, Any]:
    """Return how to start a command whose conversion processes, and they alone, do this instead of converting JSON."""
    folder = workspace.directory / "changed"
    folder.mkdir(exist_ok=True)
    hook = (
        "import sys\n"
        "if sys.orig_argv[-5:-3] == ['-m', 'ultracrawl.content.service.worker']:\n"
        "    import types\n"
        "    module = types.ModuleType('ultracrawl.content.converters.json')\n"
        f"    exec({code!r}, module.__dict__)\n"
        "    sys.modules['ultracrawl.content.converters.json'] = module\n"
    )
    (folder / "sitecustomize.py").write_text(hook)
    return {"hosted": True, "PYTHONPATH": f"{folder}:{ROOT}"}


def test_a_document_without_text_is_reported(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words", links=["/scan.pdf", "/text.pdf", "/empty"])
    site.file("/scan.pdf", files.pdf([""], title="A scan"), PDF)
    site.file("/text.pdf", files.pdf(["needle"]), PDF)
    site.page("/empty", title="An application")
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert (run["without_text"], run["outcomes"]) == (1, {"NEW": 4})
    rows = workspace.urls()
    assert (rows["/scan.pdf"]["cause"], rows["/scan.pdf"]["reason"]) == (
        "no-text",
        sentence("reading.no_text"),
    )
    assert (rows["/text.pdf"]["cause"], rows["/empty"]["cause"]) == (None, None)
    assert "1  document without text" in workspace.command("crawl", "--force").out
    site.file("/scan.pdf", files.pdf(["needle second"]), PDF)
    assert workspace.crawl().run["without_text"] == 0
    assert workspace.urls()["/scan.pdf"]["cause"] is None


def test_documents_are_found_by_default_and_their_links_followed(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/a.pdf", "/b.docx", "/c.odt", "/d.epub"])
    site.file("/a.pdf", files.pdf(["needle first"], link=f"{url}/from-pdf", title="PDF title"), PDF)
    site.file("/b.docx", files.docx("needle second", link="from-docx"), DOCX)
    site.file("/c.odt", files.odt("needle third"), "application/octet-stream")
    site.file("/d.epub", files.epub("needle fourth"), "application/epub+zip")
    site.page("/from-pdf", text="reached")
    site.page("/from-docx", text="reached as well")
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert workspace.search("needle") == unordered("/a.pdf", "/b.docx", "/c.odt", "/d.epub")
    assert workspace.search("reached") == unordered("/from-pdf", "/from-docx")
    assert workspace.search('Title:"PDF title"') == ["/a.pdf"]
    assert run["scheduled"] == sum(run["outcomes"].values())
    rerun = workspace.crawl().run
    assert set(rerun["outcomes"]) == {"NOT_MODIFIED"}


class unordered(list[str]):
    """A list that is equal to every order of itself."""

    def __init__(self, *values: str) -> None:
        super().__init__(sorted(values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and sorted(other) == list(self)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.servers  # much time
def test_an_equal_body_ends_before_conversion(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/a.pdf", files.pdf(), PDF, etag=False, modified=False)
    workspace.define(f"{url}/a.pdf")
    workspace.crawl()
    run = workspace.crawl(code=1, **hide(workspace, "pypdfium2")).run
    assert run["status_codes"] == {"908": 1}, "the type is refused before anything is compared"
    run = workspace.crawl(**converter_that(workspace, "raise SystemExit(3)")).run
    assert run["outcomes"] == {"UNMODIFIED": 1}


def test_metadata_are_attributes_that_can_be_mapped(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/a.pdf", files.pdf(author="Ann Author", title="T"), PDF)
    workspace.write(
        {
            "attributes": {"Keyword": "string", "Pages": "number", "Created": "date"},
            "sources": {
                "site": {
                    "start_urls": [f"{url}/a.pdf"],
                    "boundary": {"networks": ["127.0.0.0/8"]},
                    "attributes": {"keywords": "Keyword", "pages": "Pages", "created": "Created"},
                }
            },
        }
    )
    workspace.crawl()
    for query in ("Author:Ann", "Subject:Testing", "Keyword:gamma", "Pages:1", "Language:de-DE"):
        assert workspace.search(query) == ["/a.pdf"], query


STATUS: dict[str, tuple[str, bytes, dict[str, Any], tuple[str, int, str]]] = {
    "ultra_search_124-broken": (PDF, b"%PDF-1.4 broken", {}, ("FAILED", 903, "this is not a PDF")),
    "ultra_search_124-truncated": (DOCX, files.docx()[:-40], {}, ("FAILED", 903, "broken zip file")),
    "1009": ("text/html", b"GIF89a\x00\x01", {}, ("NOT_INDEXED", 1009, "30126 ")),
    "1009-convertible but not wanted": (
        "text/html",
        files.pdf(),
        {"types": ["text/html"]},
        ("NOT_INDEXED", 1009, "30126 "),
    ),
    "lying-PDF as text": ("text/plain", files.pdf(), {}, ("NEW", 200, "")),
    "lying-page as PDF": (PDF, b"<!DOCTYPE html><title>x</title>needle", {}, ("NEW", 200, "")),
    "lying-Word as zip": (
        "application/zip",
        files.docx(),
        {"types": ["documents", "archives"]},
        ("NEW", 200, ""),
    ),
    "lying-Word as old Word": ("application/msword", files.docx(), {}, ("NEW", 200, "")),
    "no converter": (
        "application/x-tex",
        b"needle",
        {"types": ["*/*"]},
        ("NOT_INDEXED", 908, "there is no converter"),
    ),
    "conversion.use": (PDF, files.pdf(), {"conversion": {"use": False}}, ("NOT_INDEXED", 1001, "30041 ")),
    "conversion.exclude_types": (
        PDF,
        files.pdf(),
        {"conversion": {"exclude_types": [PDF]}},
        ("NOT_INDEXED", 1001, "30041 "),
    ),
    "ultra_search_30-unwanted type is not looked into": (
        "application/msword",
        files.docx(),
        {"types": [DOCX]},
        ("NOT_INDEXED", 1001, "30041 "),
    ),
    "alias of a type": (
        "application/x-gzip",
        gzip.compress(b"needle"),
        {"types": ["archives"]},
        ("NEW", 200, ""),
    ),
    "not among types": (PDF, files.pdf(), {"types": ["text/html"]}, ("NOT_INDEXED", 1001, "30041 ")),
    "group of types": ("application/json", b'{"a": "needle"}', {"types": ["data"]}, ("NEW", 200, "")),
    "conversion.text": (
        PDF,
        files.pdf(["needle and more"]),
        {"conversion": {"text": 6}},
        ("NEW", 200, "only the first 6 characters were kept (conversion.text)"),
    ),
    "conversion.unpacked": (
        "application/gzip",
        gzip.compress(b"needle " * 1000),
        {"conversion": {"unpacked": "1 KB"}, "types": ["archives"]},
        ("NEW", 200, "it expands to more than 1024 bytes (conversion.unpacked)"),
    ),
    "conversion.members": (
        "application/zip",
        files.zipped({"a.txt": "needle", "b.txt": "other"}),
        {"conversion": {"members": 1}, "types": ["archives"]},
        ("NEW", 200, "only the first 1 files in it were read (conversion.members)"),
    ),
    "conversion.nesting": (
        "application/zip",
        files.zipped({"needle": "x", "b.zip": files.zipped({"c.zip": files.zipped({"d": "deep"})})}),
        {"conversion": {"nesting": 1}, "types": ["archives"]},
        ("NEW", 200, "b.zip: documents are inside each other more than 1 times (conversion.nesting)"),
    ),
}


@pytest.mark.parametrize("case", STATUS)
def test_status(site: Site, url: str, workspace: Workspace, case: str) -> None:
    content_type, body, options, (outcome, status, reason) = STATUS[case]
    site.page("/", title="Home", links=["/d", "/after"])
    site.respond("/d", headers={"Content-Type": content_type}, body=body)
    site.page("/after", text="the run goes on")
    workspace.define(
        f"{url}/", **{"types": ["text/html", *options.pop("types", ["text/plain", "documents"])], **options}
    )
    run = workspace.crawl().run
    row = workspace.urls()["/d"]
    assert (row["outcome"], row["status_code"]) == (outcome, status), row
    assert row["reason"].startswith(reason) if reason else row["reason"] == ""
    assert run["scheduled"] == sum(run["outcomes"].values())
    assert workspace.outcomes()["/after"] == "NEW" or case == "group of types"
    if outcome == "NEW":
        assert "/d" in workspace.search("needle")


@pytest.mark.servers  # much time
def test_a_missing_extra_names_its_install_line_and_is_made_good_later(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/a.pdf", files.pdf(), PDF)
    workspace.define(f"{url}/a.pdf")
    (problem,) = workspace.crawl(code=1, **hide(workspace, "pypdfium2")).run["problems"]
    assert problem.startswith("no page could be read: ")
    assert "pip install 'ultracrawl[convert]'" in problem
    row = workspace.urls()["/a.pdf"]
    assert (row["outcome"], row["status_code"]) == ("FAILED", 908)
    assert "pip install 'ultracrawl[convert]'" in row["reason"]
    workspace.crawl()
    assert workspace.search("needle") == ["/a.pdf"]


NEEDS = {
    "pypdfium2": ("convert", PDF, files.pdf()),
    "striprtf": ("convert", "application/rtf", files.rtf()),
    "python_calamine": (
        "convert",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        files.xlsx(),
    ),
    "oxmsg": ("convert", "application/vnd.ms-outlook", outlook_message("T", "needle", "Ann Author")),
    "PIL": ("convert", "image/jpeg", files.image("JPEG")),
    "kreuzberg": ("convert,legacy", "application/vnd.ms-powerpoint", old_presentation("needle")),
    "py7zr": ("sevenzip", "application/x-7z-compressed", files.seven_zipped({"a.txt": b"needle"})),
}


@pytest.mark.servers  # much time
def test_each_missing_extra_names_its_install_line(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{module}" for module in NEEDS])
    for module, (_, media_type, body) in NEEDS.items():
        site.file(f"/{module}", body, media_type)
    kinds = ["text/html", "documents", "mail", "archives", "images"]
    workspace.define(f"{url}/", types=kinds, duplicates={"detect": False})
    workspace.crawl(**hide(workspace, *NEEDS))
    rows = workspace.urls()
    for module, (extra, _, _) in NEEDS.items():
        row = rows[f"/{module}"]
        assert (row["outcome"], row["status_code"]) == ("FAILED", 908), row
        assert row["reason"].endswith(sentence("extras.install_line", extra=extra)), row
    workspace.crawl()
    assert workspace.search("needle") == unordered(*(f"/{module}" for module in NEEDS))


HANG = "while True: pass"
EAT = "x = []\nwhile True: x.append(bytearray(10_000_000))"
CRASH = "import os; os.kill(os.getpid(), 11)"
SAID = "sink.add('needle'); import time; time.sleep(0.6); sink.add('more')\n"
OBEY = "def convert(source, sink): exec(source.body, {'sink': sink})"
TOO_LONG = "(conversion.timeout)"
ENDLESS = {
    "hangs": (HANG, "FAILED", 908, TOO_LONG),
    "hangs-half-way": (SAID + HANG, "NEW", 200, TOO_LONG),
}
FAILURES = {
    "eats": (EAT, "FAILED", 908, "(conversion.memory)"),
    "crashes": (CRASH, "FAILED", 908, "the converter crashed (signal 11)"),
    "exits": ("import os; os._exit(3)", "FAILED", 908, "the converter crashed (exit code 3)"),
    "raises": ("1 / 0", "FAILED", 903, "ZeroDivisionError"),
    "eats-half-way": (SAID + EAT, "NEW", 200, "(conversion.memory)"),
    "crashes-half-way": (SAID + CRASH, "NEW", 200, "the converter crashed (signal 11)"),
    "writes": (
        "open('/tmp/ultracrawl-test', 'w')",
        "FAILED",
        903,
        "PermissionError: a conversion process writes no",
    ),
    "connects": (
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "FAILED",
        903,
        "PermissionError: a conversion process may not do this: socket.",
    ),
    "starts": (
        "import os; os.system('true')",
        "FAILED",
        903,
        "PermissionError: a conversion process may not do this: os.system",
    ),
}


@pytest.mark.servers  # much time
@pytest.mark.parametrize(
    ("failures", "limits"),
    [
        pytest.param(FAILURES, {"memory": "256 MB"}, id="failures"),
        pytest.param(ENDLESS, {"timeout": 5, "workers": 2}, id="endless"),  # they alone have little time
    ],
)
def test_a_document_that_breaks_its_converter_costs_no_more_than_itself(
    site: Site,
    url: str,
    workspace: Workspace,
    failures: dict[str, tuple[str, str, int, str]],
    limits: dict[str, Any],
) -> None:
    site.page("/", title="Home", links=[f"/{name}" for name in (*failures, "good", "page")])
    for name, (code, *_) in failures.items():
        site.file(f"/{name}", code.encode(), "application/json")
    site.file("/good", files.pdf(["fine"]), PDF)
    site.page("/page", text="fine page")
    workspace.define(f"{url}/", types=["text/html", PDF, "application/json"], conversion=limits)
    run = workspace.crawl(**converter_that(workspace, OBEY)).run
    rows = workspace.urls()
    for name, (_, outcome, status, reason) in failures.items():
        row = rows[f"/{name}"]
        assert (row["outcome"], row["status_code"]) == (outcome, status), row
        assert reason in row["reason"], row
    assert workspace.search("fine") == unordered("/good", "/page")
    assert workspace.search("needle") == unordered(*(f"/{name}" for name in failures if "half" in name))
    assert run["scheduled"] == sum(run["outcomes"].values())


@pytest.mark.servers  # much time
def test_without_keep_partial_a_part_is_not_indexed(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/bad.json", (SAID + CRASH).encode(), "application/json")
    workspace.define(f"{url}/bad.json", types=["data"], conversion={"keep_partial": False})
    workspace.crawl(code=1, **converter_that(workspace, OBEY))
    row = workspace.urls()["/bad.json"]
    assert (row["outcome"], row["status_code"]) == ("FAILED", 908)
    assert workspace.indexed() == []


def test_a_failing_conversion_leaves_the_document_in_the_index(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/a.pdf", files.pdf(), PDF)
    workspace.define(f"{url}/a.pdf")
    workspace.crawl()
    site.file("/a.pdf", b"%PDF-1.4 broken", PDF)
    workspace.crawl(code=1)
    assert workspace.urls()["/a.pdf"]["status_code"] == 903
    assert workspace.search("needle") == ["/a.pdf"]
    site.file("/a.pdf", files.pdf(["mended"]), PDF)
    workspace.crawl()
    assert workspace.search("mended") == ["/a.pdf"]
    assert workspace.search("needle") == []


@pytest.mark.servers  # much time
def test_a_part_does_not_replace_a_whole_document(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/d.json", b"sink.add('complete')", "application/json")
    workspace.define(f"{url}/d.json", types=["data"])
    workspace.crawl(**converter_that(workspace, OBEY))
    site.file("/d.json", (SAID + CRASH).encode(), "application/json")
    workspace.crawl(code=1, **converter_that(workspace, OBEY))
    assert workspace.urls()["/d.json"]["status_code"] == 908
    assert workspace.search("complete") == ["/d.json"]
    assert workspace.search("needle") == []


@pytest.mark.servers  # much time
def test_pages_are_crawled_while_a_document_is_converted(site: Site, url: str, workspace: Workspace) -> None:
    """A document that takes long holds no place of its site, and the event loop goes on."""
    visited = workspace.directory / "visited"

    def last(request: Request) -> Reply:
        visited.touch()
        return Reply(200, (("Content-Type", "text/html"),), b"page")

    waits = (
        f"import os, time\nwhile not os.path.exists({str(visited)!r}): time.sleep(0.01)\nsink.add('needle')"
    )
    site.page("/", title="Home", links=["/1.json", "/2.json", *(f"/p{n}" for n in range(30))])
    for number in (1, 2):
        site.file(f"/{number}.json", waits.encode(), "application/json")
    for number in range(30):
        site.page(f"/p{number}", text="page", links=["/last"])
    site.dynamic("/last", last)
    workspace.define(
        f"{url}/",
        types=["text/html", "data"],
        politeness={"delay": 0, "concurrency": 1},
        duplicates={"detect": False},
    )
    workspace.crawl(**converter_that(workspace, OBEY))
    assert site.count("/last") == 1
    assert workspace.search("needle") == unordered("/1.json", "/2.json")


def test_cut_off_documents_say_so(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/a.docx", files.docx(), DOCX)
    workspace.define(f"{url}/a.docx", cut_off=5000)
    workspace.crawl(code=1)
    row = workspace.urls()["/a.docx"]
    assert row["status_code"] == 903
    assert "cut_off" in row["reason"]


@pytest.mark.servers  # much time
def test_no_process_is_started_for_html(site: Site, url: str, workspace: Workspace, tmp_path: Path) -> None:
    site.page("/", text="needle", links=["/a.txt"])
    site.file("/a.txt", b"needle", "text/plain")
    workspace.define(f"{url}/")
    mark = tmp_path / "started"
    folder = tmp_path / "marks"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"import sys\nif 'ultracrawl.content.service.worker' in sys.orig_argv: open({str(mark)!r}, 'w')\n"
    )
    workspace.crawl(hosted=True, PYTHONPATH=f"{folder}:{ROOT}")
    assert workspace.search("needle") == unordered("/", "/a.txt")
    assert not mark.exists()
    site.page("/", text="needle", links=["/a.txt", "/a.pdf"])
    site.file("/a.pdf", files.pdf(), PDF)
    workspace.crawl(hosted=True, PYTHONPATH=f"{folder}:{ROOT}")
    assert mark.exists()


def test_metadata_of_pages_are_attributes(site: Site, url: str, workspace: Workspace) -> None:
    head = (
        '<meta property="og:description" content="said by graph"><meta name="DC.Creator" content="Dora Core">'
        '<script type="application/ld+json">{"author": {"name": "Jason Linked"}, "headline": "Big"}</script>'
    )
    site.page("/d", title="T", text="words", head=head, headers={"X-Team": "blue"})
    names = {
        "og:description": "Description",
        "dc.creator": "Author",
        "jsonld.author.name": "Author",
        "jsonld.headline": "Subject",
        "x-team": "Subject",
    }
    workspace.define(f"{url}/d", attributes=names)
    workspace.crawl()
    queries = ("Description:graph", "Author:Dora", "Author:Linked", "Subject:Big", "Subject:blue")
    assert [workspace.search(query) for query in queries] == [["/d"]] * 5


@pytest.mark.servers  # much time
def test_workers_convert_at_once(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{number}.json" for number in range(4)])
    slow = "import time; began = time.monotonic(); time.sleep(0.8); "
    for number in range(4):
        code = f"{slow}sink.add(f'needle {{began}} {{time.monotonic()}} {number}')"
        site.file(f"/{number}.json", code.encode(), "application/json")
    for workers in (1, 4):
        workspace.define(f"{url}/", types=["text/html", "data"], conversion={"workers": workers})
        workspace.crawl("--force", **converter_that(workspace, OBEY))
        hits = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
        times = [tuple(map(float, re.findall(r"\d+\.\d+", hit["snippet"]))) for hit in hits]
        at_once = max(sum(began <= start < ended for began, ended in times) for start, _ in times)
        assert (len(times), at_once > 1) == (4, workers > 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"conversion": {"memory": "1 MB"}}, ["conversion.memory", "write `128 MB` or more"]),
        ({"conversion": {"workers": 0}}, ["conversion.workers", "1"]),
        ({"conversion": {"timeout": 0}}, ["conversion.timeout", "0"]),
        ({"conversion": {"time": 3}}, ["conversion.time", "unknown option", "timeout"]),
        ({"conversion": {"exclude_types": ["pdf"]}}, ["exclude_types", "pdf", "text/html", "documents"]),
        ({"types": ["document"]}, ["types", "document", "documents"]),
    ],
    ids=["memory", "workers", "timeout", "unknown", "type", "group"],
)
def test_mistakes_are_shown(workspace: Workspace, options: dict[str, Any], words: list[str]) -> None:
    workspace.define("http://h.example/", **options)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert [word for word in words if word not in ended.err + ended.out] == []


def test_a_part_takes_the_place_of_a_part(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/feed.xml", b"<rss><p>first</p><p>cut", "application/rss+xml")
    workspace.define(f"{url}/feed.xml", types=["data"])
    workspace.crawl()
    assert workspace.search("first") == ["/feed.xml"]
    site.file("/feed.xml", b"<rss><p>second</p><p>cut", "application/rss+xml")
    workspace.crawl()
    assert workspace.search("second") == ["/feed.xml"]
    assert workspace.search("first") == []
    site.file("/feed.xml", b"<rss><p>third</p></rss>", "application/rss+xml")
    workspace.crawl()
    site.file("/feed.xml", b"<rss><p>fourth</p><p>cut", "application/rss+xml")
    workspace.crawl(code=1)
    assert workspace.search("third") == ["/feed.xml"], "a whole version stays"
