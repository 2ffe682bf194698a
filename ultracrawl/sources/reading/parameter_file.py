"""Parser for `crawler.dat`, the parameter file of the Ultra Search crawler (Ultra Search 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ultracrawl.model import Finding
from ultracrawl.sources.mistakes import format_value

FALLBACK = "USE_DESC_FALLBACK"
_END = "IMPORT"
_YES, _NO = ("", "true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a file; None if it does not set them."""

    description_fallback: bool | None
    findings: tuple[Finding, ...]


def parse_parameters(text: str, file: str) -> Parameters:
    """Read `NAME value` lines: a name alone means yes, `#` begins a comment, lines after IMPORT have no effect."""
    fallback: bool | None = None
    findings: list[Finding] = []
    ended = False
    for number, name, value in _lines(text):
        if name == _END:
            ended = True
        elif ended:
            problem = f"{name} stands behind {_END}, where it has no effect"
            findings.append(Finding(file, number, name, problem, f"write it before {_END}", fatal=False))
        elif name != FALLBACK:
            instead = f"the only one that is read is {FALLBACK}"
            findings.append(Finding(file, number, name, "is no parameter that is read", instead, fatal=False))
        elif value in _YES or value in _NO:
            fallback = value in _YES
        else:
            problem = f"{format_value(value)} is neither yes nor no"
            findings.append(Finding(file, number, name, problem, f"write `{FALLBACK} yes`"))
    return Parameters(fallback, tuple(findings))


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, upper-case name and lower-case value of each line that is not blank."""
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.partition("#")[0].strip().partition(" ")
        if name:
            yield number, name.upper(), value.strip().lower()
