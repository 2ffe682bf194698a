"""Functions that convert a resource, extract URLs from it, and build its description."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import islice
from unicodedata import category

from ultracrawl.model import Page, Section
from ultracrawl.model.dates import parse_http_date
from ultracrawl.rules.filters.function import (
    Build,
    FilterError,
    FilterHandle,
    Form,
    Function,
    Parameter,
    ParameterBlock,
    Robot,
    Step,
    of_type,
)
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import UNKNOWN, ConversionNeededError, View, source_name
from ultracrawl.rules.filters.soif import soif_fields

FULL_TEXT, PARTIAL_TEXT, TABLE_OF_CONTENTS = "full-text", "partial-text", "toc"
MAX_HEADING_LEVEL = 6

_GENERATE = frozenset({Phase.GENERATE})
_TRUNCATE = Parameter("truncate", Form.NUMBER, least=0)
_TYPE = Parameter("type")
_SOURCE, _TARGET = Parameter("src", required=True), Parameter("dst", required=True)


def cut_bytes(text: str, limit: int | None) -> str:
    """Return the beginning of a text of at most `limit` bytes in UTF-8, without splitting a character."""
    return text if limit is None else text.encode()[:limit].decode(errors="ignore")


def _store(view: View, name: str, text: str) -> Answer:
    if not text:
        return Answer.NOACTION
    view.rd[name] = [text]
    return Answer.PROCEED


def _full_text(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    limit, target = block.number("truncate"), block.get("dst", FULL_TEXT)
    return lambda view: _store(view, target, view.page.text[:limit])


def _html_meta(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    limit = block.number("truncate")

    def step(view: View) -> Answer:
        page = view.page
        titles = {"title": [page.title]} if page.title else {}
        for name, values in {**page.meta, **titles}.items():
            kept = [text for value in values if (text := cut_bytes(value, limit))]
            if kept:
                view.rd[name] = kept
        return Answer.PROCEED

    return of_type(block, step)


def _html_text(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    limit, skip_headings = block.number("truncate"), block.switch("skip-headings")

    def step(view: View) -> Answer:
        text = _without_headings(view.page) if skip_headings else view.page.text
        return _store(view, PARTIAL_TEXT, cut_bytes(text, limit))

    return of_type(block, step)


def _headings(page: Page) -> Iterator[Section]:
    return (section for section in page.sections if section.level <= MAX_HEADING_LEVEL)


def _without_headings(page: Page) -> str:
    pieces, kept_from = list[str](), 0
    for heading in _headings(page):
        pieces.append(page.text[kept_from : heading.offset])
        kept_from = heading.offset + len(heading.title)
    return " ".join("".join([*pieces, page.text[kept_from:]]).split())


def _html_contents(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    limit, level = block.number("truncate"), block.number("level", MAX_HEADING_LEVEL) or MAX_HEADING_LEVEL

    def step(view: View) -> Answer:
        if view.resource.fetched is None:
            return Answer.NOACTION
        contents = "\n".join(heading.title for heading in _headings(view.page) if heading.level <= level)
        return _store(view, TABLE_OF_CONTENTS, cut_bytes(contents, limit))

    return step


def _source(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    pairs = []
    for part in block["src"].split(","):
        source, field = parse_mapping(part)
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


MAX_URLS = 1024
"""Default maximum number of URLs extracted from one resource."""

_MARKED = re.compile(r"URL:[ \t]*(\S+)")
_TRAILING = ">),."


def _links(view: View) -> Iterator[str]:
    page = view.page
    if page.refresh is not None and page.refresh[1]:
        yield page.refresh[1]
    yield from (link.href for link in page.links)


def _marked_urls(view: View) -> Iterator[str]:
    fetched = view.resource.fetched
    if fetched is None:
        return
    text = fetched.body.decode("utf-8", "replace") if view.converted is None else view.converted.text
    yield from (url for match in _MARKED.finditer(text) if (url := match[1].rstrip(_TRAILING)))


def _enumerating(find: Callable[[View], Iterable[str]]) -> Build:
    def build(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
        limit = block.number("max", MAX_URLS)

        def step(view: View) -> Answer:
            known = set(view.links)
            distinct = (url for url in dict.fromkeys(find(view)) if url not in known)
            view.links.extend(islice(distinct, limit))
            return Answer.PROCEED

        return of_type(block, step)

    return build


_TAKEN = (Parameter("max", Form.NUMBER, least=0), _TYPE)
_ENUMERATE = frozenset({Phase.ENUMERATE})


EXPIRES = "rd-expires"
LAST_MODIFIED = "rd-last-modified"
HTML = "text/html"
DEFAULT_EXPIRY_MONTHS = 3
"""Months after which a description expires if the resource names no date."""

_NO_WORD_SPACING = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff00-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese with their marks: scripts without blanks between words."""
_DATA_AND_GENERATE = frozenset({Phase.DATA, Phase.GENERATE})


def _convert(block: ParameterBlock, _: FilterHandle, robot: Robot) -> Step:
    media_type = block["type"].lower()
    robot.note_conversion()

    def step(view: View) -> Answer:
        if view.resource.fetched is None or not view.matches("type", media_type.__eq__):
            return Answer.NOACTION
        if view.resource.fetched.convertible:
            raise ConversionNeededError
        page = view.resource.fetched.converted
        if page is None and media_type == UNKNOWN and view.type.startswith("text/"):
            view.assign("type", HTML)  # text is parsed as a page anyway
            return Answer.PROCEED
        if page is None:
            robot.log(f"convert-to-html: {view.resource.url} stays as it is ({media_type})")
            return Answer.NOACTION
        view.converted = page
        view.assign("type", HTML)
        return Answer.PROCEED

    return step


def _copy(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    source, target = block["src"], block["dst"]
    limit, clean = block.number("truncate"), block.switch("clean")

    def step(view: View) -> Answer:
        values = view.rd.get(source, ())
        kept = [text for value in values if (text := cut_characters(value, limit, clean=clean))]
        if not kept:  # the old value of the target stays
            return Answer.NOACTION
        view.rd[target] = kept
        return Answer.PROCEED

    return step


def cut_characters(text: str, limit: int | None, *, clean: bool) -> str:
    """Return at most `limit` characters of a text; with `clean`, cut between words.

    Words end at white space, and after each character in scripts without blanks between words.
    """
    if limit is None or len(text) <= limit:
        return text
    if not clean:
        return text[:limit]
    end = limit
    while end and not _is_between_words(text[end - 1], text[end]):
        end -= 1
    return text[:end].rstrip()


def _is_between_words(before: str, after: str) -> bool:
    if category(after).startswith("M"):  # a combining mark belongs to the character before it
        return False
    if before.isspace() or after.isspace():
        return True
    return bool(_NO_WORD_SPACING.match(before) or _NO_WORD_SPACING.match(after))


def _rename(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    pairs = [parse_mapping(part) for part in block["src"].split(",")]
    if any(not old or not new or "->" in new for old, new in pairs):
        raise FilterError(
            f"`{block['src']}` maps no names", "write src=old->new, with commas between several"
        )

    def step(view: View) -> Answer:
        for old, new in pairs:
            if old in view.rd:
                view.rd[new] = view.rd.pop(old)
        return Answer.PROCEED

    return step


def parse_mapping(text: str) -> tuple[str, str]:
    """Parse `old->new` to its two names; the second is empty without an arrow."""
    old, _, new = text.partition("->")
    return old.strip(), new.strip()


def _dated(default: str, moment: Callable[[View, Robot], datetime]) -> Callable[..., Step]:
    def build(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
        target = block.get("dst", default)
        is_field = place.phase is Phase.GENERATE

        def step(view: View) -> Answer:
            text = format_datetime(moment(view, robot).astimezone(UTC), usegmt=True)
            view.assign(target.lower(), text)
            if is_field:
                view.rd[target] = [text]
            return Answer.PROCEED

        return step

    return build


def _expiry(view: View, robot: Robot) -> datetime:
    for name in ("expires", EXPIRES):
        for value in view.values(name):
            date = parse_http_date(value)
            if date is not None:
                return date
    return months_after(robot.clock(), DEFAULT_EXPIRY_MONTHS)


def months_after(moment: datetime, months: int) -> datetime:
    """Return the same day `months` months later, or the last day of a shorter month."""
    years, month = divmod(moment.month - 1 + months, 12)
    year, month = moment.year + years, month + 1
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


_now = _dated(LAST_MODIFIED, lambda _, robot: robot.clock())


FUNCTIONS = (
    _function("extract-full-text", _full_text, _TRUNCATE, Parameter("dst")),
    _function("extract-html-meta", _html_meta, _TRUNCATE, _TYPE),
    _function("extract-html-text", _html_text, _TRUNCATE, Parameter("skip-headings", Form.SWITCH), _TYPE),
    _function(
        "extract-html-toc", _html_contents, _TRUNCATE, Parameter("level", Form.NUMBER, least=1, most=6), _TYPE
    ),
    _function("extract-source", _source, _SOURCE),
    _function("harvest-summarizer", _summarizer, Parameter("summarizer", required=True)),
    Function("enumerate-urls", _ENUMERATE, _enumerating(_links), _TAKEN),
    Function("enumerate-urls-from-text", _ENUMERATE, _enumerating(_marked_urls), _TAKEN),
    Function("convert-to-html", frozenset({Phase.DATA}), _convert, (Parameter("type", required=True),)),
    _function("copy-attribute", _copy, _SOURCE, _TARGET, _TRUNCATE, Parameter("clean", Form.SWITCH)),
    _function("rename-attribute", _rename, _SOURCE),
    Function("generate-rd-expires", _DATA_AND_GENERATE, _dated(EXPIRES, _expiry), (Parameter("dst"),)),
    Function("generate-rd-last-modified", _DATA_AND_GENERATE, _now, (Parameter("dst"),)),
    Function("generate-last-modified", _DATA_AND_GENERATE, _now, (Parameter("dst"),)),
)
