"""The tables of docs/fast.md, made from the list of options.

`python tools/fast_tables.py docs/fast.md` writes them anew into the page.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from ultracrawl.dialects.fast_xml.options import OPTIONS, OptionSpec, Value

_MARKED = re.compile(r"(<!-- (counts|options) -->\n).*?(<!-- end -->)", re.DOTALL)
_SUPPORT = ("honoured", "no effect here", "not yet")


def support(spec: OptionSpec) -> str:
    """Return how an option is supported."""
    return _SUPPORT[0] if spec.honoured else _SUPPORT[1] if spec.no_effect else _SUPPORT[2]


def counts() -> str:
    """Return the table of the numbers of options by class and support."""
    found = Counter((spec.group, support(spec)) for spec in OPTIONS.all)
    rows = [("| class | " + " | ".join(_SUPPORT) + " | all |"), "| --- " * 5 + "|"]
    for group in ("CORE", "OPS", "CLUSTER"):
        numbers = [found[group, name] for name in _SUPPORT]
        rows.append(f"| {group} | {' | '.join(map(str, numbers))} | {sum(numbers)} |")
    totals = [sum(found[group, name] for group in ("CORE", "OPS", "CLUSTER")) for name in _SUPPORT]
    rows.append(f"| all | {' | '.join(map(str, totals))} | {sum(totals)} |")
    return "\n".join(rows) + "\n"


def options() -> str:
    """Return the table of all options."""
    rows = ["| no. | option | type | default | class | meaning | here | test |", "| --- " * 8 + "|"]
    for spec in sorted(OPTIONS.all, key=lambda one: one.number):
        name = f"`{spec.path}`" + (" †" if spec.example_only else "")
        default = _default(spec.default, spec)
        test = f"`{spec.test}::fast_{spec.number}`" if spec.test else ""
        cells = (str(spec.number), name, spec.kind, default, spec.group, spec.meaning, _here(spec), test)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows).replace("<", "&lt;") + "\n"


def page(text: str) -> str:
    """Return a page with its tables replaced."""
    tables = {"counts": counts, "options": options}
    return _MARKED.sub(lambda match: f"{match[1]}\n{tables[match[2]]()}\n{match[3]}", text)


def _here(spec: OptionSpec) -> str:
    if spec.sets:
        return ", ".join(f"`{target}`" for target in spec.sets)
    if spec.shown:
        return spec.shown
    return f"no effect: {spec.no_effect}" if spec.no_effect else f"not yet: {spec.not_yet}"


def _default(value: Value, spec: OptionSpec) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) if value else "empty"
    return ("automatic" if spec.empty else "none") if value is None else str(value)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(page(target.read_text(encoding="utf-8")), encoding="utf-8")
