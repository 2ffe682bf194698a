"""Reads the ground truth from manuals: the terms of their own indexes, with the parts of pages that they link to.

Terms are cleaned to what a person would type; a term with several places accepts each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import unquote

from lxml import html
from lxml.html import HtmlElement

Truth = Callable[[Path], Iterator[tuple[str, str]]]
"""Yields (term, place), with `page#anchor` relative to the folder as the place; terms may repeat."""


@dataclass(slots=True)
class Question:
    """A question, the pages that answer it with grades (3: well, 2: partly, 1: a little), and the right parts."""

    text: str
    grades: dict[str, int] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    language: str = ""
    """Language of the user, empty if not given."""

    @property
    def key(self) -> tuple[str, str]:
        """Its unique key within its set."""
        return self.text, self.language


def questions(pairs: Iterator[tuple[str, str]]) -> list[Question]:
    """Group pairs by term, ignoring case, into one question each."""
    found: dict[str, Question] = {}
    for said, place in pairs:
        if term := " ".join(said.split()):
            question = found.setdefault(term.lower(), Question(term))
            page, _, anchor = unquote(place).partition("#")
            question.grades[page] = 3
            if anchor:
                question.places.add(f"{page}#{anchor}")
    return [found[term] for term in sorted(found)]


def docbook(folder: Path) -> Iterator[tuple[str, str]]:
    """Read `bookindex.html` of a DocBook manual.

    An entry below another is asked as both, `transaction isolation level`. What ends with `configuration parameter`
    is asked so and by its bare name.
    """
    for part in read(folder / "bookindex.html").cssselect("div.indexdiv > dl"):
        for term, place in definitions(part, ""):
            yield term, place
            bare, kind, rest = term.partition(" configuration parameter")
            if kind and not rest:
                yield bare, place


def definitions(part: HtmlElement, above: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of a definition list, and of nested ones."""
    entry = above
    for child in part:
        if child.tag == "dt":
            entry = f"{above} {text_before_links(child)}".strip()
            for link in child.iter("a"):
                href = link.get("href", "")
                if "indexterm" in link.get("class", "") and not href.startswith("#"):
                    yield entry, href
        elif child.tag == "dd":
            for inner in child.iterchildren("dl"):
                yield from definitions(inner, entry)


def text_before_links(element: HtmlElement) -> str:
    """Return the text of an element before its first link."""
    said = element.text or ""
    for child in element:
        if child.tag == "a":
            break
        said += child.text_content() + (child.tail or "")
    return said.strip(" ,\n")


_QUALIFIED = re.compile(r"(.*?)\s*\(([^()]+)\)\Z").match
_HOME = re.compile(
    r"(?:class )?in (?:module )?([\w.]+)\Z|([\w.]+) (?:\w+ )?(?:method|attribute|property)\Z"
).match


def sphinx(folder: Path) -> Iterator[tuple[str, str]]:
    """Read `genindex-all.html` of a Sphinx manual.

    `close() (io.IOBase method)` is asked as `close()`, which has many right places, and as `io.IOBase.close()`; an
    entry below another as both, `compile() built-in function`.
    """
    for part in read(folder / "genindex-all.html").cssselect("table.indextable td > ul"):
        for item in part.iterchildren("li"):
            entry, places = sphinx_item(item)
            name, _ = split_name(entry)
            for place in places:
                yield from sphinx_terms(entry, place)
            for inner in item.cssselect("ul > li"):
                below, places = sphinx_item(inner)
                together = f"{name} {below}"
                for place in places:
                    yield from sphinx_terms(together, place)


def sphinx_item(item: HtmlElement) -> tuple[str, list[str]]:
    """Return the text of an entry, and the targets of its links."""
    links = list(item.iterchildren("a"))
    entry = links[0].text_content() if links else item.text or ""
    return entry.strip(), [link.get("href", "") for link in links]


def split_name(entry: str) -> tuple[str, str]:
    """Split an entry into its name and the text in parentheses after it."""
    found = _QUALIFIED(entry)
    return (found[1], found[2]) if found and found[1] else (entry, "")


def sphinx_terms(entry: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield an entry as typed: without its module or class, and with it."""
    name, qualifier = split_name(entry)
    yield name, place
    if home := _HOME(qualifier):
        yield f"{home[1] or home[2]}.{name}", place


def javadoc(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the scripts for the search in a Javadoc manual.

    Asked are types (`Map.Entry`), their members with the type (`ArrayList.add`, all overloads as one; constructors
    are left out, which are the type again), and its other terms (`java.io.tmpdir`).
    """
    homes = {row["l"]: row["m"] for row in script(folder / "package-search-index.js") if "m" in row}

    def page(row: dict[str, str], name: str) -> str:
        return f"{homes[row['p']]}/{row['p'].replace('.', '/')}/{name}.html"

    for row in script(folder / "type-search-index.js"):
        if row.get("p") in homes:
            yield row["l"], page(row, row["l"])
    for row in script(folder / "member-search-index.js"):
        name = row["l"].partition("(")[0]
        if row["p"] in homes and name != row["c"].rpartition(".")[2]:
            yield f"{row['c']}.{name}", f"{page(row, row['c'])}#{row.get('u', row['l'])}"
    for row in script(folder / "tag-search-index.js"):
        yield row["l"], row["u"]


def summaries(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the summary of each type in `allclasses-index.html` of a Javadoc manual."""
    for row in read(folder / "allclasses-index.html").cssselect("div.all-classes-table.col-first"):
        link, said = next(row.iterchildren("a")), row.getnext()
        yield said.text_content(), link.get("href", "")


def script(path: Path) -> list[dict[str, str]]:
    """Return the list that a script assigns to a variable."""
    text = path.read_text(encoding="utf-8")
    rows: list[dict[str, str]] = json.JSONDecoder().raw_decode(text, text.index("["))[0]
    return rows


def directives(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the names of directives in `mod/quickreference.html` of Apache's manual."""
    for link, _ in quick_reference(folder):
        yield link.text_content().partition(" ")[0].strip("<>"), join_place(link)


def descriptions(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the one-line description of each directive on the same page."""
    for link, said in quick_reference(folder):
        yield said, join_place(link)


def translated(manual: Path, truth: Truth, language: str, *, said: bool) -> list[Question]:
    """Return the terms of one language of Apache's manual that lead to translated pages.

    With `said`, the questions have the language; else terms that are the same in English are left out.
    """
    mark = f'<html lang="{language}"'.encode()
    english = {question.text for question in questions(truth(manual / "en"))} if not said else set()
    found = []
    for question in questions(truth(manual / language)):
        grades = {
            f"{language}/{page}": grade
            for page, grade in question.grades.items()
            if mark in (manual / language / page).read_bytes()[:200]
        }
        if grades and question.text not in english:
            places = {f"{language}/{place}" for place in question.places}
            found.append(Question(question.text, grades, places, language if said else ""))
    return found


def quick_reference(folder: Path) -> Iterator[tuple[HtmlElement, str]]:
    """Yield the link of each directive, and its description."""
    link = None
    for cell in read(folder / "mod/quickreference.html").cssselect("table.qref td"):
        if "descr" in cell.get("class", ""):
            if link is not None:
                yield link, cell.text_content()
            link = None
        elif link is None:
            link = next(iter(cell.iterchildren("a")), None)


def join_place(link: HtmlElement) -> str:
    """Return the target of a link in the folder `mod`."""
    return normpath(join("mod", link.get("href", "")))


def read(path: Path) -> HtmlElement:
    """Return the parsed tree of a page."""
    return html.fromstring(path.read_bytes())


def right_anchors(page: HtmlElement, anchor: str) -> set[str]:
    """Return the anchors of hits that show the right part of a page.

    Those are the one named and those within its element. Of a mark within a line it is also that of the nearest element
    around it, and of a mark without text the first in the element behind it.
    """
    found = page.xpath("//*[@id=$anchor or @name=$anchor]", anchor=anchor)
    right = {anchor}
    for element in found[:1]:
        is_empty = not element.text_content().strip()
        paths = ["descendant::*/@id"]
        paths += ["ancestor::*[@id][1]/@id"] if is_empty or element.tag in {"a", "span"} else []
        paths += ["following-sibling::*[1]/descendant-or-self::*[@id][1]/@id"] if is_empty else []
        for path in paths:
            right.update(map(str, element.xpath(path)))
    return right
