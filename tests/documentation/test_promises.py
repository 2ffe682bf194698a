"""What the last release promised is still there, or the changelog tells of its end."""

from __future__ import annotations

import re
from pathlib import Path

import promises
import pytest
from support.project import ROOT

from ultracrawl import __version__

CHANGELOG = """# Changelog

A `told.everywhere` is nothing.

## [Unreleased]

### Added
- `option.new`, beside `option.old`.

### Removed
- `option.gone`, and the verb `ultracrawl gone`; `ultracrawl.Searcher.count(where)`, `GET /api/v1/gone`.

## [0.1.0]

### Removed
- `option.before`
"""


ENDS: list[tuple[str, bool]] = [
    ("option.gone", True),
    ("option.gone.part", True),
    ("option.gone_too", False),
    ("option.old", False),
    ("option.before", False),
    ("told.everywhere", False),
    ("ultracrawl gone --force", True),
    ("ultracrawl gone-too", False),
    ("ultracrawl.Searcher.count(where)", True),
    ("ultracrawl.Searcher.count", False),
    ("ultracrawl.Searcher.count(filters)", False),
    ("GET /api/v1/gone?q", True),
    ("GET /api/v1/gone/more", False),
]


def test_an_end_needs_its_line_about_the_coming_release(subtests: pytest.Subtests) -> None:
    for line, is_told in ENDS:
        with subtests.test(line):
            assert promises.gone([line, "stays"], ["stays", "new"], CHANGELOG) == ([] if is_told else [line])


def test_nothing_ends_untold(capsys: pytest.CaptureFixture[str]) -> None:
    """Write the list with a release: `python tools/promises.py --release`."""
    code = promises.main([])
    assert (code, capsys.readouterr().out) == (0, "")


def test_the_list_is_that_of_the_last_release() -> None:
    released = re.findall(r"^## \[(\d[^\]]*)\]", promises.CHANGELOG.read_text(), re.MULTILINE)
    version, before = promises.last_release()
    assert version == (released[0] if released else __version__)
    for one in ("ultracrawl.crawl(where)", "boundary.paths", "ultracrawl crawl --jobs", "ultracrawl.engines"):
        assert one in before
    assert {"GET /api/v1/search?q", "GET /api/v1/search", "Urls.next"} <= set(before)


def test_a_release_writes_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "LIST", tmp_path / "last_release.txt")
    assert promises.main(["--release"]) == 0
    assert promises.last_release() == (__version__, promises.promised())


def test_groups_of_plugins_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(ultracrawl\.\w+)` \|", page, re.MULTILINE))
    assert listed == set(promises.plugin_groups())
