"""Functions that convert a resource, date its description, and move fields about."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from unicodedata import category

from ultracrawl.model.dates import parse_http_date
from ultracrawl.rules.filters.function import FilterError, FilterHandle, Function, Step
from ultracrawl.rules.filters.parameters import Form, Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import UNKNOWN, View
from ultracrawl.rules.filters.robot import Robot

EXPIRES = "rd-expires"
LAST_MODIFIED = "rd-last-modified"
HTML = "text/html"
MONTHS_KEPT = 3
"""Months after which a description expires whose resource says nothing."""

_NO_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff00-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, with the marks that go with them."""
_GENERATE = frozenset({Phase.GENERATE})
_DATA_AND_GENERATE = frozenset({Phase.DATA, Phase.GENERATE})


def _convert(block: ParameterBlock, _: FilterHandle, robot: Robot) -> Step:
    wanted = block["type"].lower()
    robot.converts = True

    def step(view: View) -> Answer:
        if view.resource.fetched is None or not view.matches("type", wanted.__eq__):
            return Answer.NOACTION
        body, url = view.resource.fetched.body, view.resource.url
        page = robot.convert(body, "" if wanted == UNKNOWN else wanted, url)
        if page is None and wanted == UNKNOWN and view.type.startswith("text/"):
            view.assign("type", HTML)  # it is read as a page anyway
            return Answer.PROCEED
        if page is None:
            robot.log(f"convert-to-html: {url} stays as it is ({wanted})")
            return Answer.NOACTION
        view.converted = page
        view.assign("type", HTML)
        return Answer.PROCEED

    return step


def _copy(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    source, target = block["src"], block["dst"]
    most, clean = block.number("truncate"), block.switch("clean")

    def step(view: View) -> Answer:
        kept = [text for value in view.rd.get(source, ()) if (text := shortened(value, most, clean=clean))]
        if not kept:  # what is there stays
            return Answer.NOACTION
        view.rd[target] = kept
        return Answer.PROCEED

    return step


def shortened(text: str, most: int | None, *, clean: bool) -> str:
    """Return at most `most` characters of a text; a clean cut leaves no part of a word.

    Words end at blanks of any kind, and with each character in scripts that write none between them.
    """
    if most is None or len(text) <= most:
        return text
    if not clean:
        return text[:most]
    while most and not _is_between_words(text[most - 1], text[most]):
        most -= 1
    return text[:most].rstrip()


def _is_between_words(before: str, after: str) -> bool:
    if category(after).startswith("M"):  # it belongs to the character before it
        return False
    return before.isspace() or after.isspace() or bool(_NO_BLANKS.match(before) or _NO_BLANKS.match(after))


def _rename(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    pairs = [mapped(part) for part in block["src"].split(",")]
    if any(not old or not new for old, new in pairs):
        raise FilterError(
            f"`{block['src']}` maps no names", "write src=old->new, with commas between several"
        )

    def step(view: View) -> Answer:
        for old, new in pairs:
            if old in view.rd:
                view.rd[new] = view.rd.pop(old)
        return Answer.PROCEED

    return step


def mapped(text: str) -> tuple[str, str]:
    """Return the two names of `old->new`; the second is empty without an arrow."""
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
            found = parse_http_date(value)
            if found is not None:
                return found
    return months_after(robot.clock(), MONTHS_KEPT)


def months_after(moment: datetime, months: int) -> datetime:
    """Return the same day so many months later, or the last day of a month that is shorter."""
    years, month = divmod(moment.month - 1 + months, 12)
    year, month = moment.year + years, month + 1
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


_now = _dated(LAST_MODIFIED, lambda _, robot: robot.clock())

FUNCTIONS = (
    Function("convert-to-html", frozenset({Phase.DATA}), _convert, (Parameter("type", required=True),)),
    Function(
        "copy-attribute",
        _GENERATE,
        _copy,
        (
            Parameter("src", required=True),
            Parameter("dst", required=True),
            Parameter("truncate", Form.NUMBER, least=0),
            Parameter("clean", Form.SWITCH),
        ),
    ),
    Function("rename-attribute", _GENERATE, _rename, (Parameter("src", required=True),)),
    Function("generate-rd-expires", _DATA_AND_GENERATE, _dated(EXPIRES, _expiry), (Parameter("dst"),)),
    Function("generate-rd-last-modified", _DATA_AND_GENERATE, _now, (Parameter("dst"),)),
    Function("generate-last-modified", _DATA_AND_GENERATE, _now, (Parameter("dst"),)),
)
