"""Dates, numbers, charsets and languages that cannot be: whatever reads them goes on, and the document stays."""

from __future__ import annotations

import io
import json
import math
import stat
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import files
from support.tables import Base

from ultracrawl.agents.agent.crawler_agent import UrlData
from ultracrawl.agents.agent.lister import entry_of
from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.mailboxes import message_entry
from ultracrawl.agents.file.remote.s3 import _moment
from ultracrawl.agents.file.remote.s3 import _remote_file as s3_file
from ultracrawl.agents.file.remote.sftp import _remote_file as sftp_file
from ultracrawl.agents.file.remote.smb.folder import _made as smb_file
from ultracrawl.agents.file.remote.webdav import _Multistatus
from ultracrawl.agents.mail.responses import parse_fetched
from ultracrawl.agents.port import Entry
from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink, Source
from ultracrawl.content.converters.convert import convert
from ultracrawl.content.feeds.feed import parse_feed
from ultracrawl.content.feeds.sitemap import parse_sitemap
from ultracrawl.content.html.jsonld import jsonld_attributes
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.xml import read_xml
from ultracrawl.dialects.portal_robot.service.descriptions import (
    read_json_descriptions,
    read_soif_descriptions,
)
from ultracrawl.handlers.ftp.client import file_headers
from ultracrawl.model import Document
from ultracrawl.model.dates import epoch, parse_http_date
from ultracrawl.rules.attributes.mapping import AttributeMap
from ultracrawl.rules.attributes.schema import DEFAULT_ATTRIBUTES, AttributeType, SearchAttribute
from ultracrawl.rules.filters.soif import write_soif
from ultracrawl.rules.frontier.politeness.retry_after import retry_after
from ultracrawl.rules.robots.permission import expiry
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run.listing.answers import entry_headers
from ultracrawl.run.removal.expiry import expiry_of

NOW, RECEIVED = 1_772_445_600.0, 1_700_000_000.0
OWN = ("created", "modified", "date", "pages", "n")
_TYPES = {"d": AttributeType.DATE, "n": AttributeType.NUMBER}
SCHEMA = {one.name: one for one in DEFAULT_ATTRIBUTES}
SCHEMA |= {kind + name: SearchAttribute(kind + name, one) for kind, one in _TYPES.items() for name in OWN}
MAPS = [AttributeMap({name: kind + name for name in OWN}, SCHEMA) for kind in _TYPES]

KNOWN = (
    "Fri, 31 Dec 9999 23:59:59 -1200",
    "Mon, 01 Jan 0000 00:00:00 +0000",
    "Mon, 01 Jan 0001 00:00:00 +1400",
    "Thu, 01 Jan 1970 00:00:00 +0000",
    "Mon, 02 Mar 2026 10:00:00 +9999",
    "Mon, 02 Mar 2026 10:00:00 -9999999999999999999999",
    "Mon, 02 Mar 9999999999 10:00:00 +0000",
    "30 Feb 26 10:00",
    "31 Dec 99 24:60:61 PST",
    "Sun Jul 15 01:16:00 +0000 2012",
    "9999-12-31T23:59:59-12:00",
    "0000-00-00",
    "0001-01-01T00:00:00+14:00",
    "99999-01-01",
    "2024-13-45T99:99:99Z",
    "infinity",
    "0044-03-15 BC",
    "D:99991231235959-14'00'",
    "D:20240230",
    "0000:00:00 00:00:00",
    "9" * 5000,
    "-" + "9" * 400,
    "253402300800",
    "-62135596801",
    "nan",
    "-inf",
    "1e400",
    "0x10",
    "1,5",
    "1_0",
    "\u0663\u0664",
    "\u00b2",
    "-1",
    "",
    " ",
    "\0",
    "undefined",
    "idna",
    "hex",
    "utf-7",
    "unicode_escape",
    "x-user-defined",
    "a language",
    "e",
    "x" * 5000,
)
HOSTILE = st.one_of(
    st.sampled_from(KNOWN),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=40),
    st.from_regex(
        r"(Mon, )?[0-9]{1,3} (Jan|Feb|dec) [0-9]{1,6} [0-9]{1,2}(:[0-9]{1,2}){1,2}( [ap]m)?( ?[+-][0-9]{1,5}| ET)?",
        fullmatch=True,
    ),
    st.from_regex(
        r"[0-9]{1,5}-[0-9]{1,2}-[0-9]{1,2}(T[0-9:]{1,8}(\\.[0-9]+)?([+-][0-9:]{1,6}|Z)?)?", fullmatch=True
    ),
)


def mapped(**changes: Any) -> None:
    """Check that a document has its text whatever its attributes are, and that values of a type are of it."""
    document = Document(
        **{"url": "https://a.example/", "access_url": "", "source": "s", "text": "needle", **changes}
    )
    for one in MAPS:
        found = one.map(document)
        for name, values in found.values.items():
            match SCHEMA[name].type:
                case AttributeType.DATE:
                    assert all(
                        isinstance(value, datetime) and value.utcoffset() == timedelta() for value in values
                    )
                case AttributeType.NUMBER:
                    assert all(isinstance(value, float) and math.isfinite(value) for value in values)
        given_ = {name for name in OWN for value in document.attributes.get(name, ()) if value.strip()}
        told = {dropped.name for dropped in found.dropped} | {name[1:].lower() for name in found.values}
        assert given_ <= told


def converted(body: bytes, media_type: str, content_type: str = "") -> None:
    """Check that a document is converted, and what is found in it mapped."""
    sink = Sink(Budget(ConversionLimits()))
    convert(Source(body, media_type, content_type), sink)
    found = sink.conversion()
    assert "needle" in found.text
    mapped(
        language=found.language, attributes={name: list(values) for name, values in found.metadata.items()}
    )


def sent(entry: Entry) -> None:
    """Check that the document of an entry is answered with its headers."""
    modified = entry_headers(entry.access_url, entry, "v").get(b"Last-Modified", b"").decode()
    mapped(
        last_modified=modified,
        language=entry.language,
        attributes={k: list(v) for k, v in entry.attributes.items()},
    )
    parse_http_date(modified)


def line(value: str) -> str:
    """Return a value as a header can have it."""
    return "".join(one for one in value if one.isprintable())


def xml(value: str) -> str:
    """Return a value as XML can have it."""
    return escape(
        "".join(one for one in value if one.isprintable() and one not in "\ufffe\uffff"), {'"': "&quot;"}
    )


def mail(value: str) -> None:
    head = "".join(f"{name}: {line(value)}\n" for name in ("Date", "Content-Language", "From"))
    body = f"{head}Subject: s\nContent-Type: text/plain; charset={line(value)}\n\nneedle \xfc".encode(
        "latin-1", "replace"
    )
    converted(body, "message/rfc822")
    head = f"{head}Content-Type: text/plain; charset={line(value)}\nContent-Transfer-Encoding: base64\n"
    converted(f"{head}\nbmVlZGxl\n{value}".encode("latin-1", "replace"), "message/rfc822")
    converted(f"Subject: =?{line(value)}?q?{line(value)}?=\n\nneedle".encode(), "message/rfc822")
    entry = message_entry(Entry("mail://x/1", last_modified=RECEIVED), body)
    assert (
        entry.last_modified == RECEIVED
        or entry.last_modified == epoch(parse_http_date(line(value).strip())) > 0
    )
    sent(entry)


def imap(value: str) -> None:
    attributes = f'RFC822.SIZE {line(value)} INTERNALDATE "{line(value)}"'.encode("latin-1", "replace")
    good = (b"2 (UID 2 RFC822.SIZE 6 BODY[] {6}", b"needle")
    found = list(parse_fetched([(b"1 (UID 1 " + attributes + b" BODY[] {6}", b"needle"), b")", good, b")"]))
    assert [(one.uid, one.body) for one in found] == [(1, b"needle"), (2, b"needle")]
    dated = b'1 (UID 1 INTERNALDATE "%b %b:00:00 %b" BODY[] {1}'
    for day, hour, zone in ((b"31-Dec-9999", b"23", b"-9999"), (b"30-Feb-0000", b"99", b"+0000")):
        assert [one.received for one in parse_fetched([(dated % (day, hour, zone), b"x"), b")"])] == [0.0]


def headers(value: str) -> None:
    assert 0 <= retry_after(value, NOW, 60.0) <= 60
    assert b"Last-Modified" not in entry_headers("file:///a", Entry("file:///a"), "v")
    mapped(last_modified=value, language=value)
    parse_refresh(value)


def robots(value: str) -> None:
    rules = RobotsRules.parse(
        f"User-agent: *\nDisallow: /no\nCrawl-delay: {line(value)}\nRequest-rate: {line(value)}".encode()
    )
    assert rules.blocks("https://a.example/no")
    assert not rules.blocks("https://a.example/yes")


def page(value: str) -> None:
    shown = xml(value)
    body = (
        f'<html lang="{shown}"><head><meta charset="{shown}"><meta name="date" content="{shown}">'
        f'<meta name="n" content="{shown}"><meta name="robots" content="unavailable_after: {shown}">'
        f"<script type='application/ld+json'>"
        f'{{"n": {json.dumps(value)}, "m": {"9" * 5000}, "e": 1e400}}</script></head><body>needle</body></html>'
    ).encode()
    found = parse_html(body, url="https://a.example/", content_type=f"text/html; charset={line(value)}")
    assert "needle" in found.text
    expiry(found.robots)
    attributes = jsonld_attributes(body, found)
    assert attributes["jsonld.m"]
    mapped(language=found.language, attributes={**{k: list(v) for k, v in found.meta.items()}, **attributes})


def sitemap(value: str) -> None:
    entry = f"<lastmod>{xml(value)}</lastmod><changefreq>{xml(value)}</changefreq><priority>{xml(value)}</priority>"
    for tail in ("", "<!-- -->"):
        text = f"<urlset><url><loc>https://a.example/a</loc>{entry}</url>{tail}<url><loc>https://a.example/b</loc></url></urlset>"
        found = parse_sitemap(text.encode(), "https://a.example/s").urls
        assert [one.loc[-1] for one in found] == ["a", "b"]


def feed(value: str) -> None:
    fields = "".join(f"<{name}>{xml(value)}</{name}>" for name in ("pubDate", "updated", "dc:date"))
    items = (
        f"<item><link>https://a.example/a</link>{fields}</item><item><link>https://a.example/b</link></item>"
    )
    text = f"<rss xmlns:dc='d'><channel>{items}</channel></rss>"
    assert [one.url[-1] for one in parse_feed(text.encode(), "https://a.example/f").entries] == ["a", "b"]


def pdf(value: str) -> None:
    shown = "".join(one for one in line(value) if one.isascii() and one not in "()\\\\")
    body = files.pdf()
    changed = body.replace(b"D:20240301120000+01'00'", shown.encode())
    assert changed != body or shown == "D:20240301120000+01'00'"
    converted(changed, "application/pdf")


def office(value: str) -> None:
    names = ("created", "modified", "language")
    core = f"<c>{''.join(f'<{name}>{xml(value)}</{name}>' for name in names)}</c>"
    app = f"<p><Pages>{xml(value)}</Pages></p>"
    text = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>needle</w:t></w:r></w:p></w:body></w:document>"
    body = files.zipped({"word/document.xml": text, "docProps/core.xml": core, "docProps/app.xml": app})
    converted(body, "application/vnd.openxmlformats-officedocument.wordprocessingml.document")


def rich_text(value: str) -> None:
    digits = "".join(one for one in value if one in "0123456789")[:5]
    body = rf"{{\rtf1\ansi\ansicpg{digits}{{\info{{\creatim\yr9999\mo99\dy{digits[:2]}}}}}needle \u{digits} \'zz}}"
    converted(body.encode("latin-1"), "application/rtf")


def picture(value: str) -> None:
    shown = value.encode("latin-1", "replace")[:200]
    converted(
        files.image_with_iptc([((2, 120), b"needle"), ((2, 55), shown), ((2, 60), shown)]), "image/jpeg"
    )


def numbers(value: str) -> None:
    converted(
        json.dumps({"a": value, "b": "needle"}).replace('"b"', f'"n": {"9" * 5000}, "b"').encode(),
        "application/json",
    )
    converted(f"---\ndate: {line(value)}\nlang: {line(value)}\n---\nneedle".encode(), "text/markdown")


def descriptions(value: str) -> None:
    fields = {"rd-expires": [value], "n": [value], "full-text": ["needle"]}
    (found,) = read_soif_descriptions(write_soif("https://a.example/", fields))
    mapped(attributes=found.document("s").attributes)
    expiry_of(found.fields)
    (found,) = read_json_descriptions(
        io.BytesIO(json.dumps({"url": "https://a.example/", "fields": fields}).encode())
    )
    assert expiry_of(found.fields) >= 0


def web_folder(value: str) -> None:
    properties = "".join(
        f"<{name}>{xml(value)}</{name}>" for name in ("getlastmodified", "getcontentlength", "getetag")
    )
    one = f"<response><href>/a</href>{properties}</response><response><href>/b</href></response>"
    reader = _Multistatus()
    read_xml(f"<multistatus>{one}</multistatus>".encode(), reader)
    assert [path for path, _ in reader.files] == [b"/a", b"/b"]
    for _, file in reader.files:
        sent(FILES.remote_entry("davs://x/a", file))


def buckets(value: str) -> None:
    sent(FILES.remote_entry("s3://x/a", s3_file("a", {"LastModified": _moment(value), "Size": 1})))


FILES = FileEntries(SimpleNamespace(permissions=True, display_url={}))  # type: ignore[arg-type]


def file_times(value: str) -> None:
    seconds = [float(number) for number in (hash(value) * 1000, 1e10, 253402300800, 1e15, -1e15, 2**63)]
    for one in seconds:
        stat_ = SimpleNamespace(
            st_mode=stat.S_IFREG | 0o644, st_uid=0, st_gid=0, st_size=1, st_mtime=one, st_mtime_ns=0
        )
        sent(FILES.entry(b"/a", stat_))  # type: ignore[arg-type]
        attributes = SimpleNamespace(
            permissions=stat_.st_mode, size=None, mtime=int(one), owner=None, group=None, uid=None, gid=None
        )
        file = sftp_file(b"/a", attributes)  # type: ignore[arg-type]
        assert file is not None
        sent(FILES.remote_entry("sftp://x/a", file))
        mapped(last_modified=file_headers("ftp://a.example/a", int(one), -1).get("Last-Modified", ""))
    for moment in (datetime.max, datetime.min, datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))):
        sent(FILES.remote_entry("smb://x/a", smb_file(b"a", 0, 1, moment)))


def agents(value: str) -> None:
    odd = [
        value,
        10**5000,
        math.nan,
        math.inf,
        datetime.max,
        datetime.min,
        Decimal("sNaN"),
        Decimal("1e999"),
        -0.0,
    ]
    attributes = dict.fromkeys(OWN, odd)
    entry = entry_of(UrlData("https://a.example/", text="needle", language=value, attributes=attributes), "s")  # type: ignore[arg-type]
    assert entry.body == b"needle"
    sent(entry)
    for one in MAPS:
        one.typed({kind + name: odd for kind in _TYPES for name in OWN})
    sent(Entry("x:1", last_modified=float("9" * 30)))
    sent(Entry("x:1", last_modified=math.nan))
    sent(Entry("x:1", last_modified=-math.inf))


READERS = (
    mail, imap, headers, robots, page, sitemap, feed, pdf, office, rich_text, picture, numbers, descriptions,
    web_folder, buckets, file_times, agents,
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=40)
@given(value=HOSTILE)
def test_a_value_that_cannot_be_costs_no_document(reader: Callable[[str], None], value: str) -> None:
    reader(value)


def test_no_value_that_is_known_to_be_hostile_costs_a_document(subtests: pytest.Subtests) -> None:
    for reader in READERS:
        with subtests.test(reader=reader):
            for value in KNOWN:
                reader(value)


def test_rows_with_values_that_cannot_be_are_documents(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    base.run("CREATE TABLE t (id INTEGER, b TEXT, d TEXT)")
    values = [value.replace("\0", "") for value in KNOWN]
    for number, value in enumerate(values):
        base.run("INSERT INTO t VALUES (:number, 'needle', :value)", number=number, value=value)
    base.run(*(f"INSERT INTO t VALUES ({number}, 'needle', {number}e307)" for number in (1000, 1001)))
    attributes = {"d": "LastModifiedDate"}
    options = {"table": "t", "key": "id", "text": "b", "attributes": attributes}
    listed = base.entries(**options)
    assert len(listed) == len(values) + 2
    for entry in base.fetched(*(one.access_url for one in listed.values()), **options):
        assert isinstance(entry, Entry)
        assert entry.body == b"needle"
        sent(entry)


YEARS: list[tuple[str, int | None]] = [
    ("26", 2026),
    ("00", 2000),
    ("99", 1999),
    ("0000", None),
    ("0026", None),
    ("0099", None),
    ("1600", None),
    ("1601", 1601),
]


def test_a_year_of_four_digits_is_no_short_year(subtests: pytest.Subtests) -> None:
    for year, read in YEARS:
        with subtests.test(year):
            for text in (f"Mon, 01 Jan {year} 00:00:00 GMT", f"Monday, 01-Jan-{year} 00:00:00 GMT"):
                found = parse_http_date(text)
                assert (None if found is None else found.year) == read
