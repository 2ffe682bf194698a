"""Parses option values: types, allowed words, bounds. Tolerated deviations give a notice."""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import OptionSpec, Value
from ultracrawl.sources import Place
from ultracrawl.sources.mistakes import format_names, format_value

_YES, _NO = frozenset({"true", "1", "on"}), frozenset({"false", "0", "off"})
_INTEGER = re.compile(r"[-+]?(\d+)(\.0*)?", re.ASCII)
_MAX_DIGITS = 18
_REAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class Member(NamedTuple):
    """A list member, or the single text of an option, stripped."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class RawOption:
    """An option as written in the file: its text, and its members if it has any."""

    spec: OptionSpec
    name: str
    place: Place
    declared: str
    """Its `type` attribute; empty without one."""
    text: str
    members: tuple[Member, ...] | None
    secret: bool = False

    @property
    def shown(self) -> str:
        """The text for notices, without secrets."""
        return "the value" if self.secret else format_value(self.text)


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an option with its place; line 0 for defaults."""

    spec: OptionSpec
    name: str
    """The name of the option, which is data for options with free names."""
    value: Value
    place: Place
    lines: tuple[int, ...] = ()
    """The lines of the members."""
    free: str = ""
    """The free name of its section, empty without one."""

    def member_place(self, line: int) -> Place:
        """Return the place of a member."""
        return self.place._replace(line=line)


class _Ignored(Exception):  # noqa: N818 - not an error: the option is treated as absent
    """The option is treated as absent, and that was reported."""


def read_value(written: RawOption, notices: Notices, free: str = "") -> Setting | None:
    """Return the value of an option, None if it is treated as absent. Adds mistakes and deviations to `notices`."""
    reader = _Reader(written, notices)
    try:
        value, lines = reader.read()
    except _Ignored:
        return None
    return Setting(written.spec, written.name, value, written.place, lines, free)


class _Reader:
    """Parses one option; each method reports the deviations that it tolerates."""

    def __init__(self, written: RawOption, notices: Notices) -> None:
        self._written = written
        self._spec = written.spec
        self._notices = notices

    def read(self) -> tuple[Value, tuple[int, ...]]:
        kind = self._spec.kind
        if self._written.declared != kind:
            declared = self._written.declared or "nothing"
            self._report(Code.TYPE, f"has the type {kind}, not {declared}", f'write `type="{kind}"`')
        if kind == "list-string":
            return self._members()
        return self._scalar(self._one_text()), ()

    def _report(self, code: Code, problem: str, instead: str, line: int = 0) -> None:
        place = self._written.place
        self._notices.add(code, place._replace(line=line or place.line), problem, instead)

    def _wrong(self, problem: str, instead: str) -> _Ignored:
        self._report(Code.VALUE, problem, instead)
        return _Ignored()

    # ---- single values

    def _one_text(self) -> str:
        members = self._written.members
        if members is None:
            return self._written.text
        if len(members) != 1:
            raise self._wrong(f"has {len(members)} members and takes one value", "write the value alone")
        self._report(
            Code.TYPE, "takes one value, not a list; its member is used", "write the value without `member`"
        )
        return members[0].text

    def _scalar(self, text: str) -> Value:
        if not text:
            if self._spec.empty:
                return None
            if self._spec.kind == "string" and self._spec.name == "*":
                return ""
            self._report(Code.EMPTY, "has no value and is ignored", "write a value, or remove it")
            raise _Ignored
        match self._spec.kind:
            case "boolean":
                return self._boolean(text)
            case "integer":
                return int(self._bounded(self._integer(text)))
            case "real":
                return float(self._bounded(self._real(text)))
        return self._word(text) if self._spec.words else text

    def _boolean(self, text: str) -> bool:
        lowered = text.lower()
        if text in ("yes", "no"):
            return text == "yes"
        if lowered in ("yes", "no"):
            self._report(Code.CASE, f"{format_value(text)} is taken for `{lowered}`", f"write `{lowered}`")
            return lowered == "yes"
        if lowered not in _YES | _NO:
            raise self._wrong(f"{self._written.shown} is neither yes nor no", "write `yes` or `no`")
        meant = "yes" if lowered in _YES else "no"
        self._report(Code.RANGE, f"{format_value(text)} is taken for `{meant}`", f"write `{meant}`")
        return meant == "yes"

    def _integer(self, text: str) -> int:
        found = _INTEGER.fullmatch(text)
        if found is None:
            raise self._wrong(f"{self._written.shown} is not a whole number", "write digits only, as `60`")
        if len(found[1]) > _MAX_DIGITS:
            raise self._wrong(f"{self._written.shown} is too large a number", "write a smaller one")
        if found[2] is not None:
            self._report(
                Code.TYPE, f"{format_value(text)} is taken for a whole number", "write it without a point"
            )
        return int(text.partition(".")[0])

    def _real(self, text: str) -> float:
        if not _REAL.fullmatch(text):
            raise self._wrong(f"{self._written.shown} is not a number", "write it with a point, as `1.5`")
        number = float(text)
        if not isfinite(number):
            raise self._wrong(f"{self._written.shown} is too large a number", "write a smaller one")
        return number

    def _bounded(self, number: float) -> float:
        least, most = self._spec.least, self._spec.most
        nearest = number if least is None else max(number, least)
        nearest = nearest if most is None else min(nearest, most)
        if nearest != number:
            bounds = f"{_plain(least)} to {_plain(most)}" if most is not None else f"{_plain(least)} or more"
            self._report(Code.RANGE, f"{_plain(number)} is taken for {_plain(nearest)}", f"write {bounds}")
        return nearest

    def _word(self, text: str) -> str:
        word = self._known(text)
        if word is None:
            problem = f"{format_value(text)} is not a valid value and is ignored"
            self._report(Code.RANGE, problem, f"write {format_names(self._spec.words)}")
            raise _Ignored
        if word != text and not self._spec.folds:
            self._report(
                Code.CASE,
                f"{format_value(text)} is taken for `{word}`",
                f"write {format_names(self._spec.words)}",
            )
        return word

    def _known(self, text: str) -> str | None:
        """Return the allowed word equal to a text ignoring case, or None."""
        return next((word for word in self._spec.words if word.lower() == text.lower()), None)

    # ---- lists

    def _members(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        found: dict[str, int] = {}
        for member in self._listed():
            text = self._member(member)
            if text:
                found.setdefault(text, member.line)
        if not found and self._spec.never_empty:
            self._report(Code.EMPTY, "is empty; the default is used", "write members, or remove it")
            raise _Ignored
        return tuple(found), tuple(found.values())

    def _listed(self) -> tuple[Member, ...]:
        members, text = self._written.members, self._written.text
        if members is None:
            if text:
                self._report(
                    Code.MEMBER, "has no members; its text is used as one", "write `<member>` around it"
                )
            return (Member(text, self._written.place.line),)
        if text:
            self._report(
                Code.MEMBER, "has text beside its members, which is ignored", "write `<member>` around it"
            )
        return members

    def _member(self, member: Member) -> str:
        words = self._spec.words
        if not member.text and self._written.members is not None:
            self._report(Code.MEMBER, "a member is empty and is dropped", "remove it", member.line)
        if not words or not member.text:
            return member.text
        word = self._known(member.text)
        if word is None:
            problem = f"{format_value(member.text)} is not known and is dropped"
            self._report(Code.MEMBER, problem, f"write {format_names(words)}", member.line)
            return ""
        if word != member.text and not self._spec.folds:
            problem = f"{format_value(member.text)} is in another case"
            self._report(Code.CASE, problem, f"write {format_names(words)}", member.line)
        return word


def _plain(number: float | None) -> str:
    return f"{number:g}" if number is None or number != int(number) else str(int(number))
