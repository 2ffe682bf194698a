"""XML files of FAST collections, written from options by their paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from ultracrawl.dialects.fast_xml.options import OPTIONS, OptionSpec

Value = bool | int | float | str | tuple[str, ...] | list[str] | None


_ADDRESS = re.compile("://|URL")
"""What shows that a free name is an address, which may hold slashes."""


def fast_xml(options: Mapping[str, Value] | None = None, *, inside: str = "", name: str = "handbook") -> str:
    """Return a file with one collection; options are named by path, as `storage/datastore`, `inside` is raw XML."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<CrawlerConfig>\n'
        f"<DomainSpecification name={quoteattr(name)}>\n{fast_options(options or {})}{inside}"
        "</DomainSpecification>\n</CrawlerConfig>\n"
    )


def fast_options(options: Mapping[str, Value]) -> str:
    """Return the elements of options, those of one section together."""
    own = "".join(attrib(path, path, value) for path, value in options.items() if "/" not in _head(path))
    sections: dict[str, dict[str, Value]] = {}
    for path, value in options.items():
        if "/" in _head(path):
            section, _, rest = path.partition("/")
            sections.setdefault(section, {})[rest] = value
    return own + "".join(
        f"<section name={quoteattr(section)}>\n{_section(section, inner)}</section>\n"
        for section, inner in sections.items()
    )


def _head(path: str) -> str:
    """Return the part of a path that names sections; a free name may hold slashes behind `://`."""
    return path.partition("://")[0]


def _section(section: str, options: Mapping[str, Value]) -> str:
    result, nested = "", {}
    for path, value in options.items():
        if "/" in _head(path) and OPTIONS.section(section, path.partition("/")[0]):
            nested.setdefault(path.partition("/")[0], {})[path.partition("/")[2]] = value
        else:
            result += attrib(path, f"{section}/{path}", value)
    return result + "".join(
        f"<section name={quoteattr(name)}>\n{_section(OPTIONS.section(section, name) or '', inner)}</section>\n"
        for name, inner in nested.items()
    )


def attrib(name: str, path: str, value: Value) -> str:
    """Return the element of one option; its path says which type it has."""
    spec = _spec(path)
    kind = spec.kind if spec else "string"
    return f'<attrib name={quoteattr(name)} type="{kind}">{_content(value)}</attrib>\n'


def number_of(path: str) -> int:
    """Return the number of the option of a path."""
    spec = _spec(path)
    assert spec, path
    return spec.number


def _spec(path: str) -> OptionSpec | None:
    *sections, last = path.split("/", 1 if _ADDRESS.search(path) else -1)
    section = ""
    for name in sections:
        section = OPTIONS.section(section, name) or f"{section}/{name}"
    return OPTIONS.find(section, last)


def _content(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "".join(f"\n  <member> {escape(member)} </member>" for member in value) + "\n"
    return "" if value is None else f" {escape(str(value))} "
