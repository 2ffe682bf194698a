"""What servers say of an index, for `index info`: their version, its copies, and whether it is of another version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from index.conftest import ATTRIBUTES, LIBRARY
from support.opensearch import Open, Options, behind, send
from support.project import Workspace

from ultracrawl.index.engine import Json, ServerFacts
from ultracrawl.index.opensearch.fields import MAPPING_VERSION, MARK, marks

pytestmark = pytest.mark.servers


def make_old(options: Options, **marked: Json) -> None:
    """Let an index look as if an earlier version had made it."""
    (name,) = behind(options)
    known: Json = {"_meta": {MARK: {**marks(ATTRIBUTES), **marked}}}
    assert send("PUT", f"{options['url']}/{name}/_mapping", known) is not None


def version(options: Options) -> str:
    found = send("GET", str(options["url"]))
    assert isinstance(found, dict)
    return str(found["version"]["number"])


def test_servers_of_which_nothing_is_known_have_a_version(opened: Open, options: Options) -> None:
    assert opened().facts().server == ServerFacts(version(options))


def test_an_index_has_shards_replicas_and_a_mapping(opened: Open, options: Options) -> None:
    index = opened(shards=2, replicas=1)
    index.apply(LIBRARY)
    (name,) = behind(options)
    expected = ServerFacts(version(options), name, 2, 1, MAPPING_VERSION, True)
    assert index.facts().server == expected
    make_old(options, mapping=MAPPING_VERSION - 1)
    assert index.facts().server == replace(expected, mapping=MAPPING_VERSION - 1, current=False)
    make_old(options, schema=1)
    assert index.facts().server == replace(expected, current=False)
    assert index.bring_up_to_date()
    facts = index.facts().server
    assert (facts.current, facts.mapping, facts.shards) == (True, MAPPING_VERSION, 2)


def test_a_full_disk_is_no_damage(opened: Open, options: Options, tmp_path: Path) -> None:
    opened().apply(LIBRARY)
    (name,) = behind(options)
    workspace = Workspace(tmp_path)
    served: dict[str, Json] = {"far": {"engine": "opensearch", **options}, "near": {"path": "near"}}
    workspace.write({"indexes": served, "sources": {"s": {"start_urls": ["http://lake.example/"]}}})
    block: Json = {"index.blocks.read_only_allow_delete": True}
    assert send("PUT", f"{options['url']}/{name}/_settings", block) is not None
    ended = workspace.command("index", "check", "--index", "far")
    assert (ended.code, len(ended.err.splitlines())) == (1, 1)
    assert "read_only_allow_delete" in ended.out
    assert "servers" in ended.err
    assert "index rebuild --index far" in ended.err
    assert workspace.command("index", "rebuild", "--index", "far").code == 1
    assert behind(options) == [name]


def test_the_command_says_what_is_old_and_what_to_do(opened: Open, options: Options, tmp_path: Path) -> None:
    opened().apply(LIBRARY)
    workspace = Workspace(tmp_path)
    served: dict[str, Json] = {"engine": "opensearch", **options}

    def printed(**further: Json) -> tuple[list[str], object]:
        source: Json = {
            "start_urls": ["http://lake.example/"], "feeding": {"destinations": {"far": {"index": "far"}}}
        }  # fmt: skip
        defined: Json = {
            "attributes": {"Size": "number"},
            "indexes": {"far": {**served, **further}},
            "sources": {"s": source},
        }
        workspace.write(defined)
        words = ("index", "info", "--index", "far")
        ended = workspace.command(*words)
        assert ended.code == 0, ended.err
        return ended.out.splitlines(), workspace.command(*words, "--json").json["server"]

    lines, facts = printed()
    name = behind(options)[0]
    assert facts == {
        "version": version(options), "name": name, "shards": 1, "replicas": 0, "mapping": MAPPING_VERSION,
        "current": True,
    }  # fmt: skip
    assert any(version(options) in line and name in line and "127.0.0.1" in line for line in lines)
    advice = "index rebuild --index far"
    assert not any(advice in line for line in lines)
    make_old(options, mapping=1)
    assert any(advice in line for line in printed()[0])
    ended = workspace.command("index", "rebuild", "--index", "far")
    assert ended.code == 0, ended.err
    assert not any(advice in line for line in printed()[0])
    assert any(advice in line for line in printed(replicas=1)[0]), "the definition has another number"
