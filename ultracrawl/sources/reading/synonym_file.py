"""Parser for synonym files: `car, automobile` are mutual synonyms, `k8s => kubernetes` works one way."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.sources.mistakes import format_value
from ultracrawl.sources.reading.locations import read_text

MAX_LINES, MAX_LINE_ENTRIES, MAX_ENTRY_LENGTH = 20_000, 20, 100
"""Lines in a file, entries in a line, characters in an entry."""
_ARROW = "=>"
_INSTEAD = "write `car, automobile` for words that stand for each other, or `k8s => kubernetes` for one way"


@dataclass(frozen=True, slots=True)
class Synonym:
    """A query for `sought` also matches the others."""

    sought: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymFile:
    """The synonyms of a file, and its findings."""

    synonyms: tuple[Synonym, ...]
    findings: tuple[Finding, ...]


def parse_synonyms(text: str, file: str) -> SynonymFile:
    """Read the lines of a file; blank lines and lines that begin with `#` are skipped."""
    found: list[Synonym] = []
    findings: list[Finding] = []
    for number, line in enumerate(text.splitlines(), 1):
        if number > MAX_LINES:
            problem = f"more than {MAX_LINES:,} lines are too many"
            findings.append(Finding(file, number, "synonyms", problem, "keep those that people ask for"))
            break
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        left, arrow, right = line.partition(_ARROW)
        sought, meant = _entries(left), _entries(right)
        if problem := _problem((*sought, *meant) if arrow else sought, arrow, right):
            findings.append(
                Finding(file, number, "synonyms", f"{format_value(line.strip())} {problem}", _INSTEAD)
            )
            continue
        for entry in sought:
            others = meant if arrow else tuple(other for other in sought if other != entry)
            found.append(Synonym(entry, others))
    return SynonymFile(tuple(found), tuple(findings))


def read_synonyms(path: Path) -> tuple[Synonym, ...]:
    """Return the synonyms of a file. Raises `DefinitionError` if it cannot be read, or has mistakes."""
    parsed = parse_synonyms(read_text(path, str(path)).text, str(path))
    if parsed.findings:
        raise DefinitionError(parsed.findings)
    return parsed.synonyms


def _entries(side: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in side.split(","))


def _problem(entries: tuple[str, ...], arrow: str, right: str) -> str:
    if _ARROW in right:
        return f"has `{_ARROW}` twice"
    if not all(any(map(str.isalnum, entry)) for entry in entries):
        return "has an entry without a letter or digit"
    if len(entries) > MAX_LINE_ENTRIES:
        return f"has more than {MAX_LINE_ENTRIES} entries"
    if max(map(len, entries)) > MAX_ENTRY_LENGTH:
        return f"has an entry of more than {MAX_ENTRY_LENGTH} characters"
    if not arrow and len(set(entries)) < 2:
        return "is a single word"
    return ""
