"""Reads the JSON file of a DocSearch scraper into a project with one source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ultracrawl.dialects.docsearch.document import DocumentError, parse_document
from ultracrawl.dialects.docsearch.notes import Notes
from ultracrawl.dialects.docsearch.selectors import (
    LEVELS,
    TEXT,
    Selector,
    SelectorSet,
    is_selector,
    read_selectors,
)
from ultracrawl.dialects.docsearch.start_urls import (
    DEFAULT_SELECTORS,
    StartUrl,
    UrlText,
    boosts,
    by_precision,
    read_start_urls,
    rules_of,
)
from ultracrawl.dialects.docsearch.unused import UNUSED
from ultracrawl.model import Finding
from ultracrawl.model.finding import FindingCode, fatal_of
from ultracrawl.rules.attributes.schema import DEFAULT_ATTRIBUTES
from ultracrawl.sources import Data, DefinitionHead, Loaded, OptionPath, SourceTree, load_tree, make_project
from ultracrawl.sources.definition import to_source_name
from ultracrawl.sources.reading.locations import track_file

_STRIPPED = ".,;:§¶"
"""What scrapers strip from headings and texts by default."""
_WORDS = ("docsearch", "docs-scraper")
"""Beginnings of the names of META that go into records."""
_NUMBERS = ("page_rank", "min_indexed_level")
_OWN = ("page_rank", "tags")
_PAGES = ("text/html", "application/xhtml+xml")
_USED = (
    "index_name", "index_uid", "start_urls", "stop_urls", "sitemap_urls", "sitemap_urls_regexs",
    "sitemap_alternate_links", "force_sitemap_urls_crawling", "selectors", "selectors_exclude", "strip_chars",
    "min_indexed_level", "only_content_level", "scrape_start_urls", "scrap_start_urls", "allowed_domains", "js_render",
    "js_wait", "user_agent", "headers", "remove_get_params", "download_timeout",
)  # fmt: skip


def read_scraper(path: Path) -> Loaded:
    """Read a file. Whatever cannot be used is reported in the findings."""
    track_file(path)
    try:
        data, lines = parse_document(path.read_text("utf-8-sig"))
    except DocumentError as error:
        return _unusable(path, error.line, error.problem, "correct it there")
    except UnicodeDecodeError:
        return _unusable(path, 0, "is not UTF-8 text", "save it as UTF-8")
    if not isinstance(data, dict):
        return _unusable(path, 1, "is no group of options", "write `{` and the options")
    notes = Notes(str(path), lines)
    tree = _Compiler(data, path, notes).tree()
    loaded, _ = load_tree(tree, path.absolute().parent)
    found = {*notes.findings, *_in_terms_of_scrapers(loaded.findings, notes)}
    findings = sorted(found, key=lambda finding: (finding.line, finding.key))
    is_usable = loaded.project is not None and not fatal_of(notes.findings)
    return replace(loaded, project=loaded.project if is_usable else None, findings=tuple(findings))


def _in_terms_of_scrapers(findings: Iterable[Finding], notes: Notes) -> Iterator[Finding]:
    """Yield the findings of the loader; a lack of start URLs that a mistake explains is left out."""
    for finding in findings:
        if finding.code is not FindingCode.NO_START:
            yield finding
        elif not fatal_of(notes.findings):
            yield replace(
                finding, key="start_urls", instead='write `"start_urls": ["https://www.example.com/docs/"]`'
            )


def _unusable(path: Path, line: int, problem: str, instead: str) -> Loaded:
    finding = Finding(str(path), line, "file", problem, instead)
    rest = make_project(DefinitionHead(), {}, path.absolute().parent, mistakes=(finding,))
    return Loaded(None, (finding,), rest)


class _Compiler:
    """Turns the options of one file into those of a source."""

    def __init__(self, data: Mapping[str, Data], path: Path, notes: Notes) -> None:
        self._data = data
        self._notes = notes
        self._name = to_source_name(str(data.get("index_name") or data.get("index_uid") or path.stem), "docs")
        self._tree = SourceTree(str(path), {})
        self._options: dict[str, Data] = {"types": list(_PAGES)}
        self._starts: list[StartUrl] = []
        self._extract: dict[str, list[Data]] = {}
        self._excluded = ""

    def tree(self) -> SourceTree:
        """Return the source with the lines of its options."""
        self._report_unused()
        self._starts = by_precision(read_start_urls(self._data.get("start_urls"), self._notes))
        self._add_scope()
        self._add_sitemaps()
        self._add_content()
        self._add_start_attributes()
        self._add_requests()
        versions = self._extract.setdefault("version", [])
        for word in _WORDS:
            versions.append({"regexp": "[^,]+", "of": f"{word}:version"})
        self._set(("extract",), {**self._extract}, ("selectors",))
        self._set(("attributes",), {f"{word}:*": "*" for word in _WORDS})
        self._tree.sources[self._name] = self._options
        declared = {attribute.name.lower() for attribute in DEFAULT_ATTRIBUTES}
        names = [name for name in (*self._extract, "docusaurus_tag") if name not in declared]
        self._tree.project = {
            "attributes": {name: "number" if name in _NUMBERS else "string" for name in names},
            "index": {"boosts": boosts(self._starts)},
            "processes": {},
        }
        return self._tree

    def _report_unused(self) -> None:
        for key in self._data:
            if key in UNUSED:
                self._notes.hint((key,), f"has no effect here: {UNUSED[key]}")
        self._notes.unknown_keys(self._data, (*_USED, *UNUSED))

    def _set(self, path: OptionPath, value: Data, written: OptionPath = ()) -> None:
        """Set an option of the source, made from one of the file."""
        if not value:
            return
        self._group(*map(str, path[:-1]))[str(path[-1])] = value
        if written:
            self._place(path, written)

    def _place(self, path: OptionPath, written: OptionPath) -> None:
        self._tree.lines[self._name, *path] = self._notes.line(written)
        self._tree.keys[self._name, *path] = ".".join(str(step) for step in written if isinstance(step, str))

    def _group(self, *path: str) -> dict[str, Data]:
        """Return a group of options, made if it is missing."""
        group = self._options
        for step in path:
            inner = group.setdefault(step, {})
            assert isinstance(inner, dict)
            group = inner
        return group

    @staticmethod
    def _list(group: dict[str, Data], name: str) -> list[Data]:
        members = group.setdefault(name, [])
        assert isinstance(members, list)
        return members

    # ---- scope

    def _add_scope(self) -> None:
        in_order = sorted(self._starts, key=lambda start: str(start.path[1:]).zfill(12))
        pages = [(page, start) for start in in_order for page in start.pages]
        self._set(("start_urls",), list(dict.fromkeys(page for page, _ in pages)), ("start_urls",))
        for number, (_, start) in enumerate(pages):
            self._place(("start_urls", number), start.path)
        include = [rule for start in in_order for rule in start.url.rules()]
        self._set(("boundary", "uris", "include"), include, ("start_urls",))
        stops = self._notes.texts(self._data.get("stop_urls"), ("stop_urls",))
        exclude = [rule for stop in stops for rule in UrlText(stop).rules()]
        self._set(("boundary", "uris", "exclude"), exclude, ("stop_urls",))
        names = ("scrape_start_urls", "scrap_start_urls")
        said = [self._notes.flag(self._data, (name,), default=True) for name in names]
        whole = all(said)
        unread: list[Data] = [{"exact": page} for page, start in pages if not (whole and start.scrape)]
        self._set(("boundary", "uris", "follow_only"), unread, ("scrape_start_urls",))
        domains = list(self._notes.texts(self._data.get("allowed_domains"), ("allowed_domains",)))
        hosts: list[Data] = []
        for domain in domains:
            host = _authority(domain).partition(":")[0]
            hosts += [host, f".{host}"] if host and not host[-1].isdigit() else [host]
        self._set(("boundary", "domains", "include"), hosts, ("allowed_domains",))

    def _add_sitemaps(self) -> None:
        self._notes.flag(self._data, ("sitemap_alternate_links",))
        urls = list(self._notes.texts(self._data.get("sitemap_urls"), ("sitemap_urls",)))
        if not urls:
            self._options["sitemaps"] = {"use": False}
            return
        self._set(("sitemaps", "urls"), list[Data](urls), ("sitemap_urls",))
        sitemaps = self._group("sitemaps")
        sitemaps["discover"] = False
        regexps = self._notes.texts(self._data.get("sitemap_urls_regexs"), ("sitemap_urls_regexs",))
        more = [rule for text in regexps for rule in UrlText(text).rules()]
        if not self._starts:
            self._set(("start_urls",), [f"{url.partition('://')[0]}://{_authority(url)}/" for url in urls])
        if not more and (self._notes.flag(self._data, ("force_sitemap_urls_crawling",)) or not self._starts):
            more = [
                {"prefix": f"{scheme}://{_authority(url)}/"} for url in urls for scheme in ("https", "http")
            ]
            sitemaps["only"] = True
            forced = "force_sitemap_urls_crawling"
            problem = "lets in all pages of the hosts of the sitemaps, so no links are followed"
            self._notes.hint(
                (forced if forced in self._data else "sitemap_urls",),
                problem,
                "write `sitemap_urls_regexs` to follow links",
            )
        if more:
            included = self._list(self._group("boundary", "uris"), "include")
            included += more

    # ---- pages

    def _add_content(self) -> None:
        self._excluded = self._read_excluded()
        sets = read_selectors(self._data.get("selectors"), self._notes)
        general = sets.get(DEFAULT_SELECTORS)
        keys = [start.selectors_key for start in self._starts]
        for start, key in zip(self._starts, keys, strict=True):
            if key not in sets and key != DEFAULT_SELECTORS:
                problem = f"there are no selectors `{key}`, so the default ones are used"
                self._notes.hint((*start.path, "selectors_key"), problem, "write them below `selectors`")
        if general is not None:
            self._set_content(("content",), DEFAULT_SELECTORS, general)
        special = [key for key in keys if key != DEFAULT_SELECTORS and key in sets]
        if not special:
            self._extract_all(DEFAULT_SELECTORS, general, None)
            return
        last = max(number for number, key in enumerate(keys) if key in special)
        for start, key in list(zip(self._starts, keys, strict=True))[: last + 1]:
            self._set_content(("content", "pages", start), key, sets.get(key, general) or SelectorSet({}))
        for key in dict.fromkeys(keys):
            differs = [other != key for other in keys]
            of_key = [start for start, own in zip(self._starts, keys, strict=True) if own == key]
            urls = [rule for start in of_key for rule in rules_of(start, self._starts, differs)]
            self._extract_all(key, sets.get(key, general), urls)

    def _set_content(
        self, path: OptionPath | tuple[str, str, StartUrl], key: str, chosen: SelectorSet
    ) -> None:
        places = chosen.places() or [None]  # without a level the headings of HTML would start sections
        # As long as texts have a place in it, too, it is never taken for one text for all levels.
        strips = [self._strip_of(one) for one in (*places, chosen.named.get(TEXT))]
        options: dict[str, Data] = {
            "include": _joined([*chosen.levels(), *chosen.text]),
            "exclude": self._excluded,
            "main": "off",
            "levels": [one.text if one is not None else "" for one in places],
            "strip": list[Data](strips),
            "required": _joined([*chosen.levels(self._least(key)), *chosen.text]),
        }
        options = {name: value for name, value in options.items() if value}
        group: OptionPath = ("content",)
        if isinstance(start := path[-1], StartUrl):
            pages = self._list(self._group("content"), "pages")
            group = ("content", "pages", len(pages))
            pages.append({"urls": start.url.rules(), **options})
        else:
            self._options["content"] = options
        for name in ("include", "required"):
            self._place((*group, name), ("selectors",))
        self._place((*group, "exclude"), ("selectors_exclude",))
        for number, one in enumerate(places):
            if one is not None:
                self._place((*group, "levels", number), one.path)

    def _read_excluded(self) -> str:
        path: OptionPath = ("selectors_exclude",)
        texts = enumerate(self._notes.texts(self._data.get("selectors_exclude"), path))
        return ", ".join(text for number, text in texts if is_selector(text, (*path, number), self._notes))

    @property
    def _strip(self) -> str:
        written = self._data.get("strip_chars")
        return _STRIPPED if written is None else self._notes.text(written, ("strip_chars",))

    def _strip_of(self, selector: Selector | None) -> str:
        return self._strip if selector is None or selector.strip is None else selector.strip

    def _least(self, key: str) -> int:
        """Return the first level whose headings are indexed by themselves; 7 if none are."""
        if self._notes.flag(self._data, ("only_content_level",)):
            return len(LEVELS)
        written = self._data.get("min_indexed_level")
        if isinstance(written, dict):
            written = written.get(key, written.get(DEFAULT_SELECTORS))
        return max(0, min(len(LEVELS), int(self._notes.number(written, ("min_indexed_level",)))))

    # ---- attributes

    def _extract_all(self, key: str, chosen: SelectorSet | None, urls: list[Data] | None) -> None:
        if least := self._least(key):
            option = "only_content_level" if least == len(LEVELS) else "min_indexed_level"
            self._add_rule("min_indexed_level", {"constant": str(least)}, urls, (option,))
        for name, selector in chosen.attributes() if chosen is not None else ():
            rule = selector.rule(self._strip)
            if rule is not None and self._notes.is_name(name, selector.path):
                self._add_rule(name, rule, urls, selector.path)

    def _add_rule(
        self, name: str, rule: dict[str, Data], urls: list[Data] | None, written: OptionPath
    ) -> None:
        rules = self._extract.setdefault(name, [])
        self._place(("extract", name, len(rules)), written)
        rules.append({**rule, "urls": urls} if urls is not None else rule)

    def _add_start_attributes(self) -> None:
        """Add what start URLs say of their pages: rank, tags, variables and further attributes."""
        said = [self._said(start) for start in self._starts]
        for name in dict.fromkeys(name for one in said for name in one):
            for start, values in zip(self._starts, said, strict=True):
                if name not in values or not self._notes.is_name(name, start.path):
                    continue
                # Variables hold for all pages of a start URL, tags and rank only where no other one is more precise.
                differs = [
                    other.get(name) != values.get(name) and (name in other or name in _OWN) for other in said
                ]
                for value in values.get(name, ()):
                    urls = rules_of(start, self._starts, differs)
                    rules = self._extract.setdefault(name.lower(), [])
                    self._place(("extract", name.lower(), len(rules)), start.path)
                    rules.append({"constant": value, "urls": urls})

    @staticmethod
    def _said(start: StartUrl) -> dict[str, list[str]]:
        said: dict[str, list[str]] = {}
        if start.page_rank:
            said["page_rank"] = [f"{start.page_rank:g}"]
        if start.tags:
            said["tags"] = list(start.tags)
        for name, value in start.attributes:
            said.setdefault(name, []).append(value)
        return said

    # ---- requests

    def _add_requests(self) -> None:
        wait = self._notes.number(self._data.get("js_wait"), ("js_wait",))
        if self._notes.flag(self._data, ("js_render",)):
            self._set(("javascript",), {"use": True, "keep_html": True, "wait": wait}, ("js_render",))
        elif wait:
            self._notes.hint(("js_wait",), "has no effect without `js_render`", 'write `"js_render": true`')
        timeout = self._notes.number(self._data.get("download_timeout"), ("download_timeout",))
        self._set(("limits", "timeout"), timeout, ("download_timeout",))
        self._set(("user_agent",), self._data.get("user_agent"), ("user_agent",))
        self._set(("headers",), self._data.get("headers"), ("headers",))
        if self._notes.flag(self._data, ("remove_get_params",)):
            self._set(("urls", "rewrite_rules"), [r"@\?.*@@"], ("remove_get_params",))


def _joined(selectors: list[Selector]) -> str:
    return ", ".join(selector.text for selector in selectors)


def _authority(url: str) -> str:
    """Return the host of a URL with its port; the scheme may be missing."""
    return re.split(r"[/?#]", url.rsplit("://", maxsplit=1)[-1], maxsplit=1)[0]
