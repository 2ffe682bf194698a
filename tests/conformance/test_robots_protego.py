"""The cases of Protego's own tests, from its source package: where we answer otherwise, the reason is in the table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import protego
from support.samples import in_source

from ultracrawl.rules.robots.rules import RobotsRules

PACKAGE = "protego-0.7.0"
_WHOLE_TOKENS = "a group is for a whole product token (RFC 9309 2.2.1), not for what begins with it"
_UNKNOWN_LINES = "unknown lines close no group (RFC 9309 2.2.4)"
_DELIMITERS = "the escape of a delimiter is not the delimiter (RFC 3986 2.2)"
DIFFERENCES = {
    ("test_user_agent_precedence", "hedwig-news2", "/group1"): _WHOLE_TOKENS,
    ("test_user_agent_boundary_matching", "googlebot-mobile", "http://example.com/private"): _WHOLE_TOKENS,
    ("test_equal_sign_in_path", "*", "https://example.com/1/filter/page%3D5/"): _DELIMITERS,
    ("test_grouping_unknown_keys", "agent", "/foo"): _UNKNOWN_LINES,
    ("test_grouping_unknown_keys", "agent", "/foobar"): _UNKNOWN_LINES,
    ("test_grouping_unknown_keys", "agent", "/content/2"): _UNKNOWN_LINES,
}

Case = tuple[str, str, str, str]
"""The name of a test, a robots.txt, a robot and a URL."""


class Recorder:
    """Stands for Protego in its tests: notes what it is asked and what it answers, which is what they expect."""

    def __init__(self) -> None:
        self.test = ""
        self.answers: dict[Case, bool] = {}

    def parse(self, content: str) -> Any:
        recorder, rules = self, protego.Protego.parse(content)

        class Asked:
            def __getattr__(self, name: str) -> Any:
                return getattr(rules, name)

            def can_fetch(self, url: str, agent: str) -> bool:
                answer = bool(rules.can_fetch(url, agent))
                recorder.answers[recorder.test, content, agent, url] = answer
                return answer

        return Asked()


def calls_of(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """Yield the arguments of each call of a parametrised test."""
    ways = []
    for mark in (one for one in getattr(test, "pytestmark", ()) if one.name == "parametrize"):
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        ways.append([dict(zip(names, one if len(names) > 1 else [one], strict=True)) for one in values])
    for chosen in itertools.product(*ways):
        yield {name: value for part in chosen for name, value in part.items()}


def published() -> dict[Case, bool]:
    recorder = Recorder()
    for file in ("test_on_google_spec.py", "test_protego.py"):
        names: dict[str, Any] = {"__name__": file}
        exec(compile(in_source(PACKAGE, f"tests/{file}"), file, "exec"), names)
        names["Protego"] = recorder
        places = [names, *(vars_of(one) for name, one in names.items() if name.startswith("Test"))]
        for place in places:
            for name, test in place.items():
                if name.startswith("test_"):
                    recorder.test = name
                    for arguments in calls_of(test):
                        test(**arguments)
    return recorder.answers


def vars_of(kind: type) -> dict[str, Any]:
    made = kind()
    return {name: getattr(made, name) for name in dir(made)}


def test_answers_differ_only_where_listed() -> None:
    answers = published()
    assert len(answers) > 300
    wrong = {
        (test, agent, url)
        for (test, content, agent, url), answer in answers.items()
        if RobotsRules.parse(content.encode(), name=agent).allowed(url).accept is not answer
    }
    assert wrong == DIFFERENCES.keys()
