"""Write the tables of docs/fast.md from the list of options and from the tests that compare crawls with and without.

    python tools/fast_tables.py [--check]

Whether an option works is what its test saw: each of the tests has a table of its cases by the numbers of options, with
what a crawl shows without the option and with it. With `--check` nothing is written; options without a test or with
two, tests that do not fit the list of options, and differences of the page are printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ultracrawl.dialects.fast_xml.options import OPTIONS, OptionSpec, Value

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "fast.md"
NUMBERS = range(1, 225)
"""The numbers of the options of FAST."""
WORKS, SAME, CLUSTER, DECLARED = "works", "no effect", "CLUSTER", "declared"
_WORDS = (WORKS, SAME, CLUSTER, DECLARED)
_TABLES = {
    "test_fast_crawled": {"CASES": WORKS},
    "test_fast_played": {"CASES": WORKS},
    "test_fast_connected": {"CASES": WORKS},
    "test_fast_tuning": {"SAME": SAME, "DECLARED": DECLARED},
}
"""Test modules with tables of cases, and what each table shows of its options."""
_MARKED = re.compile(r"(<!-- (counts|options) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Result:
    """What a test saw of an option: `works` if crawls with and without it differ, `no effect` if they are the same."""

    number: int
    word: str
    module: str

    @property
    def test(self) -> str:
        """The module of the test, and its id there."""
        return f"`{self.module}::fast_{self.number}`"


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with `--check` print what is missing or differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and print what differs")
    check = parser.parse_args(arguments).check
    found = list(results())
    wrong = list(mistakes(found))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if wrong:
        return 1
    before = PAGE.read_text(encoding="utf-8")
    after = page(before, found)
    if not check:
        PAGE.write_text(after, encoding="utf-8")
    elif after != before:
        print(*sorted(set(after.splitlines()) - set(before.splitlines())), sep="\n")
        print("the tables of docs/fast.md differ: python tools/fast_tables.py")
        return 1
    return 0


def results() -> Iterator[Result]:
    """Yield what the tests saw, in the order of the numbers."""
    sys.path.insert(0, str(ROOT / "tests"))
    cluster = {spec.number for spec in OPTIONS.all if spec.group == CLUSTER}
    found = []
    for module, tables in _TABLES.items():
        tests = import_module(f"dialects.fast_xml.{module}")
        for table, word in tables.items():
            for number in getattr(tests, table):
                seen = CLUSTER if word == SAME and number in cluster else word
                found.append(Result(number, seen, module))
    return iter(sorted(found, key=lambda one: one.number))


def mistakes(found: Iterable[Result]) -> Iterator[str]:
    """Yield a line for each option without exactly one test, and for each test that says else than the list."""
    tests = Counter(one.number for one in found)
    for number in sorted({*NUMBERS, *tests}):
        if tests[number] != 1 or number not in NUMBERS:
            yield f"option {number} has {tests[number]} tests that compare crawls with it and without it"
    specs = {spec.number: spec for spec in OPTIONS.all}
    for one in found:
        spec = specs.get(one.number)
        if spec and bool(spec.no_effect) is not (one.word in (SAME, CLUSTER)):
            yield f"option {one.number}: options.yaml and {one.test} say different things about its effect"


def page(text: str, found: Iterable[Result]) -> str:
    """Return a page with its tables replaced."""
    by_number = {one.number: one for one in found}
    tables = {"counts": counts, "options": options}
    return _MARKED.sub(lambda match: f"{match[1]}\n{tables[match[2]](by_number)}\n{match[3]}", text)


def counts(found: dict[int, Result]) -> str:
    """Return the table of the numbers of options by class and result."""
    numbers = Counter[tuple[str, str]]((spec.group, found[spec.number].word) for spec in OPTIONS.all)
    rows = [f"| class | {' | '.join(_WORDS)} | all |", "| --- " * (len(_WORDS) + 2) + "|"]
    for groups in (("CORE",), ("OPS",), ("CLUSTER",), ("CORE", "OPS", "CLUSTER")):
        row = [sum(numbers[group, word] for group in groups) for word in _WORDS]
        name = groups[0] if len(groups) == 1 else "all"
        rows.append(f"| {name} | {' | '.join(map(str, row))} | {sum(row)} |")
    return "\n".join(rows) + "\n"


def options(found: dict[int, Result]) -> str:
    """Return the table of all options."""
    rows = ["| no. | option | type | default | class | meaning | result | here | test |", "| --- " * 9 + "|"]
    for spec in sorted(OPTIONS.all, key=lambda one: one.number):
        name = f"`{spec.path}`" + (" †" if spec.example_only else "")
        result = found[spec.number]
        cells = (str(spec.number), name, spec.kind, _default(spec.default, spec), spec.group, spec.meaning)
        rows.append(f"| {' | '.join((*cells, result.word, _here(spec), result.test))} |")
    return "\n".join(rows).replace("<", "&lt;") + "\n"


def _here(spec: OptionSpec) -> str:
    return ", ".join(f"`{target}`" for target in spec.sets) or spec.shown or spec.no_effect or spec.not_yet


def _default(value: Value, spec: OptionSpec) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) if value else "empty"
    return ("automatic" if spec.empty else "none") if value is None else str(value)


if __name__ == "__main__":
    sys.exit(main())
