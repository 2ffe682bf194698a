"""Errors of the project's own validators: a problem and advice, both shown to the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from ultracrawl.rules.boundary.rules import PatternError

MISTAKE = "mistake"
"""Error type of validation errors whose text is ready for users."""

_MAX_SHOWN_LENGTH = 80


def mistake(problem: str, instead: str, *, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """Return the error to raise in a validator; both texts are shown to the user unchanged.

    `at` is the path of the option below what is validated, for validators of a whole group.
    """
    context = {"problem": problem, "instead": instead, "at": at}
    return PydanticCustomError(MISTAKE, "{problem}; {instead}", context)


def mistake_at(error: PydanticCustomError, *path: str | int) -> PydanticCustomError:
    """Return a mistake with the path of the option that it is about."""
    context = error.context or {}
    return mistake(context["problem"], context["instead"], at=path)


def must_match(expression: str, problem: str, instead: str) -> AfterValidator:
    """Return a validator: a text must match the whole expression; `problem` continues the quoted text."""
    fullmatch = re.compile(expression).fullmatch

    def check(text: str) -> str:
        if not fullmatch(text):
            raise mistake(f"{format_value(text)} {problem}", instead)
        return text

    return AfterValidator(check)


def unusable_expression(what: str, error: PatternError, instead: str) -> PydanticCustomError:
    """Return the error to raise for an expression that does not compile; `what` names it."""
    part = f" at `{error.offending}`" if error.offending else ""
    return mistake(f"{what} cannot be used: {error.problem}{part}", instead)


def format_value(value: object) -> str:
    """Return a value as a definition file would write it, in backquotes, truncated if it is long."""
    if value is None:
        return "an empty value"
    if isinstance(value, dict):
        return "a group of options"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text if len(text) <= _MAX_SHOWN_LENGTH else f'{text[:_MAX_SHOWN_LENGTH]}...'}`"


def closest_match(word: object, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known word most similar to `word`, None if none is; `likeness` is the least ratio of equal letters."""
    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(str(word).lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[found[0]] if found else None


def suggestion(word: object, known: Iterable[str], otherwise: str) -> str:
    """Return the advice to write the most similar known word; `otherwise` if none is similar."""
    guess = closest_match(word, known)
    return f"write `{guess}`" if guess else otherwise


def format_names(names: Iterable[str]) -> str:
    """Return names as `a`, `b` or `c`."""
    quoted = [f"`{name}`" for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def missing_blank(option: str) -> tuple[str, str]:
    """Return problem and advice for an option without a blank behind its colon: to YAML, both are one text."""
    return f"there is no blank behind the colon of `{option}`", f"write it as `{option}: ...`"
