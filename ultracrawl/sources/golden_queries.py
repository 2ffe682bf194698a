"""Files of golden queries: queries with the pages that must be among their first hits."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.sources.loading.findings import FindingCollector
from ultracrawl.sources.mistakes import must_match
from ultracrawl.sources.reading.locations import read_text
from ultracrawl.sources.reading.yaml_tree import parse_yaml
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import GroupNames, Language, PrincipalNames, UrlList
from ultracrawl.system.files import convert_write_errors, exclusive_folder, replace_file

MAX_QUERIES = 1000
"""Queries in a file; each is a search."""
MAX_WITHIN = 100
DEFAULT_WITHIN = 10
_HEADER = "# Golden queries: `ultracrawl check-answers` checks that these pages are among the first hits.\n"
_ENTRY = "write `- query: …` with `pages: URL` below it"


class GoldenQuery(Section):
    """A query with the pages that must be among its first hits."""

    query: Annotated[
        str, Field(max_length=1000), must_match(r"(?s).*\w.*", "has no word", "write what people type")
    ]
    """The query, as people type it."""
    pages: UrlList = Field(min_length=1, max_length=20)
    """The display URLs of the pages; with a fragment, the hit must lead to this section."""
    within: Annotated[int, Field(ge=1, le=MAX_WITHIN)] = DEFAULT_WITHIN
    """Each page must be among so many first hits."""
    language: Language | None = None
    """The language of the user."""
    source: GroupNames = ()
    """Only documents of these sources."""
    group: GroupNames = ()
    """Only documents of the sources in these data groups."""
    principals: PrincipalNames = ()
    """Users and groups who search. None: everybody, who finds public documents."""
    index: Annotated[str, Field(max_length=100)] = ""
    """The index that is searched. Empty: the primary one."""


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """The queries of a file, each with its line."""

    path: Path
    queries: tuple[tuple[int, GoldenQuery], ...]


def read_golden_queries(path: Path) -> GoldenFile:
    """Read a file. Raises `DefinitionError` with all its mistakes."""
    return parse_golden_queries(read_text(path, str(path)).text, path)


def parse_golden_queries(text: str, path: Path) -> GoldenFile:
    """Parse the text of a file; `path` is named in mistakes. Raises `DefinitionError`."""
    if _is_empty(text):
        return GoldenFile(path, ())
    tree, found = parse_yaml(text, str(path)), FindingCollector()
    found.add_findings(tree.findings)
    queries = []
    if not isinstance(tree.data, list):
        found.add(tree, (), "is not a list of queries", _ENTRY)
    elif len(tree.data) > MAX_QUERIES:
        found.add(
            tree, (MAX_QUERIES,), f"more than {MAX_QUERIES:,} queries are too many", "use several files"
        )
    else:
        for number, entry in enumerate(tree.data):
            if not isinstance(entry, dict):
                found.add(tree, (number,), "is no query with pages", _ENTRY)
            elif (query := found.validated(GoldenQuery, entry, tree, (number,))) is not None:
                queries.append((tree.line((number,)), query))
    if found.any_fatal:
        raise DefinitionError(found.in_order())
    return GoldenFile(path, tuple(queries))


def with_golden_query(text: str, path: Path, query: str, page: str, within: int = DEFAULT_WITHIN) -> str:
    """Return the text of a file with one more query at its end; nothing else in it changes, comments included.

    The text itself is returned if it has the query with this page already. Raises `DefinitionError` if the text has
    mistakes or would get one, `UserError` if nothing can be appended to it.
    """
    before = parse_golden_queries(text, path)
    indent = 0
    if before.queries:
        if any((one.query, page) == (query, had) for _, one in before.queries for had in one.pages):
            return text
        root = parse_yaml(text, str(path)).root
        if isinstance(root, yaml.CollectionNode) and root.flow_style:
            raise UserError(
                f"{path}: the list is written in brackets; begin each query with `- ` on a line of its own"
            )
        indent = root.start_mark.column
    entry = [f"- query: {_scalar(query)}", f"  pages: {_scalar(page)}"]
    if within != DEFAULT_WITHIN:
        entry.append(f"  within: {within}")
    start = text if text.strip() else _HEADER
    added = "".join(f"{' ' * indent}{line}\n" for line in entry)
    after = f"{start}{'' if start.endswith(chr(10)) else chr(10)}{added}"
    if len(parse_golden_queries(after, path).queries) != len(before.queries) + 1:
        raise UserError(f"{path}: nothing can be added at its end; add the query by hand")
    return after


def add_golden_query(path: Path, query: str, page: str, within: int = DEFAULT_WITHIN) -> bool:
    """Add a query to a file, which is made if it does not exist; returns whether it was missing there.

    One after the other adds. Raises what `with_golden_query` does, and `WorkError`.
    """
    with convert_write_errors(path), exclusive_folder(path.resolve().parent):
        before = read_text(path, str(path)).text if path.exists() else ""
        after = with_golden_query(before, path, query, page, within)
        if after != before:
            replace_file(path, after.encode())
    return after != before


def mistake_in(file: GoldenFile, line: int, problem: str) -> Finding:
    """Return the finding about a query that cannot be searched for."""
    return Finding(str(file.path), line, "query", problem, "correct it, or the option that is meant")


def golden_findings(path: Path | None) -> Sequence[Finding]:
    """Return the mistakes of the file that a project names, as advice: they stop no crawl."""
    if path is None:
        return ()
    try:
        read_golden_queries(path)
    except DefinitionError as error:
        return [
            Finding(one.file, one.line, one.key, one.problem, one.instead, fatal=False)
            for one in error.findings
        ]
    return ()


def _is_empty(text: str) -> bool:
    return all(
        not line.strip() or line.lstrip().startswith("#") or line.strip() == "---"
        for line in text.splitlines()
    )


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar, plain where that means the same."""
    try:
        is_plain = yaml.safe_load(f"- query: {text}") == [{"query": text}] and "#" not in text
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain else json.dumps(text, ensure_ascii=False)
