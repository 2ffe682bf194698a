"""Files that options refer to: host and URL rules (`{file: rules.txt}`), URLs, parameters, synonyms, aliases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from pydantic import ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from ultracrawl.dataclass import dataclass
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.rules.boundary.lines import ParsedLines, parse_domain_lines, parse_uri_lines
from ultracrawl.rules.boundary.rules import DomainRule, UriRule
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.sources.mistakes import format_value, mistake, mistake_at
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.reading.locations import read_text
from ultracrawl.sources.reading.synonym_file import parse_synonyms

Parsed = ParsedLines[DomainRule] | ParsedLines[UriRule]
_ADVICE = "write one rule a line, as `suffix .example.com`, or put `#` in front of a line that is none"


class RuleFiles:
    """Reads the files that options name; relative names are relative to `base`.

    `found` receives the findings of each file, one with line number for each invalid line. An unreadable file raises
    a validation error for the option that names it.
    """

    def __init__(self, base: Path, found: Callable[[str, Sequence[Finding]], None]) -> None:
        self.base = base
        self._found = found
        self._read: dict[tuple[str, bool], tuple[tuple[Pattern, ...], list[Finding]]] = {}

    def patterns(self, name: str, *, hosts: bool) -> tuple[Pattern, ...]:
        """Return the host rules or URL rules of a file, which is read once."""
        path = self.base / name
        known = self._read.get((name, hosts))
        if known is None:
            parsed: Parsed = (parse_domain_lines if hosts else parse_uri_lines)(_text(path, name))
            patterns = tuple(Pattern(rule.kind, rule.text) for rule in parsed.rules)
            known = self._read[name, hosts] = patterns, list(_findings(str(path), parsed))
        self._found(str(path), known[1])  # reported for each source that names the file
        return known[0]

    def urls(self, name: str) -> tuple[str, ...]:
        """Return the URLs of a file, one per line; blank lines and lines that begin with `#` are skipped."""
        path = self.base / name
        lines = list(enumerate(_text(path, name, "start URL").splitlines(), 1))
        named = [(number, line.strip()) for number, line in lines if line.strip() and line.strip()[0] != "#"]
        instead = "write one URL a line, in full, or put `#` in front of a line that is none"
        wrong = [
            Finding(
                str(path), number, "start URL", f"{format_value(url)} is no URL that can be crawled", instead
            )
            for number, url in named
            if DEFAULT_POLICY.canonical(url) is None
        ]
        self._found(str(path), wrong)
        return tuple(url for _, url in named)

    def parameters(self, name: str) -> Parameters:
        """Return the parameters of a file."""
        path = self.base / name
        parsed = parse_parameters(_text(path, name, "parameter"), str(path))
        self._found(str(path), parsed.findings)
        return parsed

    def check_synonyms(self, name: str) -> None:
        """Report the findings of a synonym file."""
        path = self.base / name
        parsed = parse_synonyms(_text(path, name, "synonym"), str(path))
        self._found(str(path), parsed.findings)

    def text(self, name: str) -> str:
        """Return the text of a file."""
        return _text(self.base / name, name)


def _text(path: Path, name: str, what: str = "rule") -> str:
    try:
        return read_text(path, str(path)).text
    except DefinitionError as error:
        problem = error.findings[0].problem
        raise mistake(
            f"the {what} file {format_value(name)}: {problem}", f"give a text file with one {what} a line"
        ) from None


def _findings(file: str, parsed: Parsed) -> Iterator[Finding]:
    for error in parsed.errors:
        yield Finding(
            file, error.line, "rule", f"{format_value(error.text)} is no rule: {error.problem}", _ADVICE
        )
    if not parsed.rules and not parsed.errors:
        yield Finding(file, 0, "rule", "holds no rule", _ADVICE, fatal=False)


def rule_entries(*, hosts: bool) -> WrapValidator:
    """Return a validator for one entry of a rule list: a pattern, or a file of patterns."""

    def read(
        value: object, pattern: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> tuple[Pattern, ...]:
        name = _file_name(value)
        return (pattern(value),) if name is None else _files(info, name).patterns(name, hosts=hosts)

    return WrapValidator(read)


def flat(entries: Iterable[tuple[Pattern, ...]]) -> tuple[Pattern, ...]:
    """Return the patterns of all entries of a list in one tuple."""
    return tuple(chain.from_iterable(entries))


def _file_name(value: object) -> str | None:
    if not isinstance(value, dict) or list(value) != ["file"]:
        return None
    name = value["file"]
    if not isinstance(name, str) or not name.strip():
        raise mistake(
            f"{format_value(name)} is not the name of a file", "write it behind `file:`, as `rules.txt`"
        )
    return name.strip()


def _files(info: ValidationInfo, name: str) -> RuleFiles:
    if isinstance(info.context, RuleFiles):
        return info.context
    raise mistake(
        f"the rule file {format_value(name)} is read from definition files only", "write its rules out"
    )


def with_urls_of_files(
    data: dict[str, object], option: str, into: str, info: ValidationInfo
) -> dict[str, object]:
    """Return options with the URLs of the files that `option` names appended to the option `into`."""
    written = data.get(option)
    names = [written] if isinstance(written, str) else written
    if not names or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return data
    found: list[str] = []
    for number, name in enumerate(names):
        try:
            found += _files(info, name.strip()).urls(name.strip())
        except PydanticCustomError as error:
            raise mistake_at(error, option, number) from error
    own = data.get(into) or []
    if isinstance(own, str):
        return {**data, into: "\n".join([own, *found])}
    return {**data, into: [*own, *found]} if isinstance(own, list | tuple) else data


def with_parameters(data: dict[str, object], info: ValidationInfo) -> dict[str, object]:
    """Return options completed by the parameter file that they name; written options take precedence."""
    name = data.get("parameter_file")
    if not isinstance(name, str) or not name.strip():
        return data
    fallback = _files(info, name.strip()).parameters(name.strip()).description_fallback
    return data if fallback is None else {"description_fallback": fallback, **data}


def alias_text(info: ValidationInfo, name: str) -> str:
    """Return the text of a file of host aliases that a definition names."""
    return _files(info, name.strip()).text(name.strip())


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
