"""Converts XML elements to collections, checking which elements, sections and options are allowed where."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ultracrawl.dialects.fast_xml.collection import Scope, ScopeKind
from ultracrawl.dialects.fast_xml.document import Element
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import LOGIN, OPTIONS, RULE_SECTIONS, SECRET_SECTIONS
from ultracrawl.dialects.fast_xml.values import Member, RawOption, read_value
from ultracrawl.sources.mistakes import closest_match, format_names, format_value

ROOT = "CrawlerConfig"
MOST_GUESSES = 200
"""Number of unknown names per file for which similar names are suggested."""
_SCOPES = {kind.value: kind for kind in ScopeKind}
_PART_SECTIONS = {"logins": ScopeKind.LOGIN, "subdomains": ScopeKind.SUB}
"""Sections whose sub-sections are logins or sub-collections."""

_ALLOWED_PARTS = {
    ScopeKind.COLLECTION: (ScopeKind.SUB, ScopeKind.LOGIN, ScopeKind.NODE),
    ScopeKind.NODE: (ScopeKind.SUB, ScopeKind.LOGIN),
}
_ATTRIBUTES = {"attrib": frozenset({"name", "type"}), "member": frozenset[str](), ROOT: frozenset[str]()}
_CASE_INSENSITIVE_SECTIONS = ("http_errors", "ftp_errors", "exclude_headers", "ftp_acct")
"""Sections with case-insensitive free names."""

_USER = re.compile(r"//[^/]*@")
"""User and password in an option name that is a URI; findings must not show them."""


def read_grammar(root: Element, notices: Notices) -> list[Scope]:
    """Return the collections of a document; those with the same name are merged in order."""
    if root.name != ROOT:
        problem = f"has the root element {format_value(root.name)}"
        notices.add(Code.ROOT, notices.place(root.line), problem, f"give a file whose root is `{ROOT}`")
        return []
    return _Grammar(notices).collections(root)


class _Grammar:
    """Walks through the elements; whatever is ignored is reported to the notices."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._checks = _ElementChecks(notices)

    def collections(self, root: Element) -> list[Scope]:
        self._checks.check_attributes(root, "file")
        found: dict[str, Scope] = {}
        for element in root.children:
            if element.name != ScopeKind.COLLECTION:
                self._checks.report_misplaced(element, "", "in the root element")
            elif (name := self._checks.name(element, "")) is not None:
                self._scope(element, ScopeKind.COLLECTION, name, name, found)
        if not found and not self._notices.fatal:
            instead = "write a `DomainSpecification` with the name of the collection"
            self._notices.add(Code.EMPTY, self._notices.place(root.line), "contains no collection", instead)
        return list(found.values())

    def _scope(
        self,
        element: Element,
        kind: ScopeKind,
        name: str,
        path: str,
        among: dict[str, Scope],
        *,
        replaces: bool = False,
    ) -> None:
        """Read a collection or a part of one; a second one with the same name is merged into the first."""
        scope = among.get(name)
        if scope is None or replaces:
            scope = among[name] = Scope(kind, name, self._notices.file, element.line)
        else:
            self._checks.report(
                Code.DUPLICATE, element, path, "is written twice; both are merged", "write it once"
            )
        self._checks.check_attributes(element, path)
        for child in self._sections_first(element):
            self._child(child, scope, path)

    @staticmethod
    def _sections_first(element: Element) -> list[Element]:
        """Return the children of a scope, the sections with all logins or sub-collections first."""
        return sorted(
            element.children, key=lambda child: child.attributes.get("name", "").strip() not in _PART_SECTIONS
        )

    def _child(self, child: Element, scope: Scope, path: str) -> None:
        kind = _SCOPES.get(child.name)
        if child.name == "attrib":
            self._option(child, scope, _root_section(scope), "", path)
        elif child.name == "section":
            self._section(child, scope, path)
        elif kind in _ALLOWED_PARTS.get(scope.kind, ()):
            assert kind is not None
            if (name := self._checks.name(child, path)) is not None:
                self._part(child, kind, name, scope, path)
        else:
            self._checks.report_misplaced(child, path, f"in `{scope.kind}`")

    def _part(self, element: Element, kind: ScopeKind, name: str, scope: Scope, path: str) -> None:
        among = {ScopeKind.LOGIN: scope.logins, ScopeKind.SUB: scope.subs, ScopeKind.NODE: scope.nodes}[kind]
        # An element replaces an entry of a section; a second element is merged into the first.
        replaces = name in among and among[name].line in _lines_of_sections(scope, kind)
        self._scope(element, kind, name, f"{path}/{name}", among, replaces=replaces)
        if scope.kind is ScopeKind.COLLECTION:
            self._check_part(among[name], path)

    # ---- sections

    def _section(self, element: Element, scope: Scope, path: str) -> None:
        name = self._checks.name(element, path)
        if name is None:
            return
        if name in _PART_SECTIONS and scope.kind in _ALLOWED_PARTS:
            self._parts(element, _PART_SECTIONS[name], scope, path)
        else:
            self._known_section(element, scope, _root_section(scope), "", name, path)

    def _parts(self, element: Element, kind: ScopeKind, scope: Scope, path: str) -> None:
        """Read a section with all logins or all sub-collections."""
        if kind is ScopeKind.LOGIN:
            scope.all_logins = True
        else:
            scope.all_subs = True
        among = scope.logins if kind is ScopeKind.LOGIN else scope.subs
        for child in element.children:
            if child.name != "section":
                self._checks.report_misplaced(
                    child, path, f"in the section `{element.attributes.get('name', '').strip()}`"
                )
            elif (name := self._checks.name(child, path)) is not None:
                self._scope(child, kind, name, f"{path}/{name}", among)
                self._check_part(among[name], path)

    def _check_part(self, part: Scope, path: str) -> None:
        """Report a sub-collection without rules."""
        if part.kind is ScopeKind.SUB and not any(section in RULE_SECTIONS for section, _ in part.settings):
            problem = "has no rules that define which URIs it covers, so it covers none"
            place = part.place._replace(key=f"{path}/{part.name}")
            self._notices.add(Code.CONTEXT, place, problem, f"write one of {format_names(RULE_SECTIONS)}")

    def _known_section(
        self, element: Element, scope: Scope, parent: str, free: str, name: str, path: str
    ) -> None:
        section = OPTIONS.section(parent, name)
        path = f"{path}/{name}"
        if section is None or section == LOGIN:
            known = OPTIONS.is_section(name)
            code = Code.CONTEXT if known else Code.UNKNOWN
            problem = (
                "is not allowed here and is ignored" if known else "is not a known section and is ignored"
            )
            names = [] if known else [section_path.rpartition("/")[2] for section_path in OPTIONS.sections]
            self._checks.report(code, element, path, problem, self._checks.correction(name, names))
            return
        if scope.kind is ScopeKind.SUB and not OPTIONS.in_sub_collections(section):
            self._checks.report_in_sub_collection(element, path)
            return
        self._note_section(element, scope, section, free or name, path)
        self._checks.check_attributes(element, path)
        inner_free = name if section.endswith("*") else free
        for child in element.children:
            if child.name == "attrib":
                self._option(child, scope, section, inner_free, path)
            elif child.name == "section":
                if (inner := self._checks.name(child, path)) is not None:
                    self._known_section(child, scope, section, inner_free, inner, path)
            else:
                self._checks.report_misplaced(child, path, "in a section")

    def _note_section(self, element: Element, scope: Scope, section: str, free: str, path: str) -> None:
        written = section.replace("*", free)
        if written in scope.sections:
            self._checks.report(
                Code.DUPLICATE, element, path, "is written twice; both are merged", "write it once"
            )
        scope.sections.setdefault(written, element.line)

    # ---- options

    def _option(self, element: Element, scope: Scope, section: str, free: str, path: str) -> None:
        name = self._checks.name(element, path)
        if name is None:
            return
        canonical = OPTIONS.canonical(section, name)
        spec = OPTIONS.find(section, canonical)
        path = f"{path}/{_USER.sub('//', name)}"
        self._checks.check_attributes(element, path)
        if spec is None:
            self._checks.report_unknown_option(element, section, name, path)
            return
        if scope.kind is ScopeKind.SUB and not spec.sub:
            self._checks.report_in_sub_collection(element, path)
            return
        name = canonical.lower() if section in _CASE_INSENSITIVE_SECTIONS else canonical
        written = RawOption(
            spec,
            name,
            self._notices.place(element.line, path),
            element.attributes.get("type", "").strip(),
            element.text.strip(),
            self._members(element, path),
            section in SECRET_SECTIONS,
        )
        self._set(element, scope, written, free, canonical)

    def _members(self, element: Element, path: str) -> tuple[Member, ...] | None:
        members: list[Member] = []
        for child in element.children:
            if child.name != "member" or child.children:
                self._checks.report_misplaced(child, path, "in an option")
            else:
                self._checks.check_attributes(child, path)
                members.append(Member(child.text.strip(), child.line))
        return tuple(members) if element.children else None

    def _set(self, element: Element, scope: Scope, written: RawOption, free: str, canonical: str) -> None:
        as_written, path = element.attributes["name"].strip(), written.place.key
        if as_written != canonical:
            self._checks.report(
                Code.ALIAS, element, path, f"is another name of `{canonical}`", f"write `{canonical}`"
            )
        key = (written.spec.section.replace("*", free), written.name)
        known = scope.settings.get(key)
        if known is not None:
            counts = "the usual name is used" if as_written != canonical else "the last one is used"
            self._checks.report(Code.DUPLICATE, element, path, f"is written twice; {counts}", "write it once")
            if as_written != canonical:
                return
        setting = read_value(written, self._notices, free)
        if setting is not None:
            scope.settings[key] = setting


class _ElementChecks:
    """Checks and reports common to all elements: name, attributes, position."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._guesses = 0

    def name(self, element: Element, path: str) -> str | None:
        """Return the name of an element, None after reporting that it is missing."""
        name = element.attributes.get("name", "").strip()
        if name:
            return name
        self.report(Code.NAME, element, path, f"`{element.name}` has no name", 'write `name="..."`')
        return None

    def guess(self, name: str, known: Iterable[str]) -> str | None:
        """Return the most similar known name, None without one or after `MOST_GUESSES` calls."""
        self._guesses += 1
        return closest_match(name, known) if self._guesses <= MOST_GUESSES else None

    def correction(self, name: str, known: Iterable[str]) -> str:
        """Return the advice for an unknown name: the similar known name, or to remove it."""
        guess = self.guess(name, known)
        return f"did you mean `{guess}`" if guess else "remove it"

    def report_in_sub_collection(self, element: Element, path: str) -> None:
        """Report an element that has no effect in a sub-collection."""
        instead = "write it in the collection"
        self.report(Code.CONTEXT, element, path, "has no effect in a sub-collection", instead)

    def report_unknown_option(self, element: Element, section: str, name: str, path: str) -> None:
        """Report an option that its section does not have."""
        instead = self.correction(name, OPTIONS.names(section))
        self.report(Code.UNKNOWN, element, path, "is not a known option and is ignored", instead)

    def check_attributes(self, element: Element, path: str) -> None:
        """Report unknown attributes of an element."""
        known = _ATTRIBUTES.get(element.name, frozenset({"name"}))
        for attribute in element.attributes:
            if attribute not in known:
                problem = f"`{element.name}` has no attribute `{attribute}`; it is ignored"
                self.report(Code.UNKNOWN, element, path, problem, "remove it")

    def report_misplaced(self, element: Element, path: str, where: str) -> None:
        """Report an element that is not allowed at its position."""
        known = element.name in (*_SCOPES, "attrib", "section", "member", ROOT)
        guess = None if known else self.guess(element.name, (*_SCOPES, "attrib", "section", "member"))
        problem = f"`{element.name}` is not allowed {where}; it is ignored"
        self.report(Code.UNKNOWN, element, path, problem, f"write `{guess}`" if guess else "remove it")

    def report(self, code: Code, element: Element, path: str, problem: str, instead: str) -> None:
        """Add a notice about an element."""
        self._notices.add(code, self._notices.place(element.line, path), problem, instead)


def _lines_of_sections(scope: Scope, kind: ScopeKind) -> set[int]:
    if kind is ScopeKind.LOGIN and scope.all_logins:
        return {part.line for part in scope.logins.values()}
    return {part.line for part in scope.subs.values()} if kind is ScopeKind.SUB and scope.all_subs else set()


def _root_section(scope: Scope) -> str:
    return LOGIN if scope.kind is ScopeKind.LOGIN else ""
