"""Functions of w3lib as rewriting steps: `canonicalize_url` and similar."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from w3lib import url as w3lib_url

from ultracrawl.rules.boundary.rules import RuleError

UrlStep = Callable[[str], str]

STEPS: Mapping[str, Callable[..., str]] = {
    name: getattr(w3lib_url, name)
    for name in (
        "add_or_replace_parameter",
        "add_or_replace_parameters",
        "canonicalize_url",
        "safe_download_url",
        "safe_url_string",
        "url_query_cleaner",
    )
}
"""Functions of `w3lib.url` that map a URL to a URL."""
_EXAMPLE = "https://www.example.com/a?b=c"


def is_step(written: object) -> bool:
    """Return whether this is a w3lib step: a name, or a mapping of a name to arguments."""
    return isinstance(written, Mapping) or (isinstance(written, str) and written.strip() in STEPS)


def parse_step(written: object) -> UrlStep:
    """Parse a step such as `"canonicalize_url"` or `{"url_query_cleaner": {"parameterlist": ["id"]}}`.

    Raises `RuleError`.
    """
    name, arguments = _parts(written)
    function = STEPS.get(name)
    if function is None:
        raise RuleError(f"`{name}` is no step of w3lib; the steps are {', '.join(STEPS)}")
    try:
        inspect.signature(function).bind(_EXAMPLE, **arguments)
        step = partial(function, **arguments)
        if not isinstance(step(_EXAMPLE), str):
            raise TypeError("it does not return a string")
    except Exception as error:  # w3lib raises various exceptions for bad arguments
        raise RuleError(f"the step `{name}` cannot be used: {error}") from error
    return step


def _parts(written: object) -> tuple[str, dict[str, Any]]:
    if isinstance(written, str):
        return written.strip(), {}
    if isinstance(written, Mapping) and len(written) == 1:
        ((name, arguments),) = written.items()
        if arguments is None or isinstance(arguments, Mapping):
            return str(name), {str(key): value for key, value in (arguments or {}).items()}
    raise RuleError("a step is written as its name, or as its name with its arguments by name")
