"""What tests expect the program to say: every such sentence stands in one file, `tests/golden/sentences.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

SENTENCES = Path(__file__).resolve().parents[1] / "golden" / "sentences.yaml"


def sentence(key: str, **values: object) -> str:
    """Return the sentence of a key, `group.name`, with values for what it has in braces."""
    group, name = key.split(".")
    text = all_sentences()[group][name]
    for field, value in values.items():
        assert f"{{{field}}}" in text, f"{key} has no {{{field}}}"
        text = text.replace(f"{{{field}}}", str(value))
    return text


@cache
def all_sentences() -> dict[str, dict[str, str]]:
    """Read the sentences, by group and name."""
    read: dict[str, dict[str, str]] = yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    return read
