"""Lists of values: what an attribute may hold, and what people call it in their languages (Ultra Search 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value as documents have it, and its display names by language code in lower case (`en`, `pt-br`).

    The code `""` holds a name that is good for every language. The value need not occur in any document.
    """

    value: str
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def display_name(self, language: str = "") -> str:
        """Return the name in a language: `pt-BR` looks for itself, then `pt`; else any name, else the value."""
        code = language.lower().replace("_", "-")
        for wanted in (code, code.partition("-")[0], ""):
            if wanted in self.names:
                return self.names[wanted]
        return next(iter(self.names.values()), self.value)


@dataclass(frozen=True, slots=True)
class ValueList:
    """The list of values of one search attribute, in its order."""

    attribute: str
    values: tuple[ListedValue, ...]

    def display_name(self, value: object, language: str = "") -> str:
        """Return the name of a value of a document; one that is not in the list is shown as it is."""
        text = value_text(value)
        found = next((one for one in self.values if one.value.casefold() == text.casefold()), None)
        return found.display_name(language) if found is not None else text

    def with_values(self, others: Iterable[ListedValue]) -> ValueList:
        """Return this list with others behind it; a value that it has already stays as it is."""
        known = {one.value for one in self.values}
        return ValueList(self.attribute, (*self.values, *(one for one in others if one.value not in known)))


def value_text(value: object) -> str:
    """Return a value of a document as lists write it: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
