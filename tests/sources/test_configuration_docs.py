"""docs/configuration.md mentions every option, and its examples load without findings."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args, get_origin

import pytest
from pydantic import BaseModel

from ultracrawl.sources import load_project
from ultracrawl.sources.project import DefinitionFile

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def groups(model, name=""):
    """Yield every group of options with the path under which the page describes it."""
    yield name, model
    for field, info in model.model_fields.items():
        annotation = info.annotation
        if get_origin(annotation) is Mapping:
            annotation = get_args(annotation)[-1]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from groups(annotation, f"{name}.{info.alias or field}".strip("."))


@pytest.mark.parametrize(
    ("group", "option"),
    [
        (name, info.alias or field)
        for name, model in groups(DefinitionFile)
        if name != "defaults" and not name.startswith("defaults.")
        for field, info in model.model_fields.items()
    ],
)
def test_every_option_is_described(group, option):
    local = group.removeprefix("sources").strip(".")
    written = f"{local}.{option}" if local else option
    assert f"| `{written}` |" in PAGE


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_examples_load_without_findings(tmp_path, block):
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(block)
    assert load_project(file).findings == ()


def test_there_are_examples():
    assert len(BLOCKS) >= 3
