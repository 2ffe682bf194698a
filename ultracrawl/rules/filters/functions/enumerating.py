"""Functions that find further URLs in a resource."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from ultracrawl.rules.filters.function import Build, FilterHandle, Function, Step, of_type
from ultracrawl.rules.filters.parameters import Form, Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View
from ultracrawl.rules.filters.robot import Robot

MOST_URLS = 1024
"""URLs taken from one resource unless `max` says otherwise."""

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
    yield from (url for found in _MARKED.finditer(text) if (url := found[1].rstrip(_TRAILING)))


def _enumerating(find: Callable[[View], Iterable[str]]) -> Build:
    def build(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
        most = block.number("max", MOST_URLS)

        def step(view: View) -> Answer:
            known = set(view.links)
            distinct = (url for url in dict.fromkeys(find(view)) if url not in known)
            view.links.extend(islice(distinct, most))
            return Answer.PROCEED

        return of_type(block, step)

    return build


_TAKEN = (Parameter("max", Form.NUMBER, least=0), Parameter("type"))
_ENUMERATE = frozenset({Phase.ENUMERATE})

FUNCTIONS = (
    Function("enumerate-urls", _ENUMERATE, _enumerating(_links), _TAKEN),
    Function("enumerate-urls-from-text", _ENUMERATE, _enumerating(_marked_urls), _TAKEN),
)
