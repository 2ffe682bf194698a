"""Published cases of declared encodings; equal text counts as equal (ASCII is the same in all of them)."""

import base64
import json
from pathlib import Path

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.charset.encodings import codec_of

CASES = Path(__file__).parent / "tables" / "charset_declared.jsonl"
DIFFERENCES = {
    "h5-81": "UTF-8 that calls itself EUC-JP is read as what it is",
    "jsdom-126": "invalid UTF-8 without any declaration is read as windows-1252, not refused",
}


def test_charset_suite_differs_only_where_listed() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) > 130
    assert {case["id"] for case in cases if not _as_published(case)} == set(DIFFERENCES)


def _as_published(case: dict[str, str]) -> bool:
    body = base64.b64decode(case["b64"])
    header = f"text/html; charset={case['transport']}" if case["transport"] else ""
    text, codec = decode(body, header)
    expected = codec_of(case["expected"])
    return codec == expected or text == body.decode(expected, "replace").removeprefix("\ufeff")
