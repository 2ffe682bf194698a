"""Functions that fill the resource description from the body of a resource."""

from __future__ import annotations

from ultracrawl.content.html.outline import outline_of
from ultracrawl.rules.filters.function import Build, FilterError, FilterHandle, Function, Step, of_type
from ultracrawl.rules.filters.functions.support import mapped
from ultracrawl.rules.filters.parameters import Form, Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View, source_name
from ultracrawl.rules.filters.robot import Robot
from ultracrawl.rules.filters.soif import soif_fields

FULL_TEXT, PARTIAL_TEXT, CONTENTS = "full-text", "partial-text", "toc"
DEEPEST_HEADING = 6

_GENERATE = frozenset({Phase.GENERATE})
_TRUNCATE = Parameter("truncate", Form.NUMBER, least=0)
_TYPE = Parameter("type")


def cut_bytes(text: str, most: int | None) -> str:
    """Return the beginning of a text that takes at most so many bytes in UTF-8; no character is split."""
    return text if most is None else text.encode()[:most].decode(errors="ignore")


def _store(view: View, name: str, text: str) -> Answer:
    if not text:
        return Answer.NOACTION
    view.rd[name] = [text]
    return Answer.PROCEED


def _full_text(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    most, target = block.number("truncate"), block.get("dst", FULL_TEXT)
    return lambda view: _store(view, target, view.page.text[:most])


def _html_meta(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    most = block.number("truncate")

    def step(view: View) -> Answer:
        page = view.page
        titles = {"title": [page.title]} if page.title else {}
        for name, values in {**page.meta, **titles}.items():
            kept = [text for value in values if (text := cut_bytes(value, most))]
            if kept:
                view.rd[name] = kept
        return Answer.PROCEED

    return of_type(block, step)


def _html_text(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    most, skips = block.number("truncate"), block.switch("skip-headings")

    def text_of(view: View) -> str:
        if skips and view.converted is None and view.resource.fetched:
            return outline_of(*view.resource.source_text).text
        return view.page.text

    return of_type(block, lambda view: _store(view, PARTIAL_TEXT, cut_bytes(text_of(view), most)))


def _html_contents(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    most, level = block.number("truncate"), block.number("level", DEEPEST_HEADING) or DEEPEST_HEADING

    def step(view: View) -> Answer:
        fetched = view.resource.fetched
        if fetched is None or view.converted is not None:
            return Answer.NOACTION
        headings = outline_of(*view.resource.source_text).headings
        contents = "\n".join(text for depth, text in headings if depth <= level and text)
        return _store(view, CONTENTS, cut_bytes(contents, most))

    return step


def _source(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    pairs = []
    for part in block["src"].split(","):
        source, field = mapped(part)
        if not source:
            raise FilterError(f"`{block['src']}` names no sources", "write src=one,two or src=one->field")
        pairs.append((source_name(source), field or source))

    def step(view: View) -> Answer:
        for source, field in pairs:
            values = view.values(source)
            if values:
                view.rd[field] = list(values)
        return Answer.PROCEED

    return step


def _summarizer(block: ParameterBlock, _: FilterHandle, robot: Robot) -> Step:
    program = block["summarizer"]
    if not robot.has_summarizers:
        problem = "the folder of the summarizers, $HARVEST_HOME/lib/gatherer, is not in PATH"
        raise FilterError(problem, "add it to PATH before the robot starts, or switch the line off")

    def step(view: View) -> Answer:
        if view.resource.fetched is None:
            return Answer.NOACTION
        try:
            printed = robot.summarize(program, view.resource.fetched.body)
        except OSError as error:
            robot.log(f"harvest-summarizer {program}: {view.resource.url}: {error}")
            return Answer.NOACTION
        for name, values in soif_fields(printed).items():
            view.rd[name] = values
        return Answer.PROCEED

    return step


def _function(name: str, build: Build, *parameters: Parameter) -> Function:
    return Function(name, _GENERATE, build, parameters)


FUNCTIONS = (
    _function("extract-full-text", _full_text, _TRUNCATE, Parameter("dst")),
    _function("extract-html-meta", _html_meta, _TRUNCATE, _TYPE),
    _function("extract-html-text", _html_text, _TRUNCATE, Parameter("skip-headings", Form.SWITCH), _TYPE),
    _function("extract-html-toc", _html_contents, _TRUNCATE, Parameter("level", Form.NUMBER, least=1), _TYPE),
    _function("extract-source", _source, Parameter("src", required=True)),
    _function("harvest-summarizer", _summarizer, Parameter("summarizer", required=True)),
)
