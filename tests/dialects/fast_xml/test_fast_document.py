"""Hostile and broken XML is refused, with a line; nothing is replaced, fetched or built without bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.fast import fast_xml
from support.sentences import sentence
from support.until import bounded

from ultracrawl.dialects.fast_xml import reader
from ultracrawl.dialects.fast_xml.document import MAX_DEPTH, parse_document
from ultracrawl.sources import Loaded
from ultracrawl.sources.dialects import read_definitions

START = {"start_uris": ("http://a.example/",)}


def load(folder: Path, text: str | bytes) -> Loaded:
    file = folder / "collection.xml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_definitions(file)


def laughs() -> str:
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    return f"<!DOCTYPE CrawlerConfig [{entities}]>\n<CrawlerConfig>&a11;</CrawlerConfig>"


REFUSED = {
    "billion laughs": (laughs(), "declares a document type", 1),
    "external DTD": (
        '<!DOCTYPE CrawlerConfig SYSTEM "http://a.example/x.dtd">\n<CrawlerConfig/>',
        "declares a document type",
        1,
    ),
    "external entity": (
        '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<CrawlerConfig>&e;'
        "</CrawlerConfig>",
        "declares a document type",
        2,
    ),
    "parameter entity": (
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://a.example/p">%p;]><CrawlerConfig/>',
        "document type",
        1,
    ),
    "unknown entity": ("<CrawlerConfig>\n&nbsp;</CrawlerConfig>", "undefined entity", 2),
    "depth": (
        "<CrawlerConfig>" + "<section>\n" * 100_000,
        f"more than {MAX_DEPTH} elements inside each other",
        MAX_DEPTH,
    ),
    "not closed": ("<CrawlerConfig>\n<DomainSpecification name='a'>\n", "no element found", 3),
    "fast_7_1-misspelt end tag": (
        "<CrawlerConfig>\n<DomainSpecification name='a'>\n</DomainSpecificaton></CrawlerConfig>",
        "mismatched tag",
        3,
    ),
    "two roots": ("<CrawlerConfig/>\n<CrawlerConfig/>", "junk after document element", 2),
    "unknown encoding": ('<?xml version="1.0" encoding="x-none"?><CrawlerConfig/>', "encoding", 1),
    "encoding of no text": ('<?xml version="1.0" encoding="zip"?><CrawlerConfig/>', "encoding", 1),
    "bytes of another encoding": (
        b'<?xml version="1.0" encoding="Shift_JIS"?>\n<CrawlerConfig>\n\xe9\x20</CrawlerConfig>',
        sentence("fast.bytes_not_shift_jis"),
        3,
    ),
    "control character": (f"<CrawlerConfig>\n{chr(1)}</CrawlerConfig>", "not well-formed", 2),
    "another root": ("<html>\n<body/></html>", sentence("fast.root_element_html"), 1),
}


def test_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (text, problem, line) in REFUSED.items():
        with subtests.test(name):
            with bounded():
                loaded = load(tmp_path, text)
            assert loaded.project is None
            (finding,) = loaded.findings
            assert problem in finding.problem
            assert finding.problem.startswith(("E-XML", "E-ROOT"))
            assert (finding.line, finding.fatal) == (line, True)


def test_bytes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 100)
    (finding,) = load(tmp_path, fast_xml(START)).findings
    assert "larger than" in finding.problem


def test_elements_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ultracrawl.dialects.fast_xml.document.MAX_ELEMENTS", 3)
    (finding,) = load(tmp_path, fast_xml(START)).findings
    assert "has more than 3 elements" in finding.problem


ENCODINGS = {
    "UTF-8 without a declaration": (None, "utf-8", b""),
    "byte-order mark": (None, "utf-8", b"\xef\xbb\xbf"),
    "UTF-16": ("utf-16", "utf-16", b""),
    "Latin 1": ("iso-8859-1", "iso-8859-1", b""),
    "Windows": ("windows-1252", "windows-1252", b""),
    "UTF-8 by another name": ("UTF8", "utf-8", b""),
    "a character set of several bytes": ("GB18030", "gb18030", b""),
}


@pytest.mark.parametrize(("declared", "encoding", "mark"), ENCODINGS.values(), ids=ENCODINGS)
def test_encodings__fast_2_idn(tmp_path: Path, declared: str | None, encoding: str, mark: bytes) -> None:
    text = fast_xml({"start_uris": ("http://bücher.example/",)}).partition("\n")[2]
    head = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    loaded = load(tmp_path, mark + (head + text).encode(encoding))
    assert loaded.project, [str(finding) for finding in loaded.findings]
    assert loaded.project.sources["handbook"].start_urls == ("http://bücher.example/",)


@pytest.mark.parametrize("encoding", ["Shift_JIS", "EUC-JP", "ISO-2022-JP"])
def test_japanese_encodings(tmp_path: Path, encoding: str) -> None:
    text = fast_xml({"start_uris": ("http://a.example/手引き",), "info": "社内の手引き"})
    declared = text.replace('encoding="utf-8"', f'encoding="{encoding}"')
    loaded = load(tmp_path, declared.encode(encoding))
    assert loaded.project, [str(finding) for finding in loaded.findings]
    assert loaded.project.sources["handbook"].start_urls == ("http://a.example/手引き",)


@pytest.mark.skipif("COVERAGE_RUN" in os.environ, reason="measuring branches takes as long as reading")
def test_five_megabytes_are_read(tmp_path: Path) -> None:
    members = tuple(f"host{number}.some-longer-name.example.com" for number in range(60_000))
    text = fast_xml({**START, "include_domains/exact": ("a.example", *members)})
    text = text.replace("\n  <member>", "\n                          <member>")
    assert len(text) > 4_900_000
    with bounded():
        loaded = load(tmp_path, text)
    assert loaded.project
    assert loaded.findings == ()
    assert len(loaded.project.sources["handbook"].boundary.domains.include) == 60_001


def test_comments_and_instructions_stand_anywhere() -> None:
    root = parse_document(b"<!-- a --><?x y?><CrawlerConfig><!-- b -->\n<a>x<!-- c -->y</a></CrawlerConfig>")
    assert [(one.name, one.line, one.text) for one in root.children] == [("a", 2, "xy")]


def test_guesses_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file full of unknown names is read without looking for a similar one for each."""
    asked: list[object] = []
    monkeypatch.setattr(
        "ultracrawl.dialects.fast_xml.grammar.closest_match", lambda name, _known: asked.append(name)
    )
    unknown = "".join(f'<attrib name="delax{number}" type="real">1</attrib>' for number in range(1000))
    assert len(load(tmp_path, fast_xml(START, inside=unknown)).findings) == 1000
    assert len(asked) == 200
