"""A crawl of documents that mean harm: a clear status for each, in bounded time and memory, and the run goes on."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from support import files
from support.project import Workspace
from support.resource import gzip_of_zeros
from support.site import Site

pytestmark = pytest.mark.processes

NO_FOLDER = Path(tempfile.gettempdir()) / f"ultracrawl-hostile-{os.getpid()}"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10))
    + "]><l>&k;</l>"
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>'
MOST_SECONDS = 60.0
"""For the whole crawl, on a machine that is busy with other tests."""
MOST_MEMORY = 600 << 20
"""For the largest process of the crawl."""


class Hostile(NamedTuple):
    body: bytes | Callable[[], bytes]
    """What takes long to make is made for the crawl only, and not whenever tests are collected."""
    media_type: str
    status: int
    reason: str
    """What the reason begins with or has in it."""


def zip_bomb(inside: str) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(inside, "w") as member,
    ):
        for _ in range(120):
            member.write(bytes(1 << 20))
    return out.getvalue()


def quine_like(levels: int) -> bytes:
    """Return archives in archives, of different kinds in turn."""
    body = files.zipped({"end.txt": "end"})
    for number in range(levels):
        body = gzip.compress(files.tarred({"x": body})) if number % 2 else files.zipped({"x": body})
    return body


def looping_pdf(loop: str) -> bytes:
    """Return a PDF whose page tree is its own child, or whose tables of objects name each other."""
    plain = files.pdf(["needle"])
    if loop == "pages":
        return plain.replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]")
    if loop == "contents":
        return plain.replace(b"/Contents 6 0 R", b"/Contents 5 0 R")
    return plain.replace(b"/Root 1 0 R", b"/Prev %d /Root 1 0 R" % plain.index(b"xref"))


def eats_memory() -> bytes:
    """Return a PDF whose one page unfolds, through two filters, to 300 MB of text operators."""
    import zlib

    packed = zlib.compress(zlib.compress(b"BT /F1 1 Tf " + b"(x) Tj " * 43_000_000 + b"ET", 1), 9)
    stream = b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream" % (
        len(packed),
        packed,
    )
    plain = files.pdf(["needle"])
    start = plain.index(b"<< /Length")
    return plain[:start] + stream + plain[plain.index(b"endstream") + 9 :]


def paths_out(target: Path) -> bytes:
    return files.zipped({f"../../../../..{target}": "x", "/etc/passwd": "y", "..\\..\\x": "z"})


def link_out() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("innocent")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return out.getvalue()


def sparse_tar() -> bytes:
    """Return a tar whose header states a size that is not there."""
    body = bytearray(files.tarred({"a": b"x"}))
    body[124:136] = b"77777777777\0"
    return bytes(body)


CUT, DTD = "it expands to more than", "the XML has a DTD"
HOSTILE: dict[str, Hostile] = {
    "gzip-bomb": Hostile(lambda: gzip_of_zeros(1 << 30), "application/gzip", 200, CUT),
    "gzip-in-gzip": Hostile(lambda: gzip.compress(gzip_of_zeros(1 << 30)), "application/gzip", 200, CUT),
    "xz-bomb": Hostile(lambda: lzma.compress(bytes(100 << 20), preset=0), "application/x-xz", 200, CUT),
    "7z-bomb": Hostile(
        lambda: files.seven_zipped({"a": bytes(60 << 20)}), "application/x-7z-compressed", 200, CUT
    ),
    "zip-bomb": Hostile(lambda: zip_bomb("a.txt"), "application/zip", 200, CUT),
    "zip-bomb-docx": Hostile(lambda: zip_bomb("word/document.xml"), DOCX, 200, CUT),
    "zip-bomb-odt": Hostile(lambda: zip_bomb("content.xml"), ODT, 200, CUT),
    "zip-bomb-epub": Hostile(lambda: zip_bomb("META-INF/container.xml"), EPUB, 200, CUT),
    "nested": Hostile(quine_like(30), "application/gzip", 200, "documents are inside each other more than 3"),
    "many-members": Hostile(
        files.zipped({f"{n}": "" for n in range(3000)}), "application/zip", 200, "only the first 1000 files"
    ),
    "laughs-docx": Hostile(files.zipped({"word/document.xml": LAUGHS}), DOCX, 903, DTD),
    "laughs-core": Hostile(
        files.zipped({"word/document.xml": "<a/>", "docProps/core.xml": LAUGHS}), DOCX, 903, DTD
    ),
    "laughs-odt": Hostile(files.zipped({"content.xml": LAUGHS}), ODT, 903, DTD),
    "laughs-epub": Hostile(files.zipped({"META-INF/container.xml": LAUGHS}), EPUB, 903, DTD),
    "laughs-svg": Hostile(LAUGHS.encode(), "image/svg+xml", 903, DTD),
    "laughs-xml": Hostile(LAUGHS.encode(), "application/xml", 903, DTD),
    "outside-odt": Hostile(files.zipped({"content.xml": OUTSIDE}), ODT, 903, DTD),
    "outside-svg": Hostile(OUTSIDE.encode(), "image/svg+xml", 903, DTD),
    "deep-html": Hostile(
        b"<title>x</title>" + b"<div>" * 100_000 + b"needle", "text/html", 200, "elements nest"
    ),
    "deep-json": Hostile(b"[" * 1_000_000, "application/json", 903, "the JSON is nested too deep"),
    "deep-xml": Hostile(b"<a>" * 100_000 + b"needle" + b"</a>" * 100_000, "application/xml", 200, ""),
    "deep-rtf": Hostile(
        b"{\\rtf1 " + b"{" * 200_000 + b"needle" + b"}" * 200_001, "application/rtf", 200, ""
    ),
    "loop-pages": Hostile(looping_pdf("pages"), "application/pdf", 200, "page 1 could not be read"),
    "loop-contents": Hostile(looping_pdf("contents"), "application/pdf", 200, "no text"),
    "loop-tables": Hostile(looping_pdf("tables"), "application/pdf", 200, ""),
    "eats": Hostile(
        eats_memory, "application/pdf", 908, "the converter ran out of memory (conversion.memory)"
    ),
    "paths": Hostile(paths_out(NO_FOLDER), "application/zip", 200, ""),
    "link-out": Hostile(link_out(), "application/x-tar", 200, "no text"),
    "size-that-is-not-there": Hostile(sparse_tar(), "application/x-tar", 903, "broken tar archive"),
    "pages-10000": Hostile(
        lambda: files.pdf(f"needle {n}" for n in range(10_000)), "application/pdf", 200, ""
    ),
}


class Crawled(NamedTuple):
    workspace: Workspace
    rows: dict[str, dict[str, object]]
    seconds: float
    memory: int


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    site, workspace = Site(), Workspace(tmp_path_factory.mktemp("hostile"))
    site.page("/", title="Home", links=[*(f"/{name}" for name in HOSTILE), "/good", "/good.pdf"])
    for name, one in HOSTILE.items():
        site.file(f"/{name}", one.body() if callable(one.body) else one.body, one.media_type)
    site.page("/good", text="the run goes on")
    site.file("/good.pdf", files.pdf(["the run goes on as well"]), "application/pdf")
    with site.serve() as url:
        workspace.define(
            f"{url}/",
            types=["text/html", "documents", "data", "archives"],
            conversion={"timeout": 20, "memory": "500 MB", "unpacked": "50 MB"},
            duplicates={"detect": False},
        )
        started = time.monotonic()
        process = workspace.start("crawl", "--json")
        memory = peak_memory(process)
        seconds = time.monotonic() - started
        assert process.wait() == 0
        process.communicate()
    return Crawled(workspace, workspace.urls(), seconds, memory)


def peak_memory(process: subprocess.Popen[str]) -> int:
    """Wait for a process; return the most bytes that it or a process below it held."""
    most = 0
    while process.poll() is None:
        with suppress(psutil.Error, FileNotFoundError, ProcessLookupError):
            family = [process.pid, *(one.pid for one in psutil.Process(process.pid).children(recursive=True))]
            most = max(most, *map(high_water, family))
        time.sleep(0.05)
    return most


def high_water(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10 if "VmHWM:" in status else 0


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_with_a_clear_status_of_one_line(crawled: Crawled, name: str) -> None:
    row, expected = crawled.rows[f"/{name}"], HOSTILE[name]
    assert row["status_code"] == expected.status, row
    assert row["outcome"] == ("NEW" if expected.status == 200 else "FAILED"), row
    reason = str(row["reason"])
    assert expected.reason in reason
    assert "\n" not in reason
    assert len(reason) < 300
    assert bool(reason) == bool(expected.reason) or name == "pages-10000", reason


def test_the_run_goes_on(crawled: Crawled) -> None:
    assert sorted(crawled.workspace.search("goes")) == ["/good", "/good.pdf"]
    assert crawled.workspace.urls()["/good"]["outcome"] == "NEW"


def test_what_could_be_read_is_found(crawled: Crawled) -> None:
    found = crawled.workspace.search("needle")
    assert {"/deep-html", "/deep-xml", "/deep-rtf", "/pages-10000"} <= set(found)


def test_time_and_memory_are_bounded(crawled: Crawled) -> None:
    assert crawled.seconds < MOST_SECONDS
    assert crawled.memory < MOST_MEMORY


def test_nothing_is_written_outside_and_nothing_of_this_machine_is_read(crawled: Crawled) -> None:
    assert not NO_FOLDER.exists()
    assert crawled.workspace.search("root") == []
