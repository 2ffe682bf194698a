"""Extraction of named values from HTML pages by CSS selector or XPath (`extract` in definitions)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from ultracrawl.dataclass import dataclass, replace

if TYPE_CHECKING:
    from lxml.etree import XPath

_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
_VARIABLE = re.compile(r"\$\s*[\w.-]+")
_PREFIX = re.compile(r"(?<![\w.:-])(\w[\w.-]*):(?!:)(?=[\w*])")
_CALL = re.compile(r"(?<![\w.:$-])(\w[\w.-]*)\s*\(")
_FUNCTIONS = frozenset(
    re.findall(
        r"\S+",
        "last position count id local-name namespace-uri name string concat starts-with contains "
        "substring-before substring-after substring string-length normalize-space translate boolean not true "
        "false lang number sum floor ceiling round comment text processing-instruction node and or mod div ",
    )
)
"""Functions and node tests of XPath 1.0, and its operators, which may precede a parenthesis."""

MOST_VALUES = 1000
"""Maximum values of one selector in one page."""


class SelectorError(ValueError):
    """An invalid selector; the text names the error."""


@dataclass(frozen=True, slots=True)
class CssPick:
    """Extracts the text, or the value of an attribute, of each element that matches a CSS selector."""

    name: str
    selector: str
    attribute: str = ""
    applies: Callable[[str], bool] | None = None
    """Decides by the URL whether the rule applies to a page; None for all pages."""
    default: str = ""
    """The value for pages without one; empty for none."""
    strip: str = ""
    """Characters that are removed at both ends of the values."""

    def values(self, tree: LexborHTMLParser) -> list[str]:
        """Return the non-empty values in document order, with white space folded."""
        nodes = tree.css(self.selector)[:MOST_VALUES]
        if self.attribute:
            return _folded(node.attributes.get(self.attribute) or "" for node in nodes)
        return _folded(node.text(separator=" ") for node in nodes)


@dataclass(frozen=True, slots=True)
class XPathPick:
    """Extracts the result of an XPath 1.0 expression: elements (their text), attributes, texts or a single value."""

    name: str
    expression: XPath
    applies: Callable[[str], bool] | None = None
    default: str = ""
    strip: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the source of the expression, because compiled ones cannot be pickled."""
        return _unpickled, (self.name, self.expression.path, self.applies, self.default, self.strip)

    def values(self, body: bytes) -> list[str]:
        """Return the values for a page in UTF-8; an expression that fails on a page has none."""
        from lxml import etree, html  # noqa: PLC0415 - only sources with XPath rules load it

        parser = html.HTMLParser(encoding="utf-8", no_network=True)
        try:
            result = self.expression(html.document_fromstring(body, parser=parser))
        except (etree.LxmlError, ValueError):
            return []
        matches = result if isinstance(result, list) else [result]
        return _folded(
            "".join(match.itertext()) if isinstance(match, etree._Element) else _single(match)
            for match in matches[:MOST_VALUES]
        )


def _single(value: object) -> str:
    """Return a string, number or boolean as XPath formats it: `3` and `true`."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def css_pick(
    name: str, selector: str, attribute: str = "", applies: Callable[[str], bool] | None = None
) -> CssPick:
    """Create a CSS rule. Raises `SelectorError`."""
    try:
        LexborHTMLParser("<p></p>").css(selector)
    except SelectolaxError:
        raise SelectorError(f"`{selector}` is no CSS selector") from None
    return CssPick(name, selector, attribute.lower(), applies)


def xpath_pick(name: str, expression: str, applies: Callable[[str], bool] | None = None) -> XPathPick:
    """Create an XPath rule. Raises `SelectorError`."""
    from lxml import etree  # noqa: PLC0415 - only sources with XPath rules load it

    try:
        compiled = etree.XPath(expression)
        problem = _unknown_name(expression)
        if not problem:
            compiled(etree.fromstring("<html/>"))
    except etree.XPathError as error:
        problem = str(error)
    if problem:
        raise SelectorError(f"`{expression}` is no XPath 1.0 expression ({problem})")
    return XPathPick(name, compiled, applies)


def _unpickled(
    name: str, expression: str, applies: Callable[[str], bool] | None, default: str, strip: str
) -> XPathPick:
    return replace(xpath_pick(name, expression, applies), default=default, strip=strip)


def _unknown_name(expression: str) -> str:
    """Return which name in an XPath expression has no meaning; empty if all have one.

    The parser finds such names only when it evaluates the part of the expression that has them.
    """
    code = _LITERAL.sub("''", expression)
    if variable := _VARIABLE.search(code):
        return f"there is no variable {variable[0]}"
    if prefix := next((one for one in _PREFIX.findall(code) if one != "xml"), ""):
        return f"there is no namespace prefix {prefix}:"
    unknown = next((one for one in _CALL.findall(code) if one not in _FUNCTIONS), "")
    return f"there is no function {unknown}()" if unknown else ""


@dataclass(frozen=True, slots=True)
class PagePicks:
    """All extraction rules of a source."""

    picks: tuple[CssPick | XPathPick, ...]

    def values(self, url: str, body: bytes) -> dict[str, list[str]]:
        """Return the extracted values by name; `body` is in UTF-8."""
        extracted: dict[str, list[str]] = {}
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
            if pick.strip:
                values = [kept for value in values if (kept := value.strip(pick.strip).strip())]
            if not values and pick.default:
                values = [pick.default]
            if values:
                extracted.setdefault(pick.name, []).extend(values)
        return extracted


def _folded(texts: Iterable[str]) -> list[str]:
    folded = (" ".join(text.split()) for text in texts)
    return [text for text in folded if text]
