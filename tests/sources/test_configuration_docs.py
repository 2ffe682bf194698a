"""The examples of docs/configuration.md load without findings; its tables are tested with tools/option_tables.py."""

import re
from pathlib import Path

import pytest

from ultracrawl.sources import load_project

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_examples_load_without_findings(tmp_path, block):
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(block)
    assert load_project(file).findings == ()


def test_there_are_examples():
    assert len(BLOCKS) >= 3
