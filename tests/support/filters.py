"""A robot's filters in tests: directives as text, a resource, what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ultracrawl.model import Finding
from ultracrawl.rules.filters.function import Function, Robot
from ultracrawl.rules.filters.functions import BUILT_IN
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.program import FilterCompiler, FilterLine, FilterProgram
from ultracrawl.rules.filters.resource import Fetched, Resource, View
from ultracrawl.sources.filter_files.lexer import read_text

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WORDS = [phase.value for phase in Phase]


@dataclass
class Filters:
    """Compiles filters and runs resources through them."""

    robot: Robot = field(default_factory=lambda: Robot(clock=lambda: NOW))
    functions: Mapping[str, Function] = field(default_factory=lambda: dict(BUILT_IN))
    findings: list[Finding] = field(default_factory=list)

    def program(self, text: str, kind: FilterKind = FilterKind.GENERATION, name: str = "f") -> FilterProgram:
        """Compile directives; what is wrong with them is in `findings`."""
        read = read_text(text, "filter.conf", WORDS)
        self.findings.extend(read.findings)

        def blame(line: int, key: str, problem: str, instead: str, *, fatal: bool = True) -> None:
            self.findings.append(Finding("filter.conf", line, key, problem, instead, fatal))

        lines = [
            FilterLine(one.word, [(pair.name, pair.value) for pair in one.parameters], one.line)
            for one in read.directives
        ]
        program = FilterCompiler(self.robot, self.functions, blame).compile(name, kind, lines)
        program.start()
        return program

    def run(self, text: str, *resources: Resource, kind: FilterKind = FilterKind.GENERATION) -> list[View]:
        """Take resources through all phases of a filter as a robot does; return what became of each."""
        program = self.program(text, kind)
        assert not [finding for finding in self.findings if finding.fatal], self.findings
        return [self.visit(program, resource) for resource in resources]

    def visit(self, program: FilterProgram, resource: Resource) -> View:
        """Take one resource through a filter."""
        view = View(resource)
        fetched, resource.fetched = resource.fetched, None
        if program.judge(view) is Answer.PROCEED:
            resource.fetched = fetched
            if program.inspect(view) is Answer.PROCEED:
                program.use(view)
        resource.fetched = fetched
        return view


def page(
    body: str = "<title>T</title>text",
    url: str = "http://www.siroe.com/a.html",
    content_type: str = "text/html",
    depth: int = 0,
    **headers: str,
) -> Resource:
    """Return a fetched resource; names of headers have `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type:
        named["content-type"] = content_type
    return Resource(url, depth, {"csid": "x-catalog://h:80/j"}, "198.51.100.6", Fetched(named, body.encode()))
