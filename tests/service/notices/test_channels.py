"""The ways on which notices go out, and the verb that tries them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from support.resource import Reply
from support.sentences import sentence
from support.server import Request, Server
from support.verbs import mistyped

from ultracrawl.cli.main import cli
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.notices.channels import open_channels
from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.notices import NoticeKind

NOTICE = Notice(NoticeKind.RUN_FAILED, "handbook", "no answer", 0.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def define(**ways: Any) -> Project:
    definition = {"sources": {"handbook": {"start_urls": ["https://h.example/"]}}, "notices": {"to": ways}}
    Path("ultracrawl.yaml").write_text(yaml.safe_dump(definition))
    return require(read_definitions("ultracrawl.yaml"))


def program(folder: Path, text: str) -> str:
    file = folder / "page"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o700)
    return str(file)


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["notices", "test", *words])


def test_a_program_finds_the_notice_in_its_environment(folder: Path) -> None:
    (way,) = open_channels(define(ops={"command": program(folder, "env > told"), "kinds": "run-failed"}))
    way.send([NOTICE])
    told = dict(line.split("=", 1) for line in (folder / "told").read_text().splitlines() if "=" in line)
    assert told["ULTRACRAWL_NOTICE"] == told["ULTRACRAWL_NOTICE_TITLE"] == "handbook: no answer"
    assert told["ULTRACRAWL_NOTICE_KINDS"] == "run-failed"
    assert told["ULTRACRAWL_NOTICE_SOURCES"] == "handbook"
    assert way.kinds == {NoticeKind.RUN_FAILED}


def test_a_program_that_fails_is_reported(folder: Path) -> None:
    define(ops={"command": program(folder, "exit 3")})
    failed = run("--json")
    assert failed.exit_code == 1
    (row,) = json.loads(failed.output)["notices"]
    assert row["sent"] is False
    assert "exit status 3" in row["problem"]
    missing = define(ops={"command": str(folder / "nothing")})
    with pytest.raises(WorkError, match=r"notices\.to\.ops: there is no program"):
        open_channels(missing)[0].send([NOTICE])


@contextmanager
def hook(status: int) -> Iterator[tuple[str, list[Request]]]:
    """Serve a webhook, and give its URL and what it got."""
    got: list[Request] = []

    def answer(request: Request) -> Reply:
        got.append(request)
        return Reply(status)

    server = Server(answer)
    server.start()
    try:
        yield f"{server.url}/hook", got
    finally:
        server.stop()


def test_a_webhook_gets_json_where_it_may_be_connected_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_TOKEN", "Bearer of-the-chat")
    with hook(204) as (url, got):
        way = {"webhook": url, "headers": {"Authorization": "${CHAT_TOKEN}"}}
        (refused,) = open_channels(define(chat=way))
        with pytest.raises(WorkError, match="loopback"):
            refused.send([NOTICE])
        assert got == []
        (allowed,) = open_channels(define(chat={**way, "networks": ["127.0.0.0/8"]}))
        allowed.send([NOTICE, NOTICE])
    (request,) = got
    assert (request.method, request.header("authorization")) == ("POST", "Bearer of-the-chat")
    body = json.loads(request.body)
    assert body["title"] == "ultracrawl: 2 notices"
    assert body["notices"][0] == {
        "kind": "run-failed", "source": "handbook", "text": "no answer", "at": "1970-01-01T00:00:00Z", "times": 1,
    }  # fmt: skip


def test_a_webhook_may_be_a_secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = {"webhook": "${CHAT_HOOK}", "networks": ["127.0.0.0/8"]}
    with hook(200) as (url, got):
        monkeypatch.setenv("CHAT_HOOK", url)
        (allowed,) = open_channels(define(chat=way))
        allowed.send([NOTICE])
    assert len(got) == 1
    monkeypatch.setenv("CHAT_HOOK", "nonsense://secret-words")
    with pytest.raises(UserError, match="^" + re.escape(sentence("notices.no_webhook_url")) + "$"):
        open_channels(define(chat=way))


def test_a_webhook_that_refuses_is_reported(folder: Path) -> None:
    with hook(500) as (url, _):
        (way,) = open_channels(define(chat={"webhook": url, "networks": ["127.0.0.0/8"]}))
        with pytest.raises(WorkError, match="responded with status 500"):
            way.send([NOTICE])


def test_apprise_is_asked_for_what_it_knows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    define(mail={"url": "${OPERATORS}"})
    with hook(200) as (url, got):
        monkeypatch.setenv("OPERATORS", url.replace("http://", "json://"))
        told = run()
    assert (told.output, told.exit_code) == ("notices.to.mail: sent\n", 0)
    assert json.loads(got[0].body)["message"].startswith("ultracrawl: test notice")
    monkeypatch.setenv("OPERATORS", "nonsense://secret-words")
    failed = run()
    assert isinstance(failed.exception, UserError)
    assert "secret-words" not in str(failed.exception)
    monkeypatch.delenv("OPERATORS")
    assert "OPERATORS is not set" in str(run().exception)


def test_unknown_ways_are_named(folder: Path) -> None:
    define(ops={"command": "true"})
    unknown = mistyped(folder, "notices", "test", "chat")
    assert (unknown.mistake, list(unknown.values["known"])) == (Mistake.NO_SUCH_NAME, ["ops"])
    define()
    assert mistyped(folder, "notices", "test").mistake is Mistake.NO_CHANNEL


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ({}, "this names no channel"),
        ({"command": "x", "url": "json://a"}, "are two channels"),
        ({"command": "x", "networks": ["10.0.0.0/8"]}, sentence("notices.only_effect_webhook")),
        ({"webhook": "ftp://a.example/"}, sentence("notices.not_url_web_server")),
        ({"command": "x", "kinds": ["run-faild"]}, "run-faild"),
    ],
)
def test_mistakes_are_reported_with_their_place(folder: Path, way: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=r"ultracrawl\.yaml:\d+ - notices\.to\.ops") as told:
        define(ops=way)
    assert problem in str(told.value)
