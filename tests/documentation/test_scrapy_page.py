"""The page about Scrapy names each component of Scrapy that is replaced."""

import pytest
from support.project import ROOT

from ultracrawl.settings.presets import REPLACED_COMPONENTS

PAGE = (ROOT / "docs" / "scrapy.md").read_text(encoding="utf-8")
REPLACED = PAGE[PAGE.index("## What we replace") : PAGE.index("## Ways to start")]


def test_what_is_replaced_stands_at_the_head(subtests: pytest.Subtests) -> None:
    for component in sorted({one for all_ in REPLACED_COMPONENTS.values() for one in all_}):
        with subtests.test(component):
            assert f"`{component.rpartition('.')[2]}`" in REPLACED
