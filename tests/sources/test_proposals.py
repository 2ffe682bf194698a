"""What a mistake proposes to write is YAML that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from ultracrawl.sources import DataSource, load_project
from ultracrawl.sources.loading.wording import flow_of
from ultracrawl.sources.project import DefinitionFile


def examples(
    model: type[BaseModel] = DefinitionFile, seen: set[type] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the examples of all options, of sections within others too."""
    seen = set() if seen is None else seen
    seen.add(model)
    for name, field in model.model_fields.items():
        yield from ((f"{model.__name__}.{name}", one) for one in field.examples or ())
        for inner in models_in(field.annotation):
            if inner not in seen:
                yield from examples(inner, seen)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


EXAMPLES = list(examples())


def test_all_sections_are_looked_at() -> None:
    assert "LoginEntry.page" in {name for name, _ in EXAMPLES}
    assert "logins" in {name.rpartition(".")[2] for name, _ in EXAMPLES}


def test_an_example_is_yaml(subtests: pytest.Subtests) -> None:
    for name, value in EXAMPLES:
        with subtests.test(name, value=value):
            as_written = yaml.safe_load(f"name: {flow_of(value)}")["name"]
            assert as_written == yaml.safe_load(yaml.safe_dump(value))


AS_THEY_STAND = [
    "${PW}",
    "it's ${A}, b",
    "yes",
    "1",
    "",
    "a: b",
    "#x",
    "{aes}A=",
    "[a",
    "https://a/",
]


def test_a_text_stays_itself(subtests: pytest.Subtests) -> None:
    for text in AS_THEY_STAND:
        with subtests.test(text):
            assert yaml.safe_load(f"[{flow_of(text)}]") == [text]
            assert yaml.safe_load(f"a: {flow_of(text)}") == {"a": text}


WEB = {"start_urls": ["https://a.example/"]}
FILE = {"type": "file", "paths": ["docs"]}
MAIL = {"type": "mail", "server": "imaps://a.example", "user": "u", "password": "${PW}"}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    **{
        f"{name}: {value}": ({**WEB, name: value}, name)
        for name, value in [
            ("authentication", {"user": "ada"}),
            ("logins", {"user": "ada"}),
            ("logins", {"s": {"url": "https://a.example/login", "fields": {"user": "ada"}}}),
            ("robots", False),
            ("robots", True),
            ("cookies", True),
            ("feeds", False),
            ("conversion", False),
            ("crawling_mode", "examin"),
            ("crawling_mode", "all"),
            ("depht", 3),
            ("download_delay", 2),
            ("allowed_domains", ["a.example"]),
            ("exclude", "archive/"),
            ("proxy", "http://proxy.example:3128"),
            ("headers", "X"),
            ("site_headers", "X"),
            ("client_certificates", "x.pem"),
            ("politeness", 3),
            ("limits", 10),
            ("refresh", {"interval": "daily"}),
            ("boundary", "https://a.example/"),
            ("duplicates", True),
            ("user_agent", ""),
            ("detect_language", "maybe"),
        ]
    },
    "sitemaps: URL": ({**WEB, "sitemaps": "https://a.example/map.xml"}, "sitemaps"),
    "sitemaps: [URL]": ({**WEB, "sitemaps": ["https://a.example/map.xml"]}, "sitemaps"),
    "sitemaps: {url: …}": ({**WEB, "sitemaps": {"url": "https://a.example/map.xml"}}, "sitemaps"),
    "feeds: URL": ({**WEB, "feeds": "https://a.example/feed"}, "feeds"),
    "type: fil": ({**FILE, "type": "fil"}, "type"),
    "type: mial": ({**MAIL, "type": "mial"}, "type"),
    "no server": ({name: MAIL[name] for name in ("type", "user", "password")}, "server"),
}
"""Sources with one mistake each, and the option that it is in."""


def findings_of(tmp_path: Any, source: dict[str, Any]) -> list[Any]:
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"sources": {"a": source}}, sort_keys=False))
    return list(load_project(file).findings)


def test_what_lint_proposes_can_be_pasted_and_cures_the_mistake(
    tmp_path: Any, subtests: pytest.Subtests
) -> None:
    for name, (source, option) in MISTAKES.items():
        with subtests.test(name):
            found = findings_of(tmp_path, source)
            assert {finding.key.split(".")[2] for finding in found} == {option}, "and makes no second mistake"
            for finding in found:
                for proposed in re.findall(r"`([^`]+)`", finding.instead):
                    cured = findings_of(tmp_path, pasted(source, finding.key.split(".")[2:], proposed))
                    assert [one for one in cured if one.fatal] == [], proposed


def pasted(source: dict[str, Any], path: list[str], proposed: str) -> dict[str, Any]:
    """Return a source with a proposal in place of the option that it is about: an option, its name or its value."""
    written = yaml.safe_load(proposed)
    if isinstance(written, dict) and path[0] in written:
        path = path[:1]  # the whole option
    copy = deepcopy(source)
    group = copy
    for step in path[:-1]:
        group = group[step]
    before = group.pop(path[-1], None)
    if isinstance(written, dict):
        group.update(written)
        return copy
    if path[-1] in DataSource.model_fields or path[-1] in ("type", "interval"):
        group[path[-1]] = [written] if isinstance(before, list) else written
    else:
        group[written] = before
    return copy
