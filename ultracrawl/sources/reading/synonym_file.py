"""Files of synonyms: lines `car, automobile`, which stand for each other, and `k8s => kubernetes`, one way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ultracrawl.model import DefinitionError, Finding
from ultracrawl.sources.mistakes import format_value
from ultracrawl.sources.reading.locations import read_text

MOST_LINES, MOST_IN_LINE, LONGEST = 20_000, 20, 100
"""Lines of a file, entries of a line, characters of an entry."""
_ARROW = "=>"
_INSTEAD = "write `car, automobile` for words that stand for each other, or `k8s => kubernetes` for one way"


@dataclass(frozen=True, slots=True)
class Synonym:
    """Who looks for `sought` looks for the others as well."""

    sought: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymFile:
    """What a file says, and what is wrong with it."""

    synonyms: tuple[Synonym, ...]
    findings: tuple[Finding, ...]


def parse_synonyms(text: str, file: str) -> SynonymFile:
    """Read the lines of a file; blank ones, and those that begin with `#`, say nothing."""
    found: list[Synonym] = []
    findings: list[Finding] = []
    for number, line in enumerate(text.splitlines(), 1):
        if number > MOST_LINES:
            problem = f"more than {MOST_LINES:,} lines are too many"
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
        for one in sought:
            others = meant if arrow else tuple(other for other in sought if other != one)
            found.append(Synonym(one, others))
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
    if len(entries) > MOST_IN_LINE:
        return f"has more than {MOST_IN_LINE} entries"
    if max(map(len, entries)) > LONGEST:
        return f"has an entry of more than {LONGEST} characters"
    if not arrow and len(set(entries)) < 2:
        return "is a single word"
    return ""
