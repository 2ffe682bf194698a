"""Number formats of spreadsheets (ECMA-376 part 1, 18.8.30): values as the reader of a sheet sees them.

Separators and names of months are those of English, as the format itself writes them. What is shown by the settings of
the reader's computer, as the short date is, has no form of its own, and keeps that of ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

Value = int | float | time | date | datetime | timedelta

BUILT_IN: Mapping[int, str] = {
    1: "0",
    2: "0.00",
    **dict.fromkeys((3, 5, 6, 37, 38, 41, 42), "#,##0"),
    **dict.fromkeys((4, 7, 8, 39, 40, 43, 44), "#,##0.00"),
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
}
"""The formats that have a number and no text in the file; the reader's computer decides on the others."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MAX_CHARS = 255
"""Excel's limit for a format."""
_MAX_DENOMINATOR_DIGITS = 4
_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)" | \\(?P<escaped>.) | [_*].
    | \[\$(?P<currency>[^\]-]*)[^\]]*\] | \[(?P<sign>[<>=]{1,2})\s*(?P<limit>-?[\d.]{1,20})\]
    | \[(?P<elapsed>h{1,2}|m{1,2}|s{1,2})\] | \[[^\]]*\]
    | (?P<half>AM/PM|A/P) | (?P<general>General) | (?P<E>E[+-]) | (?P<parts>\.0{1,3})(?![0#?])
    | (?P<date>y+|m+|d+|h+|s+) | (?P<digit>[0#?]) | (?P<mark>[.,%/@]) | (?P<other>.)
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_TEXTS = frozenset({"quoted", "escaped", "currency", "other"})
_OF_READER = re.compile(r"\[\$-F[48]00\]|\[\$-x-sys", re.IGNORECASE)
_TEST: Mapping[str, Callable[[float, float], bool]] = {
    "<": float.__lt__,
    ">": float.__gt__,
    "=": float.__eq__,
    "<=": float.__le__,
    ">=": float.__ge__,
    "<>": float.__ne__,
}
_HEADER_CODE = re.compile(
    r'&(?:"[^"]{0,200}"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Za-z]|&|\[[^\]]{1,40}\])'
)
"""What is no text in a header: `&C` is the place, `&P` the number of the page."""
_SECTION, _PAGE, _PAGES = "\1", "\2", "\3"
_MARKS = {"&&": "&", "&P": _PAGE, "&N": _PAGES, "&L": _SECTION, "&C": _SECTION, "&R": _SECTION}
_PAGE_NUMBER = re.compile(f"{_PAGE}(?:\\s?[^\\s{_PAGES}]{{1,10}}\\s?{_PAGES})?|{_PAGES}")
_PAGE_LABEL = re.compile(rf"\s*\w*\s*(?:{_PAGE_NUMBER.pattern})\s*")
_EXACT = Context(prec=700)
_UNITS = [Decimal(1).scaleb(-places) for places in range(_MAX_CHARS + 1)]
_LETTERS = {"text": "t", "%": "%", ".": ".", ",": ","}
_PLAIN = re.compile(r"([t%]*)(#*(?:,#+)*0?|#*,?0)(\.0*)?([t%]*)")
"""The kinds of the tokens of a plain section: text, digits, decimals, text."""


class _Token(NamedTuple):
    kind: str
    """`text`, `digit`, `.`, `,`, `%`, `/`, `E`, `@`, `date`, `elapsed`, `half` (of the day), `parts` (of a second)."""
    text: str


class _Plain(NamedTuple):
    """A section that is digits with text before and after them, as nearly all are."""

    before: str
    after: str
    digits: int
    """The fewest digits before the point."""
    decimals: int
    grouped: bool
    percents: int

    def shown(self, value: float) -> str:
        """Return a number that is not negative."""
        number = Decimal(repr(value))
        if self.percents:
            number = number.scaleb(2 * self.percents, _EXACT)
        rounded = number.quantize(_UNITS[self.decimals], ROUND_HALF_UP, _EXACT)
        text = f"{rounded:,f}" if self.grouped else f"{rounded:f}"
        if not self.digits and text.startswith("0"):
            text = text[1:]
        return f"{self.before}{text}{self.after}"


class _Section(NamedTuple):
    """What one of the parts between semicolons says."""

    tokens: tuple[_Token, ...]
    plain: _Plain | None
    test: Callable[[float, float], bool] | None
    limit: float


class NumberFormat:
    """A format, made once and used for many values."""

    def __init__(self, code: str) -> None:
        self._sections = [_section(part) for part in _split(code)][:4]
        self._is_date = any(
            token.kind in ("date", "elapsed") for section in self._sections for token in section.tokens
        )
        self.is_of_days = any(
            token.kind == "date" and token.text[0] in "yYdD"
            for section in self._sections
            for token in section.tokens
        )
        """Whether it shows a day or a year."""

    def shown(self, value: Value) -> str:
        """Return a value as it is shown; empty if the format shows nothing, or values of other kinds."""
        if isinstance(value, (date, time, timedelta)):
            return _moment(value, self._sections[0].tokens) if self._is_date else ""
        if self._is_date or value != value or abs(value) > 1e300:  # noqa: PLR0124 - not a number
            return ""
        section, is_signed = self._section_for(float(value))
        plain = section.plain
        text = plain.shown(abs(value)) if plain is not None else _number(abs(value), section.tokens)
        return f"-{text}" if text and is_signed and value < 0 and _is_something(text) else text

    def _section_for(self, value: float) -> tuple[_Section, bool]:
        """Return the section for a value, and whether it leaves the sign to be written."""
        sections = self._sections
        if any(section.test for section in sections):
            for section in sections:
                if section.test is None or section.test(value, section.limit):
                    return section, True
            return sections[-1], True
        if len(sections) > 1 and value < 0:
            return sections[1], False
        return (sections[2], False) if len(sections) > 2 and value == 0 else (sections[0], True)


class CellFormat(NamedTuple):
    """A cell and the format of its value."""

    row: int
    """From 0, as the column."""
    column: int
    format: NumberFormat


@lru_cache(maxsize=1024)
def number_format(code: str) -> NumberFormat | None:
    """Return a format; None for one that shows values as they are, or as the reader's computer does."""
    if not code or len(code) > _MAX_CHARS or _OF_READER.search(code):
        return None
    made = NumberFormat(code)
    kinds = {token.kind for section in made._sections for token in section.tokens}
    return made if kinds & {"digit", "date", "elapsed"} and "general" not in kinds else None


def header_text(code: str) -> str:
    """Return the text of a header or footer without its codes for fonts, places and fields (18.3.1.46)."""
    marked = _HEADER_CODE.sub(_mark_of, code)
    return " ".join(" ".join(map(_without_numbers, marked.split(_SECTION))).split())


def _mark_of(match: re.Match[str]) -> str:
    """Return what stands for a code; a field other than the number of the page is nothing."""
    return _MARKS.get(match[0].upper(), "")


def _without_numbers(section: str) -> str:
    """Return a section of a header without numbers of pages, and nothing if it only labels them: `Page &P of &N`."""
    return "" if _PAGE_LABEL.fullmatch(section) else _PAGE_NUMBER.sub("", section)


def _split(code: str) -> list[str]:
    """Return the sections of a format."""
    parts, part = list[str](), ""
    for token in _TOKEN.finditer(code):
        if token[0] == ";":
            parts.append(part)
            part = ""
        else:
            part += token[0]
    return [*parts, part]


def _section(code: str) -> _Section:
    tokens, test, limit = list[_Token](), None, 0.0
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        text = match[kind] if kind else ""
        if kind == "limit":
            test, limit = _TEST.get(match["sign"]), _limit(text)
        elif text:
            tokens.append(_Token("text" if kind in _TEXTS else text if kind == "mark" else kind, text))
    known = tuple(_with_decimals(tokens))
    return _Section(known, _plain(known), test, limit)


def _plain(tokens: tuple[_Token, ...]) -> _Plain | None:
    """Return a section as a plain one; None if it is not."""
    letters = "".join(
        _LETTERS.get(token.kind, token.text if token.kind == "digit" else "x") for token in tokens
    )
    match = _PLAIN.fullmatch(letters)
    if match is None:
        return None
    before, after = ("".join(token.text for token in tokens[slice(*match.span(group))]) for group in (1, 4))
    digits, decimals = match[2], (match[3] or ".")[1:]
    return _Plain(
        before.lstrip(),
        after.rstrip(),
        digits.count("0"),
        len(decimals),
        "," in digits,
        letters.count("%"),
    )


def _limit(number: str) -> float:
    try:
        return float(number)
    except ValueError:
        return 0.0


def _with_decimals(tokens: list[_Token]) -> Iterator[_Token]:
    """Yield the tokens; a point and zeros are parts of a second only behind seconds."""
    is_date = any(token.kind in ("date", "elapsed") for token in tokens)
    for token in tokens:
        if token.kind == "parts" and not is_date:
            yield _Token(".", ".")
            yield from (_Token("digit", "0") for _ in token.text[1:])
        else:
            yield token


def _is_something(text: str) -> bool:
    """Return whether a number has a digit that is not 0: what is rounded to 0 has no sign."""
    return any(character in "123456789" for character in text)


def _number(value: float, tokens: tuple[_Token, ...]) -> str:
    kinds = [token.kind for token in tokens]
    if "digit" not in kinds:
        return "".join(token.text for token in tokens if token.kind in ("text", "%")).strip()
    if "/" in kinds:
        return _fraction(value, tokens)
    last = len(kinds) - 1 - kinds[::-1].index("digit")
    point = kinds.index(".") if "." in kinds else len(kinds)
    power_at = kinds.index("E") if "E" in kinds else len(kinds)
    whole = [at for at, kind in enumerate(kinds) if kind == "digit" and at < min(point, power_at)]
    decimals = [at for at, kind in enumerate(kinds) if kind == "digit" and point < at < power_at]
    commas = [at for at, kind in enumerate(kinds) if kind == ","]
    end_of_whole = whole[-1] if whole else -1
    scale = sum(1 for at in commas if at > (last if not decimals else end_of_whole) or at == end_of_whole + 1)
    number = Decimal(repr(value)).scaleb(2 * kinds.count("%") - 3 * scale, _EXACT)
    power = 0
    if power_at < len(kinds):
        number, power = _normalised(number, max(len(whole), 1), len(decimals))
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, _EXACT)
    integer, _, rest = f"{rounded:f}".partition(".")
    is_grouped = any(whole and whole[0] < at < end_of_whole for at in commas)
    shown = _spread_whole(integer.lstrip("0"), [(at, tokens[at].text) for at in whole], grouped=is_grouped)
    shown |= _spread_decimals(rest, [(at, tokens[at].text) for at in decimals])
    if power_at < len(kinds):
        after = [at for at, kind in enumerate(kinds) if kind == "digit" and at > power_at]
        shown |= _spread_whole(str(abs(power)).lstrip("0"), [(at, tokens[at].text) for at in after])
        shown[power_at] = "E" + ("-" if power < 0 else tokens[power_at].text[1].replace("-", ""))
    if any(shown.get(at) for at in decimals):
        shown[point] = "." if whole else f"{integer if integer != '0' else ''}."
    for at, token in enumerate(tokens):
        if token.kind in ("text", "%"):
            shown[at] = token.text
    return "".join(shown[at] for at in sorted(shown)).strip()


def _normalised(number: Decimal, places: int, decimals: int) -> tuple[Decimal, int]:
    """Return a number with so many places before the point, and its power of ten."""
    if not number:
        return number, 0
    power = number.adjusted() // places * places
    mantissa = number.scaleb(-power, _EXACT)
    if mantissa.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _EXACT).adjusted() >= places:
        power += places
        mantissa = number.scaleb(-power, _EXACT)
    return mantissa, power


def _spread_whole(digits: str, places: list[tuple[int, str]], *, grouped: bool = False) -> dict[int, str]:
    """Return what stands at each place before the point: a digit each, at the first one all that are left."""
    shown: dict[int, str] = {}
    for number, (at, mark) in enumerate(reversed(places)):
        is_first = number == len(places) - 1
        rest = digits[: len(digits) - number] if number < len(digits) else ""
        here = (rest if is_first else rest[-1:]) or ("0" if mark == "0" else "")
        shown[at] = _grouped(here, number) if grouped else here
    return shown


def _grouped(digits: str, following: int) -> str:
    """Return digits that so many others follow, with commas between groups of three."""
    out = ""
    for place, digit in zip(range(following + len(digits) - 1, -1, -1), digits, strict=False):
        out += digit + ("," if place and place % 3 == 0 else "")
    return out


def _spread_decimals(digits: str, places: list[tuple[int, str]]) -> dict[int, str]:
    """Return what stands at each place behind the point; zeros at the end only where the format asks for them."""
    shown: dict[int, str] = {}
    is_needed = False
    for (at, mark), digit in zip(reversed(places), reversed(digits), strict=False):
        is_needed = is_needed or digit != "0" or mark == "0"
        shown[at] = digit if is_needed else ""
    return shown


def _fraction(value: float, tokens: tuple[_Token, ...]) -> str:
    """Return a number with a fraction: `1 1/2`."""
    code = "".join(
        token.text if token.kind in ("digit", "/") or token.text.isdigit() else " " for token in tokens
    )
    before, _, after = code.partition("/")
    has_whole = len(before.split()) > 1
    fixed = re.match(
        r"\s*(\d+)", after.replace("#", "?").replace("0", "?") if "?" in after or "#" in after else after
    )
    exact = Fraction(repr(value)) if value < 1e15 else Fraction(int(value))
    whole = exact.numerator // exact.denominator if has_whole else 0
    if fixed and 0 < int(fixed[1]) <= 10**_MAX_DENOMINATOR_DIGITS:
        denominator = int(fixed[1])
        numerator = round((exact - whole) * denominator)
    else:
        digits = min(max(len(after.split()[0]) if after.split() else 1, 1), _MAX_DENOMINATOR_DIGITS)
        part = (exact - whole).limit_denominator(10**digits - 1)
        numerator, denominator = part.numerator, part.denominator
    if has_whole and numerator == denominator:
        whole, numerator = whole + 1, 0
    if not numerator:
        return str(whole)
    return f"{whole} {numerator}/{denominator}" if whole else f"{numerator}/{denominator}"


def _moment(value: time | date | timedelta, tokens: tuple[_Token, ...]) -> str:
    """Return a date, time or span; empty if the format asks for what the value has not."""
    dated = [token for token in tokens if token.kind in ("date", "elapsed")]
    is_halved = any(token.kind == "half" for token in tokens)
    if isinstance(value, timedelta):
        moment, seconds = None, value.total_seconds()
    elif isinstance(value, time):
        moment, seconds = None, value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    else:
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        clock = moment.time()
        seconds = clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6
    out, number = "", 0
    for token in tokens:
        if token.kind in ("text", "/", ",", "."):
            out += token.text
        elif token.kind == "half":
            out += ("A", "P")[seconds % 86_400 >= 43_200] + ("M" if len(token.text) > 3 else "")
        elif token.kind == "parts":
            out += f"{seconds % 1:.{len(token.text) - 1}f}"[1:]
        elif token.kind in ("date", "elapsed"):
            letters = token.text.lower()
            if _means_minutes(dated, number):
                letters = letters.replace("m", "n")
            number += 1
            if moment is None and letters[0] in "ymd":
                return ""
            out += _part(letters, moment, seconds, elapsed=token.kind == "elapsed", halved=is_halved)
    return out.strip()


def _means_minutes(dated: list[_Token], number: int) -> bool:
    """Return whether an `m` follows hours or comes before seconds."""
    if dated[number].text[0] not in "mM":
        return False
    before = dated[number - 1].text[0] if number else ""
    after = dated[number + 1].text[0] if number + 1 < len(dated) else ""
    return dated[number].kind == "elapsed" or before in ("h", "H") or after in ("s", "S")


def _part(letters: str, moment: datetime | None, seconds: float, *, elapsed: bool, halved: bool) -> str:
    kind, size = letters[0], len(letters)
    if kind in "hns":
        unit = {"h": 3600, "n": 60, "s": 1}[kind]
        number = int(seconds // unit)
        if not elapsed:
            number = number % 24 if kind == "h" else number % 60
            number = (number + 11) % 12 + 1 if kind == "h" and halved else number
        return f"{number:0{min(size, 2)}d}"
    assert moment is not None
    match kind, size:
        case "y", _:
            return f"{moment.year:04d}" if size > 2 else f"{moment.year % 100:02d}"
        case (("m" | "d"), (1 | 2)):
            return f"{moment.month if kind == 'm' else moment.day:0{size}d}"
        case "m", 5:
            return _MONTHS[moment.month - 1][0]
        case "m", _:
            return _MONTHS[moment.month - 1][: 3 if size == 3 else None]
        case _:
            return _DAYS[moment.weekday()][: 3 if size == 3 else None]
