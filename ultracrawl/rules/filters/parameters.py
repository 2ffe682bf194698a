"""The parameters of a function: what it takes, and what a directive gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Form(Enum):
    """How the text of a parameter is read."""

    TEXT = "a text"
    NUMBER = "a whole number"
    SWITCH = "true, false, on or off"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a function takes; its value is in `choices` if there are any, a number not below `least`."""

    name: str
    form: Form = Form.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None

    def problem(self, text: str) -> str:
        """Return what is wrong with a value, empty if nothing is."""
        if self.choices and text not in self.choices:
            return f"`{text}` is none of {', '.join(self.choices)}"
        if self.form is Form.SWITCH and text.lower() not in SWITCHES:
            return f"`{text}` is not true, false, on or off"
        if self.form is Form.NUMBER:
            return self._problem_of_number(text)
        return ""

    def _problem_of_number(self, text: str) -> str:
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 18:
            return f"`{text}` is not a whole number"
        if self.least is not None and int(text) < self.least:
            return f"{text} is less than {self.least}"
        return ""


class ParameterBlock(Mapping[str, str]):
    """The pairs that a directive hands to its function; nobody can change them."""

    __slots__ = ("_pairs", "function", "line")

    def __init__(self, function: str, pairs: Mapping[str, str], line: int = 0) -> None:
        self.function = function
        self.line = line
        self._pairs = dict(pairs)

    def __getitem__(self, name: str) -> str:
        """Return a value as it was written. Raises `KeyError`."""
        return self._pairs[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def number(self, name: str, default: int | None = None) -> int | None:
        """Return a value that was checked to be a whole number."""
        text = self._pairs.get(name)
        return default if text is None else int(text)

    def switch(self, name: str, default: bool = False) -> bool:
        """Return a value that was checked to be a switch."""
        text = self._pairs.get(name)
        return default if text is None else SWITCHES[text.lower()]
