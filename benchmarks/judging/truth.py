"""Reads the ground truth from manuals: the terms of their own indexes, with the parts of pages that they link to.

Terms are cleaned to what a person would type; a term with several places accepts each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from posixpath import join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from lxml import etree, html
from lxml.html import HtmlElement

Truth = Callable[[Path], Iterator[tuple[str, str]]]
"""Yields (term, place), with `page#anchor` relative to the folder as the place; terms may repeat."""


class Name(NamedTuple):
    """A name of an author's index with the name of what it belongs to, and the place that documents it."""

    qualifier: str
    """`java.util.HashMap`; empty if the two are never joined."""
    separator: str
    name: str
    place: str
    spoken: str
    """The qualifier that a person types as a word before the name: `HashMap entrySet`, `sysctl swappiness`."""


Names = Callable[[Path], Iterator[Name]]


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


def docbook_names(folder: Path) -> Iterator[Name]:
    """Read the configuration parameters of PostgreSQL, and the relations of its catalog, from `bookindex.html`."""
    for term, place in docbook(folder):
        name, kind, _ = term.partition(" configuration parameter")
        if kind and _IDENTIFIER(name):
            yield Name("", "", name, place, "postgresql.conf")
        elif term.startswith("pg_") and _IDENTIFIER(term) and place.startswith(("catalog-", "view-")):
            yield Name("pg_catalog", ".", term, place, "pg_catalog")


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
_IDENTIFIER = re.compile(r"[^\W\d]\w*\Z").match
_HOME = re.compile(
    r"(?:class )?in (?:module )?([\w.]+)\Z|([\w.]+) (?:\w+ )?(?:method|attribute|property)\Z"
).match


def sphinx(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the index of a Sphinx manual.

    `close() (io.IOBase method)` is asked as `close()`, which has many right places, and as `io.IOBase.close()`; an
    entry below another as both, `compile() built-in function`.
    """
    for entry, place in sphinx_entries(folder):
        yield from sphinx_terms(entry, place)


def sphinx_names(folder: Path) -> Iterator[Name]:
    """Read the members of modules and classes from the index of a Sphinx manual."""
    for entry, place in sphinx_entries(folder):
        name, qualifier = split_name(entry)
        found = _HOME(qualifier)
        if found and _IDENTIFIER(name.removesuffix("()")):
            home = found[1] or found[2]
            yield Name(home, ".", name.removesuffix("()"), place, home)


def sphinx_entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the entries of `genindex-all.html`, or of `genindex.html` if the index has one page, and their places."""
    pages = [folder / name for name in ("genindex-all.html", "genindex.html")]
    index = next(page for page in pages if page.exists())
    for part in read(index).cssselect("table.indextable td > ul"):
        for item in part.iterchildren("li"):
            entry, places = sphinx_item(item)
            name, _ = split_name(entry)
            for place in places:
                yield entry, place
            for inner in item.cssselect("ul > li"):
                below, places = sphinx_item(inner)
                for place in places:
                    yield f"{name} {below}", place


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
    for row in script(folder / "type-search-index.js"):
        if row.get("p"):
            yield row["l"], java_page(folder, row, row["l"])
    for name in javadoc_names(folder):
        yield f"{name.spoken}.{name.name}", name.place
    for row in script(folder / "tag-search-index.js"):
        yield row["l"], row["u"]


def javadoc_names(folder: Path) -> Iterator[Name]:
    """Read the members of types from the scripts for the search in a Javadoc manual; constructors are left out."""
    for row in script(folder / "member-search-index.js"):
        name = row["l"].partition("(")[0]
        if name != row["c"].rpartition(".")[2]:
            anchor = row.get("u", row.get("url", row["l"]))
            place = f"{java_page(folder, row, row['c'])}#{anchor}"
            yield Name(f"{row['p']}.{row['c']}", ".", name, place, row["c"])


def java_page(folder: Path, row: dict[str, str], name: str) -> str:
    """Return the page of a type, which is below the folder of its module if there are modules."""
    module = java_modules(folder).get(row["p"], "")
    return f"{module and module + '/'}{row['p'].replace('.', '/')}/{name}.html"


@cache
def java_modules(folder: Path) -> dict[str, str]:
    """Return the module of each package of a Javadoc manual."""
    return {row["l"]: row.get("m", "") for row in script(folder / "package-search-index.js")}


def summaries(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the summary of each type in `allclasses-index.html` of a Javadoc manual."""
    for row in read(folder / "allclasses-index.html").cssselect("div.all-classes-table.col-first"):
        link, said = next(row.iterchildren("a")), row.getnext()
        yield said.text_content(), link.get("href", "")


def script(path: Path) -> list[dict[str, str]]:
    """Return the list that a script assigns to a variable; nothing if the manual has no such script."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    rows: list[dict[str, str]] = json.JSONDecoder().raw_decode(text, text.index("["))[0]
    return rows


def directives(folder: Path) -> Iterator[tuple[str, str]]:
    """Read the names of directives in `mod/quickreference.html` of Apache's manual."""
    for link, _ in quick_reference(folder):
        yield link.text_content().partition(" ")[0].strip("<>"), join_place(link)


def directive_names(folder: Path) -> Iterator[Name]:
    """Read the directives with their modules, which are never joined to them."""
    for name, place in directives(folder):
        module = place.partition("#")[0].rpartition("/")[2].removesuffix(".html")
        yield Name("", "", name, place, module)


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


_RUST_KINDS = {3: "struct", 4: "enum", 8: "trait", 15: "primitive", 19: "union"}
_RUST_METHODS = (10, 11)


def rust_names(folder: Path) -> Iterator[Name]:
    """Read the methods of types and traits from the script for the search in Rust's library.

    Its three crates document many types each; the page of any of them is right.
    """
    script = next(folder.glob("search-index*.js")).read_text(encoding="utf-8").replace("\\\n", "")
    data = script[script.index("'") + 1 :].replace("\\'", "'").replace("\\\\", "\\")
    crate = json.JSONDecoder().raw_decode(data)[0]["std"]
    path = ""
    for kind, name, given, parent in zip(crate["t"], crate["n"], crate["q"], crate["i"], strict=True):
        path = given or path
        if kind not in _RUST_METHODS or not parent:
            continue
        home_kind, home = crate["p"][parent - 1]
        if home_kind in _RUST_KINDS:
            rest = "/".join([*path.split("::")[1:], f"{_RUST_KINDS[home_kind]}.{home}.html"])
            anchor = f"{'ty' * (kind == 10)}method.{name}"
            for copy in ("std", "core", "alloc"):
                yield Name(home, "::", name, f"{copy}/{rest}#{anchor}", home)


_SYSCTL = re.compile(r"Documentation for /proc/sys/(\w+)")


def sysctl_names(folder: Path) -> Iterator[Name]:
    """Read the settings from the tables of contents of the pages about `/proc/sys` in Linux's manual."""
    for page in sorted((folder / "admin-guide/sysctl").glob("*.html")):
        tree = read(page)
        found = _SYSCTL.search(tree.findtext(".//title") or "")
        for heading in tree.iter("h2", "h3") if found else ():
            name = heading.text_content().strip("\u00b6\uf0c1 \n")
            parent = heading.getparent()
            if found and parent is not None and _IDENTIFIER(name) and parent.get("id"):
                place = f"admin-guide/sysctl/{page.name}#{parent.get('id')}"
                yield Name(found[1], ".", name, place, "sysctl")


def texinfo_names(index: str, folder: Path) -> Iterator[Name]:
    """Read the names of an index page of a Texinfo manual that the text has; others are spellings in marks alone."""
    text = cache(lambda page: read(folder / page).text_content())
    for link in read(folder / index).cssselect("td > a[href*='#index-']"):
        name, href = link.text_content(), link.get("href", "")
        if _IDENTIFIER(name) and name in text(href.partition("#")[0]):
            yield Name("", "", name, href, "")


def doxygen_names(folder: Path) -> Iterator[Name]:
    """Read the functions of classes from the index pages of a Doxygen manual; constructors are left out."""
    for page in sorted(folder.glob("functions_func*.html")):
        for item in read(page).cssselect("div.contents li"):
            name = item.text_content().partition("(")[0].strip()
            for link in item.iterchildren("a"):
                home = link.text_content()
                if _IDENTIFIER(name) and name != home.rpartition("::")[2]:
                    yield Name(home, "::", name, link.get("href", ""), home)


def linked_names(page: str, folder: Path) -> Iterator[Name]:
    """Read the names that other pages of a manual link to on one of its pages: `x` of `<a href="page#x">x</a>`."""
    for other in sorted(folder.glob("*.html")):
        for link in read(other).cssselect(f"a[href^='{page}#']"):
            name, href = link.text_content().strip(), link.get("href", "")
            if _IDENTIFIER(name) and href == f"{page}#{name}":
                yield Name("", "", name, href, "")


_NUMBERED = re.compile(r"[\d.]+ (\w+)\Z")


def headed_names(page: str, folder: Path) -> Iterator[Name]:
    """Read the headings of one word (`4.9.1 Abort`) that have a mark before them on a page of a manual."""
    for mark in read(folder / page).cssselect("a[name]"):
        heading = mark.getnext()
        if heading is not None and heading.tag in {"h3", "h4", "h5"}:
            found = _NUMBERED.match(heading.text_content().strip())
            if found and _IDENTIFIER(found[1]):
                yield Name("", "", found[1], f"{page}#{mark.get('name')}", "")


def bare_names(names: Iterator[Name]) -> Iterator[tuple[str, str]]:
    """Yield the names without what they belong to."""
    return ((one.name, one.place) for one in names)


def qualified_names(names: Iterator[Name]) -> Iterator[tuple[str, str]]:
    """Yield the names joined to what they belong to, `java.util.HashMap.entrySet`."""
    return ((f"{one.qualifier}{one.separator}{one.name}", one.place) for one in names if one.qualifier)


def two_words(names: Iterator[Name]) -> Iterator[tuple[str, str]]:
    """Yield the names behind what they belong to, as two words: `HashMap entrySet`."""
    return ((f"{one.spoken} {one.name}", one.place) for one in names)


def read(path: Path) -> HtmlElement:
    """Return the parsed tree of a page."""
    return html.fromstring(path.read_bytes())


def right_anchors(page: HtmlElement, anchor: str) -> set[str]:
    """Return the anchors of hits that show the right part of a page.

    Those are the one named, those within its element, and those between which there is no text. Of a mark within a line
    it is also that of the nearest element around it, and of a mark without text the first in the element behind it.
    """
    found = page.xpath("//*[@id=$anchor or @name=$anchor]", anchor=anchor)
    right = {anchor} | same_place(page, anchor)
    for element in found[:1]:
        is_empty = not element.text_content().strip()
        paths = ["descendant::*/@id"]
        paths += ["ancestor::*[@id][1]/@id"] if is_empty or element.tag in {"a", "span"} else []
        paths += ["following-sibling::*[1]/descendant-or-self::*[@id][1]/@id"] if is_empty else []
        for path in paths:
            right.update(map(str, element.xpath(path)))
    return right


def same_place(page: HtmlElement, anchor: str) -> set[str]:
    """Return the anchors between which and this one there is no text."""
    names: set[str] = set()
    for event, element in etree.iterwalk(page, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            names.update(filter(None, (element.get("id"), element.get("name"))))
        text = element.text if event == "start" else element.tail
        if (text or "").strip():
            if anchor in names:
                return names
            names = set()
    return names if anchor in names else set()
