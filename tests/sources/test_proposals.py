"""What a mistake proposes to write is YAML that says the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from ultracrawl.sources import load_project
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


@pytest.mark.parametrize(
    "value",
    [one for _, one in EXAMPLES],
    ids=[f"{name}-{number}" for number, (name, _) in enumerate(EXAMPLES)],
)
def test_an_example_is_yaml(value: Any) -> None:
    as_written = yaml.safe_load(f"name: {flow_of(value)}")["name"]
    assert as_written == yaml.safe_load(yaml.safe_dump(value))


@pytest.mark.parametrize(
    "text", ["${PW}", "it's ${A}, b", "yes", "1", "", "a: b", "#x", "{aes}A=", "[a", "https://a/"]
)
def test_a_text_stays_itself(text: str) -> None:
    assert yaml.safe_load(f"[{flow_of(text)}]") == [text]
    assert yaml.safe_load(f"a: {flow_of(text)}") == {"a": text}


@pytest.mark.parametrize("option", ["authentication", "logins"])
def test_what_lint_proposes_can_be_pasted(tmp_path: Any, option: str) -> None:
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(f"sources: {{a: {{start_urls: ['https://a.example/'], {option}: {{user: ada}}}}}}")
    finding = next(one for one in load_project(file).findings if "`" in one.instead)
    proposed = finding.instead.split("`")[1]
    file.write_text(f"sources: {{a: {{start_urls: ['https://a.example/'], {proposed}}}}}")
    assert load_project(file).findings == ()
