"""Compiles the filters of a source and runs them before and after every fetch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import UserError
from ultracrawl.model import NO_CAUSE, Cause, Finding, Page
from ultracrawl.model.finding import refuse_fatal
from ultracrawl.rules.filters.classification import Classifier
from ultracrawl.rules.filters.function import Robot, Rules, run
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.program import FilterLine, FilterProgram
from ultracrawl.rules.filters.resource import ConversionNeededError, Fetched, Resource, View
from ultracrawl.rules.filters.rules import UNLIMITED, SiteRules
from ultracrawl.rules.filters.views import FilterViews
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.filters.bounds import call_bounded
from ultracrawl.run.filters.programs import Programs
from ultracrawl.run.hooks import Feature
from ultracrawl.sources.filter_files.file_text import read_file
from ultracrawl.sources.filter_files.filter_file import FilterFile, read_filters
from ultracrawl.sources.filter_files.rules_file import read_classification, read_rules
from ultracrawl.system.files import cause_and_remedy

if TYPE_CHECKING:
    from ultracrawl.sources.sections.scope.filters import FiltersSection

logger = logging.getLogger(__name__)

PROGRAM_SECONDS = 600.0
"""Default time limit of a summarizer in seconds."""
IP = "ip"
"""The field of a description with the address of its host."""
VERDICTS = frozenset({Answer.EXIT, Answer.RESTART})
"""Answers that concern the whole crawl, not only a resource."""
_AFTER_FETCH = (Phase.DATA, Phase.ENUMERATE, Phase.GENERATE)


class FilterListener(Protocol):
    """Receives the decisions of filter directives, for logs."""

    def tested(
        self, program: FilterProgram, phase: Phase, line: FilterLine, view: View, answer: Answer
    ) -> None:
        """Receive the answer of the directive of a line about a resource."""

    def allowed(self, program: FilterProgram, view: View) -> None:
        """Receive the fact that a filter allowed a resource."""


@dataclass(slots=True)
class FilterResult:
    """Result of the filters for a response: links as written, and the fields of the description, if there is one."""

    links: list[str] = field(default_factory=list)
    rd: dict[str, list[str]] | None = None
    cause: Cause = NO_CAUSE


class Filtering(Feature):
    """The two compiled filters of a source and what they share.

    A program that they run may take `seconds`. `kept`: the process keeps the filters for several crawls, so that only
    `release` runs Shutdown. Raises `DefinitionError` or `UserError` if they cannot be used.
    """

    def __init__(
        self,
        section: FiltersSection,
        clock: Callable[[], float],
        seconds: float = PROGRAM_SECONDS,
        *,
        kept: bool = False,
    ) -> None:
        self._section = section
        self._seconds = seconds
        self._findings: list[Finding] = []
        self._recipe_hash, self._rules_hash = sha256(), sha256()
        self.robot = self._robot(clock)
        text = self._filter_file()
        self.enumeration = text.compile(section.enumeration, FilterKind.ENUMERATION, self.robot)
        self.generation = text.compile(section.generation, FilterKind.GENERATION, self.robot)
        self._findings += text.text.findings
        self._classifier = self._classification()
        refuse_fatal(self._findings)
        self.listener: FilterListener | None = None
        """Called for each directive and resource; None if nothing is logged."""
        self.on_verdict: Callable[[Answer, str], None] = lambda _, __: None
        """Called with REQ_EXIT or REQ_RESTART, and the name of the function that answered it."""
        self._kept = kept
        self._started = False
        self._continues_run = False
        self.sources = {
            "csid": section.csid,
            "enumeration filter": section.enumeration,
            "generation filter": section.generation,
        }

    def start(self) -> None:
        """Begin a run; the Setup directives of both filters run before the first one only."""
        if not self._continues_run:
            self.robot.begin_run()
        self._continues_run = False
        if self._started:
            return
        self._started = True
        for program in self._programs:
            answer = program.start()
            if answer in VERDICTS:
                self.on_verdict(answer, f"Setup of {program.name} answered REQ_{answer.name}")

    def take_over(self, before: Filtering, *, in_run: bool) -> None:
        """Go on for the filters of the files as they were before: Setup does not run again, Shutdown runs once.

        `in_run`: the next run is the rest of one that was interrupted, whose counts go on.
        """
        self._started, before._started = before._started, False
        if in_run:
            self.robot.continue_run(before.robot)
            self._continues_run = True

    async def fetching_ended(self) -> None:
        """End a run; runs the Shutdown directives of both filters unless they are kept for other runs."""
        if not self._kept:
            self.release()

    def release(self) -> None:
        """Run the Shutdown directives of both filters, once, if Setup was run."""
        if self._started:
            self._started = False
            for program in self._programs:
                program.stop()

    def remove_listener(self) -> None:
        """Stop calling the listener: the logs of the run are closed."""
        self.listener = None
        self.robot.send_log_to(logger.warning)

    @property
    def _programs(self) -> tuple[FilterProgram, FilterProgram]:
        return self.enumeration, self.generation

    @property
    def recipe_digest(self) -> str:
        """A digest of the files that define descriptions; filter rules are left out, as every URL is checked anyway."""
        return self._recipe_hash.hexdigest()

    @property
    def rules_digest(self) -> str:
        """A digest of the files with filter rules and sites."""
        return self._rules_hash.hexdigest()

    # ---- resources

    @property
    def doubts(self) -> list[str]:
        """Statements in the filter files that have no effect, a sentence each."""
        return [str(finding) for finding in dict.fromkeys(self._findings)]

    @property
    def needs_address(self) -> bool:
        """Whether the address of each host is looked up before its resources are judged."""
        return self._section.addresses

    @property
    def differing_sites(self) -> SiteRules | None:
        """The rules of sites whose starting points have different depths, if there are any."""
        rules = [self.robot.rules.get(program.name) for program in self._programs]
        return next((one for one in rules if isinstance(one, SiteRules) and one.reach is not None), None)

    def judge(self, url: str, depth: int, address: str = "") -> FilterViews:
        """Run the MetaData phase of both filters, before the fetch; `address` is that of the host, if known."""
        resource = Resource(url, depth, self.sources, address)
        views = [View(resource), View(resource)]
        passed = [
            view if self._run(program, Phase.METADATA, view) is Answer.PROCEED else None
            for program, view in zip(self._programs, views, strict=True)
        ]
        if any(passed):
            resource.note_number(self.robot.count(host_of(url)))
        denier = views[1] if views[1].cause else views[0]
        return FilterViews(resource, passed[0], passed[1], not any(passed), denier.cause)

    def needs_conversion(self, views: FilterViews, headers: Mapping[str, str], body: bytes) -> bool:
        """Run the Data phase of both filters up to a directive that converts; return whether one does.

        Without such a directive, Data is over for both; `use` goes on from there in any case.
        """
        views.resource.note_fetched(Fetched(headers, body, convertible=True))
        links, described = views.enumeration, views.generation
        needed: list[View] = []
        if links is not None and not self._inspect(self.enumeration, links, needed.append):
            views.enumeration = None
        if described is not None and not self._inspect(self.generation, described, needed.append):
            views.generation, views.cause = None, described.cause
        return bool(needed)

    def _inspect(self, program: FilterProgram, view: View, note: Callable[[View], None]) -> bool:
        """Return whether a filter does not deny a resource under Data before it needs its conversion (`note`)."""
        try:
            return self._run(program, Phase.DATA, view) is Answer.PROCEED
        except ConversionNeededError:
            note(view)
            return True

    def use(
        self, views: FilterViews, headers: Mapping[str, str], body: bytes, converted: Page | None = None
    ) -> FilterResult:
        """Run the phases Data, Enumerate and Generate of the filters that still allow a fetched resource.

        `converted` is the page that `convert-to-html` makes of it. What `needs_conversion` ran does not run again.
        """
        views.resource.note_fetched(Fetched(headers, body, converted))
        result = FilterResult()
        links = views.enumeration
        if links is not None and self._passes(self.enumeration, links):
            result.links = links.links
        described = views.generation
        if described is not None and self._passes(self.generation, described):
            if described.resource.address:
                described.rd.setdefault(IP, [described.resource.address])
            self._classifier.classify(described)
            result.rd = described.rd
        else:
            result.cause = views.cause if described is None else described.cause
        return result

    def _passes(self, program: FilterProgram, view: View) -> bool:
        passed = all(self._run(program, phase, view) is Answer.PROCEED for phase in _AFTER_FETCH)
        if passed and self.listener is not None:
            self.listener.allowed(program, view)
        return passed

    def _run(self, program: FilterProgram, phase: Phase, view: View) -> Answer:
        """Run one phase, and call the listener for each directive."""
        answer = Answer.PROCEED
        if self.listener is None and not (phase is Phase.DATA and self.robot.converts):
            answer = run(program.steps[phase], view)
        else:
            for line, answer in program.trace(phase, view):
                if self.listener is not None:
                    self.listener.tested(program, phase, line, view, answer)
        if answer in VERDICTS:
            self.on_verdict(answer, str(view.cause))
        return Answer.PROCEED if answer is Answer.NOACTION else answer

    # ---- construction

    def _robot(self, clock: Callable[[], float]) -> Robot:
        loaded: dict[str, Rules] = {}
        section = self._section

        def load_rules(path: str) -> Rules:
            if path not in loaded:
                content = self._read(path)
                self._rules_hash.update(sha256(content.encode()).digest())
                text, read = read_rules(content, str(section.instance / path))
                self._findings += read.findings
                depth = UNLIMITED if section.depth is None else section.depth
                loaded[path] = text.compiled(fold_www=section.fold_www, depth=depth, starts=section.starts)
            return loaded[path]

        programs = Programs(section.programs)
        return Robot(
            read=self._read,
            load_rules=load_rules,
            summarize=lambda program, body: programs.summarize(program, body, self._seconds),
            has_summarizers=programs.has_summarizers,
            clock=lambda: datetime.fromtimestamp(clock(), UTC),
            log=logger.warning,
            call_function=lambda call: call_bounded(call, section.function_timeout, section.function_memory),
            max_classifications=section.max_classifications,
        )

    def _read(self, path: str) -> str:
        return read_file(self._section.instance / path).text

    def _text(self, path: Path) -> str:
        try:
            text = read_file(path).text
        except OSError as error:
            raise UserError(f"{path} cannot be read: {cause_and_remedy(error)}") from error
        self._recipe_hash.update(sha256(text.encode()).digest())
        return text

    def _filter_file(self) -> FilterFile:
        path = self._section.file
        assert path is not None, "a source without a file has no filters"
        text = read_filters(self._text(path), str(path))
        for module in self._section.modules:
            text.custom_functions.add_module(module)
        text.custom_functions.add(self._section.functions)
        return text

    def _classification(self) -> Classifier:
        path = self._section.classification
        rules, read = read_classification(self._text(path), str(path)) if path else ([], None)
        self._findings += read.findings if read else []
        return Classifier(rules, self._section.max_classifications)
