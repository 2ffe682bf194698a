"""What the filters of a source count: what is fetched, not what is denied (portal robot checklist 60)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.sources.sections.scope.filters import FiltersSection

BOTH = """<Filter name="{name}">
   MetaData fn=filter-by-prefix src=host deny=other
   MetaData fn=filter-by-max src={source} value=2
</Filter>
"""
URLS = (
    "http://a/1",
    "http://other1/",
    "http://other2/",
    "http://other3/",
    "http://b/2",
    "http://c/3",
    "http://a/4",
)
ALLOWED = {
    "portal_robot_60-hosts": ("hosts", ["http://a/1", "http://b/2", "http://a/4"]),
    "portal_robot_60-objects": ("objects", ["http://a/1", "http://b/2"]),
}


@pytest.mark.parametrize(("source", "allowed"), ALLOWED.values(), ids=ALLOWED)
def test_what_is_denied_is_not_counted(tmp_path: Path, source: str, allowed: list[str]) -> None:
    file = tmp_path / "filter.conf"
    file.write_text("".join(BOTH.format(name=name, source=source) for name in ("e", "g")))
    section = FiltersSection(file=file, enumeration="e", generation="g", instance=tmp_path)
    filtering = Filtering(section, lambda: 0.0)
    filtering.start()
    assert [url for url in URLS if not filtering.judge(url, 0).denied] == allowed
    filtering.start()
    assert not filtering.judge("http://c/3", 0).denied, "the next run counts anew"
