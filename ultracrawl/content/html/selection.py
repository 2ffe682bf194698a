"""Parts of HTML pages that a definition asks for by CSS selector or XPath, as texts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

if TYPE_CHECKING:
    from lxml.etree import XPath

MOST_VALUES = 1000
"""Values that one selector takes from one page."""


class SelectorError(ValueError):
    """A selector that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class CssPick:
    """The text of each element that a selector finds, or the value of one of its attributes."""

    name: str
    selector: str
    attribute: str = ""
    applies: Callable[[str], bool] | None = None
    """Tells by the URL whether a page is looked at; None: every page."""

    def values(self, tree: LexborHTMLParser) -> list[str]:
        """Return the values in document order, white space folded, without empty ones."""
        nodes = tree.css(self.selector)[:MOST_VALUES]
        if self.attribute:
            return _folded(node.attributes.get(self.attribute) or "" for node in nodes)
        return _folded(node.text(separator=" ") for node in nodes)


@dataclass(frozen=True, slots=True)
class XPathPick:
    """What an XPath 1.0 expression finds: elements (their text), attributes, texts or a single value."""

    name: str
    expression: XPath
    applies: Callable[[str], bool] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Return how another process makes the same rule; compiled expressions stay where they are."""
        return xpath_pick, (self.name, self.expression.path, self.applies)

    def values(self, body: bytes) -> list[str]:
        """Return the values for a page in UTF-8; an expression that fails on a page gives none."""
        from lxml import etree, html  # noqa: PLC0415 - only sources with XPath rules load it

        parser = html.HTMLParser(encoding="utf-8", no_network=True)
        try:
            found = self.expression(html.document_fromstring(body, parser=parser))
        except (etree.LxmlError, ValueError):
            return []
        listed = found if isinstance(found, list) else [found]
        return _folded(
            "".join(one.itertext()) if isinstance(one, etree._Element) else _single(one)
            for one in listed[:MOST_VALUES]
        )


def _single(value: object) -> str:
    """Return a text, number or truth value as XPath writes it: `3` and `true`."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def css_pick(
    name: str, selector: str, attribute: str = "", applies: Callable[[str], bool] | None = None
) -> CssPick:
    """Return a checked CSS rule. Raises `SelectorError`."""
    try:
        LexborHTMLParser("<p></p>").css(selector)
    except SelectolaxError:
        raise SelectorError(f"`{selector}` is no CSS selector") from None
    return CssPick(name, selector, attribute.lower(), applies)


def xpath_pick(name: str, expression: str, applies: Callable[[str], bool] | None = None) -> XPathPick:
    """Return a checked XPath rule. Raises `SelectorError`."""
    from lxml import etree  # noqa: PLC0415 - only sources with XPath rules load it

    try:
        return XPathPick(name, etree.XPath(expression), applies)
    except etree.XPathError as error:
        raise SelectorError(f"`{expression}` is no XPath 1.0 expression ({error})") from None


@dataclass(frozen=True, slots=True)
class PagePicks:
    """All rules of a source that look into the elements of a page."""

    picks: tuple[CssPick | XPathPick, ...]

    def values(self, url: str, body: bytes) -> dict[str, list[str]]:
        """Return what is found in a page by name; `body` is in UTF-8."""
        found: dict[str, list[str]] = {}
        tree: LexborHTMLParser | None = None
        for pick in self.picks:
            if pick.applies is not None and not pick.applies(url):
                continue
            if isinstance(pick, CssPick):
                if tree is None:
                    tree = LexborHTMLParser(body)
                values = pick.values(tree)
            else:
                values = pick.values(body)
            if values:
                found.setdefault(pick.name, []).extend(values)
        return found


def _folded(texts: Iterable[str]) -> list[str]:
    folded = (" ".join(text.split()) for text in texts)
    return [text for text in folded if text]
