"""The file of the search box: small, and without anything that a strict policy forbids."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files

import pytest

BODY = files("ultracrawl.service.pages").joinpath("static/box.js").read_bytes()
MOST = 12 * 1024


def test_it_is_small() -> None:
    assert len(gzip.compress(BODY, mtime=0)) < MOST


@pytest.mark.parametrize(
    "forbidden",
    [r"innerHTML", r"outerHTML", r"insertAdjacentHTML", r"document\.write", r"\beval\b", r"new Function",
     r"\.style\s*=", r"https?://(?!www\.w3\.org/2000/svg)", r"\bimport\b"],
)  # fmt: skip
def test_it_makes_no_html_and_loads_nothing(forbidden: str) -> None:
    assert re.search(forbidden, BODY.decode()) is None
