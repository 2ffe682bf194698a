"""One crawl of every format: found by a link, under its own type and under three lies, with properties and links."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest
from support import files, samples
from support.compound import old_presentation, outlook_message
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.content.mime import sniff_type
from ultracrawl.index.searching import Searcher

pytestmark = pytest.mark.servers

LIES = {"octet": "application/octet-stream", "plain": "text/plain", "html": "text/html; charset=utf-8"}
DATE = "2024-03-01"


class Format(NamedTuple):
    make: Callable[[str], bytes]
    """Makes the document; what it is given is the link that it has."""
    media_type: str
    words: str
    """What it is found by: its name, unless it is a real document."""
    properties: Mapping[str, str]
    linked: bool = True
    signed: bool = True
    """Whether its bytes say what it is, whatever the server says."""


def text_in(name: str) -> Callable[[str], bytes]:
    """Return what makes an archive member with the word and the link."""
    return lambda link: f"# needle{name}\n[x]({link})\n".encode()


def packed(name: str, pack: Callable[[dict[str, bytes]], bytes]) -> Callable[[str], bytes]:
    return lambda link: pack({"inside.md": text_in(name)(link)})


BY_HAND = {"Title": "T", "Author": "Ann Author"}
ARCHIVE = {"Files": "inside.md"}
FORMATS: dict[str, Format] = {
    "pdf": Format(
        lambda link: files.pdf(["needlepdf"], link=link, title="T", author="Ann Author"),
        "application/pdf", "needlepdf", {**BY_HAND, "Subject": "Testing", "Pages": "1", "Created": DATE},
    ),
    "docx": Format(
        lambda link: files.docx("needledocx", link=link),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "needledocx", {**BY_HAND, "Subject": "Testing", "Created": DATE, "Language": "fr"},
    ),
    "doc": Format(
        lambda _: samples.in_olefile("test-ole-file.doc"), "application/msword", "OLE file saved as Word",
        {"Author": "Laurence Ipsum", "Created": "2014-04-11", "Pages": "1"}, linked=False,
    ),
    "xlsx": Format(
        lambda link: files.xlsx("needlexlsx", link=link),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "needlexlsx",
        {**BY_HAND, "Pages": "2"},
    ),
    "xls": Format(
        lambda _: samples.workbook("Test97.xls"), "application/vnd.ms-excel", "ASC Only INTEGER",
        {"Author": "Kawai, Takanori (Hippo2000)"}, linked=False,
    ),
    "pptx": Format(
        lambda link: files.pptx("needlepptx", link=link),
        "application/vnd.openxmlformats-officedocument.presentationml.presentation", "needlepptx", BY_HAND,
    ),
    "ppt": Format(
        lambda link: old_presentation("needleppt slide", link=link), "application/vnd.ms-powerpoint", "needleppt", {}
    ),
    "odt": Format(
        lambda link: files.odt("needleodt", link=link), "application/vnd.oasis.opendocument.text", "needleodt", BY_HAND
    ),
    "ods": Format(
        lambda link: files.open_document("spreadsheet", "needleods", link),
        "application/vnd.oasis.opendocument.spreadsheet", "needleods", {**BY_HAND, "Created": DATE},
    ),
    "odp": Format(
        lambda link: files.open_document("presentation", "needleodp", link),
        "application/vnd.oasis.opendocument.presentation", "needleodp", {**BY_HAND, "Created": DATE},
    ),
    "rtf": Format(
        lambda link: files.rtf("needlertf ", link=link), "application/rtf", "needlertf",
        {"Title": "T", "Author": "José Author", "Created": DATE, "Pages": "2"},
    ),
    "epub": Format(
        lambda link: files.epub("needleepub", link=link), "application/epub+zip", "needleepub",
        {**BY_HAND, "Language": "sv"},
    ),
    "txt": Format(
        lambda link: f"needletxt {link}".encode(), "text/plain", "needletxt", {}, signed=False
    ),
    "csv": Format(
        lambda _: b"Name;Town\nneedlecsv;Lund\n", "text/csv", "needlecsv", {"Columns": "Name"},
        linked=False, signed=False,
    ),
    "md": Format(
        lambda link: f"---\ntitle: T\nauthor: Ann Author\n---\nneedlemd [x]({link})\n".encode(),
        "text/markdown", "needlemd", BY_HAND, signed=False,
    ),
    "xml": Format(
        lambda link: f'<?xml version="1.0"?><a><title>T</title><creator>Ann Author</creator>needlexml '
        f'<b href="{link}"/></a>'.encode(), "application/xml", "needlexml", BY_HAND, signed=False,
    ),
    "svg": Format(
        lambda link: f'<svg xmlns="s"><title>T</title><a href="{link}"><text>needlesvg</text></a></svg>'.encode(),
        "image/svg+xml", "needlesvg", {"Title": "T"}, signed=False,
    ),
    "json": Format(
        lambda link: json.dumps({"title": "T", "author": "Ann Author", "a": ["needlejson", link]}).encode(),
        "application/json", "needlejson", BY_HAND, signed=False,
    ),
    "eml": Format(
        lambda link: files.message("needleeml", html=f"<a href='{link}'>x</a>"), "message/rfc822", "needleeml",
        {"Title": "Grüße T", "Author": "Ann Author <ann@mail.example>", "Created": DATE}, signed=False,
    ),
    "mbox": Format(
        lambda link: b"From a@x Mon\n" + files.message("needlembox", html=f"<a href='{link}'>x</a>"),
        "application/mbox", "needlembox", {"Author": "Ann Author <ann@mail.example>"}, signed=False,
    ),
    "msg": Format(
        lambda link: outlook_message("T", "needlemsg", "Ann Author", attachments={"a.pdf": files.pdf(link=link)}),
        "application/vnd.ms-outlook", "needlemsg",
        {"Title": "T", "Author": '"Ann Author" <ann@mail.example>', "Created": DATE},
    ),
    "zip": Format(packed("zip", files.zipped), "application/zip", "needlezip", ARCHIVE),
    "tar": Format(packed("tar", files.tarred), "application/x-tar", "needletar", ARCHIVE),
    "tgz": Format(
        packed("tgz", lambda members: gzip.compress(files.tarred(members))), "application/gzip", "needletgz", ARCHIVE
    ),
    "tbz": Format(
        packed("tbz", lambda members: bz2.compress(files.tarred(members))), "application/x-bzip2", "needletbz", ARCHIVE
    ),
    "txz": Format(
        packed("txz", lambda members: lzma.compress(files.tarred(members))), "application/x-xz", "needletxz", ARCHIVE
    ),
    "7z": Format(packed("7z", files.seven_zipped), "application/x-7z-compressed", "needle7z", ARCHIVE),
    "exif.jpg": Format(
        lambda _: files.image("JPEG", "needleexif"), "image/jpeg", "needleexif",
        {"Author": "Ann Author", "Description": "needleexif", "Created": DATE}, linked=False,
    ),
    "iptc.jpg": Format(
        lambda _: files.image_with_iptc([((2, 5), b"T"), ((2, 80), b"Ann Author"), ((2, 120), b"needleiptc")]),
        "image/jpeg", "needleiptc", BY_HAND, linked=False,
    ),
    "xmp.tif": Format(
        lambda _: samples.of_adobe("BlueSquare.tif"), "image/tiff", "Blue Square Photoshop tif",
        {"Title": "Blue Square Test File - .tif", "Created": "2005-09-07"}, linked=False,
    ),
    "png": Format(
        lambda _: files.image("PNG", "needlepng"), "image/png", "needlepng", BY_HAND, linked=False
    ),
    "webp": Format(
        lambda _: files.image("WEBP", "needlewebp"), "image/webp", "needlewebp", {"Author": "Ann Author"}, linked=False
    ),
}  # fmt: skip

SEARCHED = {"Created": "date", "Pages": "number", "Files": "string", "Columns": "string"}


class Crawled(NamedTuple):
    workspace: Workspace
    searcher: Searcher
    rows: dict[str, dict[str, object]]
    run: dict[str, object]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    site, workspace = Site(), Workspace(tmp_path_factory.mktemp("formats"))
    with site.serve() as url:
        links = []
        for name, one in FORMATS.items():
            site.page(f"/from/{name}", text=f"reached from {name}")
            body = one.make(f"{url}/from/{name}")
            site.file(f"/right/{name}", body, one.media_type)
            links.append(f"/right/{name}")
            for kind, lie in LIES.items() if one.signed else ():
                site.file(f"/{kind}/{name}", body, lie)
                links.append(f"/{kind}/{name}")
        site.page("/", title="Home", links=links)
        source = {
            "start_urls": [f"{url}/"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0, "concurrency": 8},
            "types": ["text/html", "text/plain", "documents", "data", "mail", "archives", "images"],
            "links": {"text": True},
            "duplicates": {"detect": False},
            "conversion": {"workers": 2},
            "attributes": {"created": "Created", "pages": "Pages", "files": "Files", "columns": "Columns"},
        }
        workspace.write({"attributes": SEARCHED, "sources": {"site": source}})
        run = workspace.crawl().run
        rows = workspace.urls()
    with Searcher.open(workspace.directory / "ultracrawl.yaml") as searcher:
        yield Crawled(workspace, searcher, rows, run)


def found(crawled: Crawled, words: str) -> dict[str, dict[str, object]]:
    """Return the attributes of what words find, by path."""
    hits = crawled.searcher.search(words, limit=50).hits
    return {"/" + hit.url.split("/", 3)[3]: dict(hit.attributes) for hit in hits}


@pytest.mark.parametrize("name", FORMATS)
def test_it_is_found_through_a_link_and_searched_by_its_words(crawled: Crawled, name: str) -> None:
    row = crawled.rows[f"/right/{name}"]
    assert (row["outcome"], row["status_code"], row["reason"]) == ("NEW", 200, ""), row
    hits = found(crawled, FORMATS[name].words)
    assert f"/right/{name}" in hits
    assert hits[f"/right/{name}"]["Mimetype"] == [FORMATS[name].media_type]


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.properties])
def test_its_properties_are_attributes(crawled: Crawled, name: str) -> None:
    one = FORMATS[name]
    attributes = found(crawled, one.words)[f"/right/{name}"]
    shown = {key: _text(next(iter(attributes.get(key, [""])))) for key in one.properties}  # type: ignore[call-overload]
    assert shown == dict(one.properties)


def _text(value: object) -> str:
    if isinstance(value, float):
        return str(int(value))
    return str(value.date()) if hasattr(value, "date") else str(value)


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.linked])
def test_its_links_are_enumerated(crawled: Crawled, name: str) -> None:
    assert crawled.rows[f"/from/{name}"]["outcome"] == "NEW", "nothing else links there"


@pytest.mark.parametrize("kind", LIES)
@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.signed])
def test_its_type_is_found_when_the_server_lies(crawled: Crawled, name: str, kind: str) -> None:
    row = crawled.rows[f"/{kind}/{name}"]
    assert (row["outcome"], row["status_code"]) == ("NEW", 200), row
    attributes = found(crawled, FORMATS[name].words)[f"/{kind}/{name}"]
    assert attributes["Mimetype"] == [FORMATS[name].media_type]


def test_the_command_line_finds_them_as_well(crawled: Crawled) -> None:
    for name in ("pdf", "ods", "7z", "iptc.jpg", "msg"):
        paths = crawled.workspace.search(FORMATS[name].words)
        assert sorted(paths) == sorted([f"/right/{name}", *(f"/{kind}/{name}" for kind in LIES)])


def test_the_numbers_of_the_run_add_up(crawled: Crawled) -> None:
    outcomes = crawled.run["outcomes"]
    assert isinstance(outcomes, dict)
    assert outcomes == {"NEW": len(crawled.rows)}
    assert crawled.run["dropped_values"] == 0


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.signed])
def test_a_signed_format_is_what_its_bytes_say(name: str) -> None:
    assert sniff_type(FORMATS[name].make("https://x.example/l")) == FORMATS[name].media_type
