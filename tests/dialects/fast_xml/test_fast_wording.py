"""What is said about XML files: with a code, at the right line, and without words of YAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.fast import fast_xml
from support.sentences import sentence

from ultracrawl.dialects.fast_xml.options import OPTIONS
from ultracrawl.dialects.fast_xml.wording import in_xml_terms
from ultracrawl.model import Finding
from ultracrawl.sources import DataSource
from ultracrawl.sources.dialects import read_definitions

START: dict[str, Any] = {"start_uris": ("http://a.example/",)}
CODED = re.compile(r"[EN]-[A-Z]+: ")
YAML = re.compile(r"`[a-z_.]+: |[\[{]")
QUOTED = re.compile(r"`([a-z_]+):?`")
OF_YAML = {"sources", *DataSource.model_fields} - {spec.name for spec in OPTIONS.all}
"""Names that mean nothing in XML."""

WRONG: dict[str, dict[str, Any]] = {
    "clusters": {**START, "site_clusters/shop": ("a b",)},
    "clusters, empty": {**START, "site_clusters/shop": ()},
    "language": {**START, "focused/languages": ("klingonish",)},
    "host rule": {**START, "include_domains/exact": ("http://b.example/",)},
    "expression": {**START, "include_uris/regexp": ("([",)},
    "look-around": {**START, "include_uris/regexp": ("(?=h)http://a.+",)},
    "rule file": {**START, "include_domains/file": ("none.txt",)},
    "password": {**START, "passwd/http://a.example/": "alone"},
    "proxy": {**START, "proxy": (":::",)},
    "account": {**START, "ftp_acct/x y": "u:p"},
    "span": {**START, "variable_delay/Mon-Tue": "5"},
    "action": {**START, "http_errors/404": "DROP"},
    "payload": {**START, "post_payload/nonsense": "a=b"},
    "scheme": {"start_uris": ("gopher://a.example/",)},
    "outside": {**START, "include_domains/exact": ("b.example",)},
    "no start": {},
    "feed": {**START, "rss/start_uris": ("nonsense",)},
    "path": {**START, "rewrite_rules": ("@a(@b@",)},
    "secret header": {**START, "headers": ("Cookie: a=b",)},
}
FILES = {"empty": b"", "blank": b"\n \n", "text": b"Some text.\n", "mark": b"\xef\xbb\xbf"}
"""What files of XML may hold that were not written, or by mistake."""


def test_each_finding_has_a_code_and_no_yaml(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for case, row in WRONG.items():
        with subtests.test(case):
            (tmp_path / "collection.xml").write_text(fast_xml(row))
            findings = read_definitions(tmp_path / "collection.xml").findings
            assert findings
            for finding in findings:
                assert CODED.match(finding.problem), finding
                assert finding.fatal is (finding.problem[0] == "E") or "N-NOSTART" in finding.problem
                assert not YAML.search(finding.instead), finding
                assert not OF_YAML.intersection(QUOTED.findall(finding.instead)), finding


@pytest.mark.parametrize("case", FILES)
def test_a_file_without_xml_has_a_finding_without_words_of_yaml(tmp_path: Path, case: str) -> None:
    (tmp_path / "collection.xml").write_bytes(FILES[case])
    loaded = read_definitions(tmp_path / "collection.xml")
    assert loaded.project is None
    (finding,) = loaded.findings
    assert finding.problem.startswith("E-XML: ")
    assert not OF_YAML.intersection(QUOTED.findall(finding.instead))


@pytest.mark.parametrize(
    ("key", "instead", "expected"),
    [
        ("t/site_clusters/shop", "write for example `clusters: {shop: [a]}`", sentence("fast.write_example_member")),
        ("t/delay", "write `delay: 5`", "write for example `"),
        (
            "t/start_uris",
            sentence("fast.write_url_one_boundary_schemes"), sentence("fast.write_url_one_allowed_schemes"),
        ),
        ("t/club", "raise `limits.url_length`", sentence("fast.correct_remove")),
        ("t/club", "write `page: https://a.example/`", sentence("fast.correct_remove")),
        ("t/delay", "write `60`", "write `60`"),
    ],
)  # fmt: skip
def test_advice_names_what_xml_has(key: str, instead: str, expected: str) -> None:
    assert in_xml_terms(Finding("c.xml", 3, key, "is wrong", instead)).instead.startswith(expected)


@pytest.mark.parametrize(
    ("content", "options"),
    [("", {}), ("nonsense\n", {}), ("nonsense\n", START)],
    ids=["empty", "not URIs", "not URIs, beside start URIs"],
)
def test_what_is_wrong_with_listed_start_uris_stands_at_their_line(
    tmp_path: Path, content: str, options: dict[str, Any]
) -> None:
    (tmp_path / "seeds.txt").write_text(content)
    path = tmp_path / "collection.xml"
    path.write_text(fast_xml({**options, "info": "x", "start_uri_files": ("seeds.txt",)}))
    found = [finding for finding in read_definitions(path).findings if finding.file == str(path)]
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "start_uri_files" in text)
    assert found
    assert {finding.line - line for finding in found} <= {0, 1}
    assert {finding.key for finding in found} == {"handbook/start_uri_files"}
