"""The selectors of a scraper: which elements of a page are headings of which level, and which are text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ultracrawl.content.html.selection import SelectorError, css_pick, xpath_pick
from ultracrawl.dataclass import dataclass
from ultracrawl.dialects.docsearch.notes import Notes
from ultracrawl.dialects.docsearch.start_urls import DEFAULT_SELECTORS
from ultracrawl.dialects.docsearch.xpath import css_of
from ultracrawl.model.page import SECTION_LEVELS
from ultracrawl.sources.mistakes import format_value
from ultracrawl.sources.reading.tree import Data, OptionPath

LEVELS = tuple(f"lvl{level}" for level in range(SECTION_LEVELS))
TEXT = "text"
_TEXTS = (TEXT, "content")
_KEYS = ("selector", "type", "global", "default_value", "strip_chars", "attributes", "searchable")


@dataclass(frozen=True, slots=True)
class Selector:
    """The elements of one level, or of another attribute of a page."""

    path: OptionPath
    text: str
    is_xpath: bool = False
    whole_page: bool = False
    """It is the same for all parts of a page."""
    default: str = ""
    strip: str | None = None

    def rule(self, strip: str) -> dict[str, Data] | None:
        """Return it as a rule of `extract`; None if there is nothing to extract.

        Headings are no attribute of the page: of them it has what stands for missing ones.
        """
        if not self.text or not self.whole_page:
            return {"constant": self.default} if self.default else None
        rule: dict[str, Data] = {"xpath" if self.is_xpath else "css": self.text}
        if self.default:
            rule["default"] = self.default
        if own := strip if self.strip is None else self.strip:
            rule["strip"] = own
        return rule


@dataclass(frozen=True, slots=True)
class SelectorSet:
    """The selectors for some of the pages."""

    named: Mapping[str, Selector]
    """By level, by `text`, or by the name of an attribute."""

    def levels(self, least: int = 0) -> list[Selector]:
        """Return the selectors of headings from a level on, the highest first."""
        return [one for one in self.places()[least:] if one is not None]

    def places(self) -> list[Selector | None]:
        """Return the selectors of headings by level, None for those without headings."""
        found = [
            one if one and one.text and not one.whole_page else None for one in map(self.named.get, LEVELS)
        ]
        while found and found[-1] is None:
            del found[-1]
        return found

    @property
    def text(self) -> list[Selector]:
        """The selector of texts."""
        text = self.named.get(TEXT)
        return [text] if text is not None and text.text else []

    def attributes(self) -> Iterator[tuple[str, Selector]]:
        """Yield what becomes an attribute of a page: levels of the whole page or with a default, and other names."""
        for name, selector in self.named.items():
            if name != TEXT and (selector.whole_page or selector.default or name not in LEVELS):
                yield name, selector


def read_selectors(written: Data, notes: Notes) -> dict[str, SelectorSet]:
    """Return the sets of selectors by their key."""
    path: OptionPath = ("selectors",)
    if not isinstance(written, dict) or not written:
        notes.mistake(
            path, "there are no selectors", 'write them, as `"selectors": {"lvl0": "h1", "text": "p"}`'
        )
        return {}
    if _is_set(written):
        return {DEFAULT_SELECTORS: _read_set(written, path, notes)}
    return {
        key: _read_set(members, (*path, key), notes)
        for key, members in written.items()
        if isinstance(members, dict)
    }


def is_selector(text: str, path: OptionPath, notes: Notes, *, is_xpath: bool = False) -> bool:
    """Return whether a text is a CSS selector, or an XPath expression; if not, it is a finding."""
    pick, example = (xpath_pick, "//nav//a[@class='active']") if is_xpath else (css_pick, ".docs h1")
    try:
        pick("", text)
    except SelectorError as error:
        notes.mistake(path, str(error), f"write for example `{example}`")
        return False
    return True


def _is_set(written: Mapping[str, Data]) -> bool:
    return not {*LEVELS, *_TEXTS}.isdisjoint(written)


def _read_set(written: Mapping[str, Data], path: OptionPath, notes: Notes) -> SelectorSet:
    named: dict[str, Selector] = {}
    for key, value in written.items():
        selector = _read(value, (*path, key), notes, is_part=key in (*LEVELS, *_TEXTS))
        if selector is not None:
            named[TEXT if key in _TEXTS else key.lower()] = selector
    return SelectorSet(named)


def _read(value: Data, path: OptionPath, notes: Notes, *, is_part: bool) -> Selector | None:
    if value is None or value == "":
        return None
    options: Mapping[str, Data] = value if isinstance(value, dict) else {"selector": value}
    notes.unknown_keys(options, _KEYS, path)
    text = options.get("selector") or ""
    if not isinstance(text, str):
        notes.mistake(path, f"{format_value(text)} is no selector", "write a CSS selector, as `.docs h1`")
        return None
    if "attributes" in options:
        notes.hint((*path, "attributes"), "has no effect here: a heading has one text")
    whole_page = notes.flag(options, (*path, "global")) or not is_part
    is_xpath = options.get("type") == "xpath"
    if options.get("type") not in (None, "css", "xpath"):
        notes.mistake((*path, "type"), "is neither `css` nor `xpath`", "write one of them")
    if is_xpath and not whole_page:
        translated = css_of(text)
        if translated is not None:
            text, is_xpath = translated, False
        elif path[-1] in LEVELS:
            whole_page = True
            problem = "is read as if it was `global`, since this XPath has no place in the order of a page"
            notes.hint(path, problem, "write a CSS selector, or `global: true`")
        else:
            problem = "this XPath cannot be compared with the order of a page"
            notes.mistake(path, problem, "write a CSS selector")
            return None
    if text and not is_selector(text, path, notes, is_xpath=is_xpath):
        return None
    default, strip = options.get("default_value"), options.get("strip_chars")
    return Selector(
        path,
        text.strip(),
        is_xpath,
        whole_page,
        "" if default is None else str(default),
        None if strip is None else notes.text(strip, (*path, "strip_chars")),
    )
