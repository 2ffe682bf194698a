"""CONTRIBUTING: its examples of tests are tests."""

import re
from pathlib import Path

from support.project import ROOT

EXAMPLE = re.compile(r"\bFrom\s`(tests/[\w/]+\.py)`:\n\n```python\n(.*?)```", re.DOTALL)


def test_each_example_of_a_test_stands_in_the_file_that_is_named() -> None:
    text = Path(ROOT, "CONTRIBUTING.md").read_text(encoding="utf-8")
    examples = EXAMPLE.findall(text)
    kinds = {file.split("/")[1] for file, _ in examples}
    assert kinds == {"cli", "rules", "run", "service"}
    assert [file for file, code in examples if code not in Path(ROOT, file).read_text(encoding="utf-8")] == []
    assert len(examples) == 4
