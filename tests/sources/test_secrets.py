"""Secrets in definitions: read from where they say, never shown, advised against where they stand in clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.sources import DataSource, load_project, require
from ultracrawl.sources.compilation.source import compile_source
from ultracrawl.sources.secrets import SecretReader

HIDDEN = "Tr0ub4dor"
ENTRY = {"url": "https://a.example/staff/", "user": "robot", "password": HIDDEN}


def loaded(folder: Path, entry: Any) -> Any:
    source = {"start_urls": ["https://a.example/"], "authentication": {"staff": entry}}
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"sources": {"a": source}}))
    return load_project(file)


MISTAKES: dict[str, tuple[Any, str]] = {
    "number": ({"password": 31337}, sentence("definitions.secret_not_text")),
    "list": ({"password": [HIDDEN]}, sentence("definitions.secret_not_text")),
    "empty": ({"password": ""}, "the secret is empty"),
    "null": ({"password": None}, sentence("definitions.secret_not_text")),
    "misspelt": ({"pasword": "x"}, "unknown option `pasword`"),
    "in-url": ({"url": f"https://u:{HIDDEN}@a.example/"}, sentence("definitions.holds_user_name_password")),
    "no-url": ({"url": "staff"}, "not an absolute URL"),
    "nowhere": ({"url": None}, "neither `url` nor `realm`"),
    "scheme": ({"scheme": "kerberos"}, sentence("definitions.kerberos_not_known_value")),
    "colon": ({"user": "a:b", "scheme": "basic"}, "holds a colon"),
    "no-user": ({"user": ""}, "is empty"),
}


def test_mistakes_name_the_option_and_never_the_secret(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (change, problem) in MISTAKES.items():
        with subtests.test(name):
            findings = [one for one in loaded(tmp_path, {**ENTRY, **change}).findings if one.fatal]
            assert any(problem in finding.problem for finding in findings), findings
            assert HIDDEN not in repr(findings)
            assert "31337" not in repr(findings)


BROKEN = [
    'password: "HIDDEN',
    "password: HIDDEN: x",
    "password: [HIDDEN",
    "password: &HIDDEN",
    "password: *HIDDEN",
    "password: !HIDDEN x",
    "password: %HIDDEN",
    'password: "HIDDEN\\q"',
    "password: HIDDEN\n        password: HIDDEN",
    "- HIDDEN",
]


def test_p4_broken_yaml_does_not_show_a_secret(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for line in BROKEN:
        with subtests.test(line):
            text = (
                "sources:\n  a:\n    start_urls: [https://a.example/]\n    authentication:\n      s:\n"
                f"        user: u\n        url: https://a.example/\n        {line.replace('HIDDEN', HIDDEN)}\n"
            )
            (tmp_path / "ultracrawl.yaml").write_text(text)
            findings = load_project(tmp_path / "ultracrawl.yaml").findings
            assert findings
            assert HIDDEN not in repr(findings)


@pytest.mark.parametrize(
    ("password", "advised"),
    [
        (HIDDEN, True),
        ("${", True),
        ("${A B}", True),
        ("${STAFF}", False),
        ("file:x", False),
        ("{aes}A", False),
    ],
)
def test_a_secret_in_clear_is_advised_against(tmp_path: Path, password: str, advised: bool) -> None:
    findings = loaded(tmp_path, {**ENTRY, "password": password}).findings
    assert [finding.fatal for finding in findings] == ([False] if advised else [])
    assert all(finding.key == "sources.a.authentication.staff.password" for finding in findings)
    assert all(finding.line for finding in findings)


def test_secrets_of_the_project_in_clear_are_advised_against_as_well(tmp_path: Path) -> None:
    headers = {"Authorization": HIDDEN, "X-Sender": "crawls"}
    hook = {"webhook": f"https://a.example/{HIDDEN}", "headers": headers}
    http = {"type": "http", "url": "https://a.example/", "headers": headers, "user": "u", "password": HIDDEN}
    definition = {
        "sources": {"a": {"start_urls": ["https://a.example/"]}},
        "destinations": {"portal": http},
        "profiles": {
            "north": {"scrapyd": "https://a.example", "project": "p", "user": "u", "password": HIDDEN}
        },
        "notices": {
            "to": {
                "mail": {"url": f"mailto://u:{HIDDEN}@a.example"},
                "kept": {"url": "${MAIL}"},
                "chat": hook,
            }
        },
    }
    (tmp_path / "ultracrawl.yaml").write_text(yaml.safe_dump(definition, sort_keys=False))
    loaded = load_project(tmp_path / "ultracrawl.yaml")
    assert {one.key for one in loaded.findings} == {
        "destinations.portal.headers.Authorization",
        "destinations.portal.password",
        "profiles.north.password",
        "notices.to.mail.url",
        "notices.to.chat.headers.Authorization",
    }
    assert loaded.project is not None
    assert HIDDEN not in repr(loaded)


@pytest.mark.parametrize(("scheme", "advised"), [("ntlm", False), ("ntlmv1", True), ("auto", False)])
def test_fast_177_version_1_of_ntlm_is_advised_against(tmp_path: Path, scheme: str, advised: bool) -> None:
    findings = loaded(tmp_path, {**ENTRY, "password": "${STAFF}", "scheme": scheme}).findings
    assert [(finding.key, finding.fatal) for finding in findings] == (
        [("sources.a.authentication.staff.scheme", False)] if advised else []
    )


def test_p4_no_form_of_a_source_shows_its_secrets(tmp_path: Path) -> None:
    project = require(loaded(tmp_path, ENTRY))
    source = project.sources["a"]
    shown = [repr(source), str(source), source.model_dump_json(), repr(source.model_dump()), repr(project)]
    shown += [repr(source.authentication), repr(compile_source(source, project))]
    assert not [text for text in shown if HIDDEN in text]


def test_access_changes_neither_scope_nor_recipe() -> None:
    plain = DataSource(name="a", start_urls=("https://a.example/",))
    other = DataSource.model_validate(
        {"name": "a", "start_urls": ["https://a.example/"], "authentication": {"staff": ENTRY}}
    )
    before, after = compile_source(plain), compile_source(other)
    assert (before.scope, before.recipe) == (after.scope, after.recipe)


def test_where_secrets_are_read_from(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text(HIDDEN + "\r\n")
    source = require(loaded(tmp_path, {**ENTRY, "password": "file:pw"})).sources["a"]
    reader = SecretReader({"STAFF": "of the environment", "EMPTY": ""})
    assert reader.read(source.authentication["staff"].password, "x") == HIDDEN
    assert reader.read(SecretStr("${STAFF}"), "x") == "of the environment"
    assert reader.read(SecretStr("as it is"), "x") == "as it is"


@pytest.mark.parametrize("text", ["${NONE}", "${EMPTY}", "file:/no/such/file", "file:/", "{aes}" + HIDDEN])
def test_what_cannot_be_read_names_its_place(text: str) -> None:
    with pytest.raises(UserError, match=r"^authentication\.staff\.password: ") as caught:
        SecretReader({"EMPTY": ""}).read(SecretStr(text), "authentication.staff.password")
    assert HIDDEN not in str(caught.value)
