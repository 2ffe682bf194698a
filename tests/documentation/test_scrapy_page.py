"""The page about Scrapy names each component of Scrapy that is replaced."""

import pytest
from support.project import ROOT

from ultracrawl.settings.presets import REPLACED_COMPONENTS

PAGE = (ROOT / "docs" / "scrapy.md").read_text(encoding="utf-8")
REPLACED = PAGE[PAGE.index("## What we replace") : PAGE.index("## Ways to start")]


@pytest.mark.parametrize("component", sorted({one for all_ in REPLACED_COMPONENTS.values() for one in all_}))
def test_what_is_replaced_stands_at_the_head(component: str) -> None:
    assert f"`{component.rpartition('.')[2]}`" in REPLACED
