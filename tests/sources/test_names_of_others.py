"""Options that people guess in a group or a kind of source: the advice names one that is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.table.section import TableSection
from ultracrawl.model.finding import Finding
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.recrawl.feeds import SitemapsSection
from ultracrawl.sources.sections.recrawl.refresh import RefreshSection
from ultracrawl.sources.sections.scope.boundary import BoundarySection

WEB = {"start_urls": ["https://a.example/"]}
GUESSED = {
    "file": (FileSection, ("type", "file")),
    "mail": (MailSection, ("type", "mail")),
    "table": (TableSection, ("type", "table")),
    "boundary": (BoundarySection, ("boundary", {})),
    "refresh": (RefreshSection, ("refresh", {})),
    "sitemaps": (SitemapsSection, ("sitemaps", {})),
}
CASES = [(group, name) for group, (section, _) in GUESSED.items() for name in section.ADVICE]


def findings_of(folder: Path, source: dict[str, Any]) -> list[Finding]:
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"sources": {"a": source}}))
    return list(read_definitions(file).findings)


def test_a_guess_is_answered_with_an_option_that_is_there(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for group, name in CASES:
        with subtests.test(f"{group}.{name}"):
            section, (key, value) = GUESSED[group]
            source = {"type": value, name: "x"} if key == "type" else {**WEB, key: {name: "x"}}
            told = [one for one in findings_of(tmp_path, source) if one.key.endswith(f".{name}")]
            assert [one.instead for one in told] == [section.ADVICE[name]]
            written = yaml.safe_load(re.findall(r"`([^`]+)`", told[0].instead)[0])
            (option,) = written
            assert option in {*section.model_fields, *DataSource.model_fields} or not findings_of(
                tmp_path, {**WEB, **written}
            )


@pytest.mark.parametrize(
    ("rule", "kind"), [({"regex": ".*/it's"}, "regexp"), ({"suffix": ".zip"}, "suffix"), ({}, "regexp")]
)
def test_a_rule_for_urls_in_place_of_a_path_is_reported_with_its_place(
    tmp_path: Path, rule: dict[str, str], kind: str
) -> None:
    (told,) = findings_of(tmp_path, {**WEB, "exclude": [rule]})
    written = yaml.safe_load(re.findall(r"`([^`]+)`", told.instead)[0])
    (own,) = written["boundary"]["uris"]["exclude"]
    assert [*own] == [kind]
    assert own[kind] in (*rule.values(), ".*print=.*")
    assert not findings_of(tmp_path, {**WEB, **written})
