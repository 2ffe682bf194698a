"""A project written as a definition file is the same project when it is read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.loading.loaded import require
from ultracrawl.sources.project import DefinitionHead
from ultracrawl.sources.writing import definition_text

WRITTEN = {
    "index": "{engine: tantivy, path: i, optimise: {every: 2 weeks, on: [sun], at: '04:00', limit: 1 h}}",
    "indexes": "{archive: {engine: whoosh, path: var/archive}}",
    "destinations": "{export: {type: jsonl, path: e}, hook: {type: http, url: 'https://h.example/', password: '${P}',"
    " headers: {X-Key: 'file:k'}, networks: [10.0.0.0/8], documents: 7}}",
    "state": "{path: s}",
    "cache": "{path: c}",
    "documents": "{path: d}",
    "logs": "{path: l}",
    "key_file": "password.key",
    "attributes": "{Country: string, Price: number}",
    "searched_attributes": "[Country]",
    "schedules": "{one: {sources: a, every: 6 h, window: '22:00-06:00', force: true}}",
    "profiles": "{north: {scrapyd: 'http://127.0.0.1:6800', project: p, user: u, password: '${P}'}}",
    "notices": "{to: {ops: {command: [page, ops], kinds: [disk-low]}, mail: {url: '${MAIL}'}}, every: 6 h,"
    " disk_free: 5 GB}",
    "search": "{language: de, synonyms: s.txt, source_synonyms: {a: a.txt}, pins: [{query: q, urls: http://a.example/}]}",
    "search_page": "{public: true, title: Example Docs, filters: [Country], cached_copies: false,"
    " statistics: false, statistics_days: 30, check_answers: golden.yaml}",
    "sign_in": "{proxy: {networks: 10.1.0.7, header: X-User, groups_header: X-Groups}, roles: {editor: [web]},"
    " oidc: {issuer: 'https://login.example.com', client_id: a, label: Corp, expiry: 15 min},"
    " groups: {north: [staff]}, user_prefix: '', sessions: {expiry: 12 h, idle_timeout: 30 min}}",
    "processes": "{jobs: 4, memory: 1 GB}",
    "lists": "{Country: {de: {en: Germany, de: Deutschland}, fr: France}}",
}


def test_every_option_of_a_project_has_a_case() -> None:
    assert WRITTEN.keys() == DefinitionHead.model_fields.keys()


@pytest.mark.parametrize("here", [True, False], ids=["the same folder", "another folder"])
def test_no_option_of_a_project_is_lost(tmp_path: Path, here: bool) -> None:
    head = "".join(f"{name}: {value}\n" for name, value in WRITTEN.items())
    first = tmp_path / "ultracrawl.yaml"
    first.write_text(f"{head}sources: {{a: {{start_urls: ['http://a.example/']}}}}\n")
    for name in ("s.txt", "a.txt"):
        (tmp_path / name).write_text("car, automobile\n")
    folder = tmp_path if here else tmp_path / "other"
    folder.mkdir(exist_ok=True)
    project = require(read_definitions(first))
    again = folder / "again.yaml"
    again.write_text(definition_text(project, folder))
    read = require(read_definitions(again))
    assert {name: getattr(read, name) for name in WRITTEN} == {
        name: getattr(project, name) for name in WRITTEN
    }
