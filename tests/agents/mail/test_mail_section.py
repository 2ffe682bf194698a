"""Definitions of sources of mails: what is refused, with its line and what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.agents.mail.section import MailSection
from ultracrawl.model import Finding
from ultracrawl.sources.dialects import read_definitions

SOURCE = {
    "type": "mail",
    "server": "imaps://imap.example.com",
    "user": "reader",
    "password": "${MAIL_PASSWORD}",
}


def findings(folder: Path, **options: Any) -> list[Finding]:
    written = {name: value for name, value in {**SOURCE, **options}.items() if value is not None}
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"sources": {"list": written}}, sort_keys=False))
    return [one for one in read_definitions(file).findings if one.fatal]


def test_the_example_is_a_definition(tmp_path: Path) -> None:
    (tmp_path / "ultracrawl.yaml").write_text(
        'sources:\n  list: {type: mail, server: "imap://127.0.0.1:1143", user: reader, password: "${MAIL_PASSWORD}",'
        " folders: [INBOX], addresses: [dev@example.com]}\n"
    )
    loaded = read_definitions(tmp_path / "ultracrawl.yaml")
    source = loaded.project.sources["list"]
    assert isinstance(source, MailSection)
    assert (loaded.findings, source.folders, source.addresses) == ((), ("INBOX",), ("dev@example.com",))


WRONG: list[tuple[str, object]] = [
    ("server", "imap.example.com"),
    ("server", "pop3://imap.example.com"),
    ("server", "imaps://imap.example.com/INBOX"),
    ("server", "imaps://reader@imap.example.com"),
    ("server", "imaps://imap.example.com:x"),
    ("server", "imaps://imap.example.com:0"),
    ("user", "a\nb"),
    ("folders", []),
    ("folders", ["a\r\nb"]),
    ("addresses", ["dev"]),
    ("addresses", ["Dev <dev@example.com>"]),
    ("display_url", "https://lists.example.com/"),
    ("display_url", "https://lists.example.com/{id}"),
    ("display_url", "javascript:{message_id}"),
    ("expunged", "never"),
    ("types", ["application/pdf"]),
    ("start_urls", ["https://a.example/"]),
]


def test_a_wrong_option_is_a_mistake_with_its_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for option, value in WRONG:
        with subtests.test(option, value=value):
            (finding,) = findings(tmp_path, **{option: value})
            lines = (tmp_path / "ultracrawl.yaml").read_text().splitlines()
            assert finding.key.startswith(f"sources.list.{option}")
            assert (
                finding.line
                >= lines.index(next(line for line in lines if line.strip().startswith(f"{option}:"))) + 1
            )


@pytest.mark.parametrize("token", [None, "file:token"])
def test_a_source_has_a_password_or_a_token(tmp_path: Path, token: str | None) -> None:
    password = None if token is None else SOURCE["password"]
    assert len(findings(tmp_path, token=token, password=password)) == 1
    assert findings(tmp_path, token="file:token", password=None) == []
