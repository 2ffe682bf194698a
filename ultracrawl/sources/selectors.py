"""Values of options that select elements of pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator

from ultracrawl.content.html.selection import SelectorError, css_pick, xpath_pick
from ultracrawl.sources.mistakes import mistake


def _selector(
    pick: Callable[[str, str], object], example: str, *, may_be_empty: bool = False
) -> AfterValidator:
    def check(selector: str) -> str:
        if may_be_empty and not selector:
            return selector
        try:
            pick("", selector)
        except SelectorError as error:
            raise mistake(str(error), f"write for example {example}") from None
        return selector

    return AfterValidator(check)


CssSelector = Annotated[str, _selector(css_pick, "`.price` or `meta[name=sku]`")]
CssSelectorOrNone = Annotated[str, _selector(css_pick, "`.docs h1`, or `''` for none", may_be_empty=True)]
XPath = Annotated[str, _selector(xpath_pick, "`//span[@id='sku']/text()`")]
