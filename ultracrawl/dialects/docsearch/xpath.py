"""Translates simple XPath expressions, as files of scrapers have them for headings and texts, into CSS selectors."""

from __future__ import annotations

import re

_STEP = re.compile(r"(//|/)((?:[\w-]+|\*)(?:\[(?:[^\[\]'\"]|'[^']*'|\"[^\"]*\")*\])*)")
_NAME = re.compile(r"[\w-]+|\*")
_PREDICATE = re.compile(r"\[((?:[^\[\]'\"]|'[^']*'|\"[^\"]*\")*)\]")
_VALUE = r"(?:'([^'\"\\]*)'|\"([^'\"\\]*)\")"
_BLANK = "['\"] ['\"]"
_CONDITIONS = (
    (re.compile(rf"@([\w-]+)\s*=\s*{_VALUE}"), "="),
    (
        re.compile(
            rf"contains\(\s*concat\(\s*{_BLANK}\s*,\s*(?:normalize-space\(\s*)?@([\w-]+)\s*\)?\s*,\s*{_BLANK}"
            rf"\s*\)\s*,\s*{_VALUE}\s*\)"
        ),
        "~=",
    ),
    (re.compile(rf"contains\(\s*@([\w-]+)\s*,\s*{_VALUE}\s*\)"), "*="),
    (re.compile(rf"starts-with\(\s*@([\w-]+)\s*,\s*{_VALUE}\s*\)"), "^="),
)
_HAS = re.compile(r"@([\w-]+)")
_TEXT = re.compile(r"/{1,2}text\(\)$")


def css_of(expression: str) -> str | None:
    """Return a CSS selector that selects the same elements; None if the expression is not that simple."""
    selectors = [_selector(part.strip()) for part in expression.split("|")]
    return ", ".join(selector for selector in selectors if selector) if all(selectors) else None


def _selector(path: str) -> str | None:
    path = _TEXT.sub("", path.removeprefix("."))
    selector, at = "", 0
    for step in _STEP.finditer(path):
        name = _NAME.match(step[2])
        if step.start() != at or name is None:
            return None
        conditions = [_condition(found) for found in _PREDICATE.findall(step[2])]
        if not all(conditions):
            return None
        combinator = "" if not selector else " " if step[1] == "//" else " > "
        selector += combinator + name[0] + "".join(filter(None, conditions))
        at = step.end()
    return selector if selector and at == len(path) and path.startswith("//") else None


def _condition(text: str) -> str | None:
    text = text.strip()
    if " and " in text:
        parts = [_condition(part) for part in text.split(" and ")]
        return "".join(filter(None, parts)) if all(parts) else None
    if negated := re.fullmatch(r"not\((.*)\)", text):
        inner = _condition(negated[1])
        return f":not({inner})" if inner else None
    if has := _HAS.fullmatch(text):
        return f"[{has[1]}]"
    for pattern, operator in _CONDITIONS:
        if found := pattern.fullmatch(text):
            value = found[2] if found[2] is not None else found[3]
            return f'[{found[1]}{operator}"{value.strip() if operator == "~=" else value}"]'
    return None
