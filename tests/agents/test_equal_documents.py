"""Documents of equal text: which are one document, and what becomes of those with other titles, keys and readers."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.agent_system import AgentSystem, agent_source
from support.listed import crawl, found, outcomes
from support.network import NetworkSite
from support.project import Workspace
from support.sentences import sentence
from support.shelf import Shelf

PARTS = 300
ENGINES = pytest.mark.parametrize("engine", ["whoosh", "tantivy"])


def define(workspace: Workspace, source: dict[str, Any], engine: str = "whoosh") -> None:
    attributes = {"Price": "number", "Colour": "string"}
    source = {"deletion": {"percent": 100}, **source}
    workspace.write({"index": {"engine": engine}, "attributes": attributes, "sources": {"s": source}})


def change(workspace: Workspace, *statements: str) -> None:
    with closing(sqlite3.connect(workspace.directory / "parts.db")) as base, base:
        for statement in statements:
            base.execute(statement)


def parts(workspace: Workspace, rows: list[tuple[int, str, str, int, str]]) -> dict[str, Any]:
    """Make a table of parts; returns the definition of a source with its rows."""
    change(workspace, "CREATE TABLE parts (id INTEGER PRIMARY KEY, title, text, price, readers)")
    with closing(sqlite3.connect(workspace.directory / "parts.db")) as base, base:
        base.executemany("INSERT INTO parts VALUES (?,?,?,?,?)", rows)
    return {
        "type": "table",
        "connection": "sqlite:///parts.db",
        "table": "parts",
        "key": ["id"],
        "text": ["text"],
        "attributes": {"title": "Title", "price": "Price"},
        "acl_column": "readers",
    }


# ---- rows of tables


@ENGINES
def test_rows_of_one_text_are_documents_of_their_own(workspace: Workspace, engine: str) -> None:
    rows = [(number, f"Part {number}x", "In stock.", number, "") for number in range(1, PARTS + 1)]
    define(workspace, parts(workspace, rows), engine)
    assert outcomes(crawl(workspace)) == {"NEW": PARTS}
    assert len(found(workspace, "stock")) == PARTS
    assert found(workspace, "17x") == ["17"]
    assert found(workspace, "stock", "--where", "Price=290") == ["290"]
    change(workspace, "UPDATE parts SET title = 'Bolt' WHERE id = 17")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": PARTS - 1, "MODIFIED": 1}
    for _ in range(3):
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"], run["indexed"]) == ({"NOT_MODIFIED": PARTS}, 0, 0)
    assert (found(workspace, "bolt"), found(workspace, "17x")) == (["17"], [])
    assert len(found(workspace, "stock")) == PARTS


@pytest.mark.parametrize("detect", [None, True])
def test_an_update_that_gives_rows_the_text_of_another_takes_none_away(
    workspace: Workspace, detect: bool | None
) -> None:
    source = parts(workspace, [(one, f"Part {one}", f"text{one} common", one, "") for one in range(40)])
    define(workspace, {**source, **({"duplicates": {"detect": detect}} if detect else {})})
    crawl(workspace)
    change(workspace, "UPDATE parts SET text = 'text0 common' WHERE id < 20")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 21, "MODIFIED": 19}
    assert len(found(workspace, "common")) == 40
    assert len(found(workspace, "text0")) == 20
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 40}


@ENGINES
@pytest.mark.parametrize("private", [1, 5, 10])
@pytest.mark.parametrize(
    "duplicates", [{}, {"detect": True}, {"detect": True, "near": True, "near_words": 3}]
)
def test_public_rows_beside_a_private_twin_are_found(
    workspace: Workspace, engine: str, private: int, duplicates: dict[str, Any]
) -> None:
    text = "the same long text of all rows of this table, word for word"
    rows = [(one, "Part", text, 7, "staff" if one == private else "") for one in range(1, 11)]
    define(workspace, {**parts(workspace, rows), "duplicates": duplicates}, engine)
    crawl(workspace)
    public, staff = found(workspace, "long"), found(workspace, "long", principal="staff")
    assert str(private) not in public
    assert set(staff) == {*public, str(private)}
    assert len(public) == (1 if duplicates else 9)
    assert (found(workspace, "long", principal="other"), len(staff)) == (public, len(public) + 1)
    for _ in range(2):
        assert crawl(workspace)["fetched"] == 0
    assert found(workspace, "long", principal="staff") == staff


def test_rows_are_compared_if_asked_with_title_and_attributes_and_readers(workspace: Workspace) -> None:
    rows = [
        (1, "Bolt", "In stock.", 1, ""),
        (2, "Bolt", "In stock.", 1, ""),
        (3, "Nut", "In stock.", 1, ""),
        (4, "Bolt", "In stock.", 2, ""),
        (5, "Bolt", "In stock.", 1, "staff"),
        (6, "Bolt", "In stock.", 1, "staff"),
    ]
    define(workspace, {**parts(workspace, rows), "duplicates": {"detect": True}})
    assert outcomes(crawl(workspace)) == {"NEW": 4, "DUPLICATE": 2}
    assert found(workspace, "stock", principal="staff") == ["1", "3", "4", "5"]
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 4, "DUPLICATE": 2}, 0)
    change(workspace, "DELETE FROM parts WHERE id = 1")
    crawl(workspace)
    assert found(workspace, "stock", principal="staff") == ["2", "3", "4", "5"]


def test_a_readers_column_that_is_the_acl_of_the_source_makes_no_difference(workspace: Workspace) -> None:
    rows = [(1, "Bolt", "In stock.", 1, ""), (2, "Bolt", "In stock.", 1, "staff")]
    define(workspace, {**parts(workspace, rows), "duplicates": {"detect": True}, "acl": ["staff"]})
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": 1}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"detect": False}, 4),
        ({"detect": True}, 3),
        ({"detect": True, "by": "body"}, 4),
        ({"detect": True, "meta": True}, 4),
        ({"detect": True, "cut_off": 4}, 2),
        ({"detect": True, "near": True, "near_words": 3}, 2),
        ({"detect": True, "near": True, "near_words": 100}, 3),
        ({"detect": True, "near": True, "near_words": 3, "near_distance": 0}, 3),
        ({}, 4),
    ],
)
def test_each_option_about_duplicates_counts_for_listed_documents(
    workspace: Workspace, kind: Shelf, options: dict[str, Any], kept: int
) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    texts = [
        f"<meta name=a content=b><p>{words}",
        f"<p>{words}",
        f"<p>{words.replace('word7 ', 'changed ')}",  # three bits of the signature
        "<title>Other</title><p>brief",
    ]
    kind.put(*(kind.write(f"d{number}", text) for number, text in enumerate(texts)))
    define(workspace, {"type": "shelf", "shelf": "shelf", "duplicates": options})
    run = crawl(workspace)
    assert outcomes(run) == {"NEW": kept, **({"DUPLICATE": 4 - kept} if kept < 4 else {})}
    assert crawl(workspace)["fetched"] == 0


def test_options_that_say_how_duplicates_are_remembered_count_for_listed_documents(
    workspace: Workspace, kind: Shelf
) -> None:
    kind.put(*(kind.write(name, "<p>same") for name in ("a", "bb", "cc", "dd")))
    duplicates = {"detect": True, "listed": 1, "always_listed": ".*dd"}
    define(workspace, {"type": "shelf", "shelf": "shelf", "duplicates": duplicates})
    crawl(workspace)
    rows = workspace.command("urls", "--outcome", "DUPLICATE", "--json").lines
    assert {row["url"][-2:]: row["duplicate_of"] for row in rows} == {
        "bb": "shelf://x/a",
        "cc": None,
        "dd": "shelf://x/a",
    }


def test_comparing_nearly_equal_rows_without_comparing_them_is_reported(workspace: Workspace) -> None:
    define(workspace, {**parts(workspace, []), "duplicates": {"near": True}})
    told = workspace.command("lint")
    assert sentence("duplicates.near_without_detect") in told.out + told.err


@pytest.mark.parametrize("detect", [None, True, False])
def test_following_canonical_links_without_pages_that_are_compared_is_reported(
    workspace: Workspace, detect: bool | None
) -> None:
    duplicates = {"canonical": "follow", **({} if detect is None else {"detect": detect})}
    define(workspace, {**parts(workspace, []), "duplicates": duplicates})
    told = workspace.command("lint")
    assert "duplicates.canonical" in told.out + told.err


# ---- duplicates that are detected no longer


def test_copies_become_documents_and_the_report_says_so(workspace: Workspace) -> None:
    rows = [(one, "Part", "In stock.", 1, "") for one in range(1, PARTS + 1)]
    source = parts(workspace, rows)
    define(workspace, {**source, "duplicates": {"detect": True}})
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": PARTS - 1}
    define(workspace, source)
    run = crawl(workspace)
    assert (outcomes(run), run["indexed"]) == ({"MODIFIED": PARTS}, PARTS)
    (told,) = run["remarks"]
    assert told.startswith(sentence("listing.all_made_anew"))
    assert len(found(workspace, "stock")) == PARTS
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"], run["remarks"]) == ({"NOT_MODIFIED": PARTS}, 0, [])


def test_copies_become_documents_one_by_one_if_listings_are_partial(
    workspace: Workspace, kind: Shelf
) -> None:
    source = {"type": "shelf", "shelf": "shelf"}
    entries = [kind.write(name, "<p>same") for name in "abcdef"]
    kind.put(*entries, token="1")
    define(workspace, {**source, "duplicates": {"detect": True}})
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": 5}
    define(workspace, source)
    kind.put(*entries[:3], partial="the cupboard is locked")
    ended = workspace.command("crawl", "s", "--json")
    assert (ended.code, outcomes(ended.run)) == (1, {"MODIFIED": 3})
    kind.calls  # noqa: B018 - forgets them
    kind.put(*entries, token="2", changes_only=True)
    crawl(workspace)
    assert kind.calls[0] == ["list", "", ""], "not only what changed since the last good listing"
    assert found(workspace, "same") == list("abcdef")
    assert crawl(workspace)["fetched"] == 0


# ---- files


def write_files(folder: Path, readers: str) -> None:
    """Write one file for each letter: `p` for one that its owner alone may read, `o` for one that all may."""
    folder.mkdir(exist_ok=True)
    for number, letter in enumerate(readers):
        file = folder / f"f{number}.txt"
        file.write_text("the same words in all files")
        file.chmod(0o600 if letter == "p" else 0o644)


def define_files(workspace: Workspace, engine: str = "whoosh", **options: Any) -> None:
    define(workspace, {"type": "file", "paths": ["docs"], "permissions": True, **options}, engine)


@ENGINES
@pytest.mark.parametrize("readers", ["pppooo", "ooopo", "opopop"])
@pytest.mark.parametrize("duplicates", [{}, {"near": True, "near_words": 3}, {"by": "body"}])
def test_equal_files_are_one_document_for_each_set_of_readers(
    workspace: Workspace, engine: str, readers: str, duplicates: dict[str, Any]
) -> None:
    write_files(workspace.directory / "docs", readers)
    define_files(workspace, engine, duplicates=duplicates)
    assert outcomes(crawl(workspace)) == {"NEW": 2, "DUPLICATE": len(readers) - 2}
    owner = f"user:{(workspace.directory / 'docs').owner()}"
    first = [f"f{readers.index(letter)}.txt" for letter in "op"]
    assert found(workspace, "words") == first[:1]
    assert found(workspace, "words", principal=owner) == sorted(first)
    assert crawl(workspace)["fetched"] == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *[("ooo", "poo"), ("ppo", "ooo"), ("poo", "ooo"), ("pppooo", "ppppoo")],
        *[("op", "po"), ("po", "op"), ("oop", "ppo"), ("ppo", "oop"), ("opop", "popo"), ("pppooo", "oooppp")],
    ],
)
def test_readers_that_change_lead_to_what_a_fresh_crawl_finds(
    workspace: Workspace, before: str, after: str
) -> None:
    folder = workspace.directory / "docs"
    owner = f"user:{workspace.directory.owner()}"
    write_files(folder, before)
    define_files(workspace)
    crawl(workspace)
    for number, letter in enumerate(after):
        (folder / f"f{number}.txt").chmod(0o600 if letter == "p" else 0o644)
    crawl(workspace)
    assert [len(found(workspace, "words", principal=who)) for who in ("", owner)] == [1, len(set(after))]
    crawl(workspace)  # of documents that became equal, the next run settles which one represents the others
    assert [len(found(workspace, "words", principal=who)) for who in ("", owner)] == [1, len(set(after))]
    kept = [found(workspace, "words", principal=who) for who in ("", owner)]
    assert crawl(workspace)["fetched"] == 0
    define_files(workspace, duplicates={"detect": True})
    crawl(workspace, "--force")
    assert [found(workspace, "words", principal=who) for who in ("", owner)] == kept
    assert kept[0] == [f"f{after.index('o')}.txt"]
    assert len(kept[1]) == len(set(after))


def test_files_that_become_private_are_apart_from_public_ones_at_once(workspace: Workspace) -> None:
    write_files(workspace.directory / "docs", "pppooo")
    define_files(workspace, permissions=False)
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": 5}
    define_files(workspace)
    crawl(workspace)
    owner = f"user:{(workspace.directory / 'docs').owner()}"
    assert [len(found(workspace, "words", principal=who)) for who in ("", owner)] == [1, 2]


def test_files_that_differ_only_in_name_and_owner_stay_one_document(workspace: Workspace) -> None:
    write_files(workspace.directory / "docs", "ooo")
    define_files(workspace, permissions=False)
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": 2}


def test_documents_of_the_same_text_differ_by_attributes_that_can_be_searched(
    workspace: Workspace,
) -> None:
    folder = workspace.directory / "docs"
    folder.mkdir()
    (folder / "a.html").write_text("<p>the same words")
    (folder / "b.html").write_text("<p>the same   words")
    define_files(workspace)
    assert outcomes(crawl(workspace)) == {"NEW": 1, "DUPLICATE": 1}
    define_files(workspace, attributes={"size": "Price"})
    run = crawl(workspace)
    assert outcomes(run) == {"MODIFIED": 2}
    assert found(workspace, "words") == ["a.html", "b.html"]


# ---- agents


def define_agent(workspace: Workspace, engine: str = "whoosh") -> None:
    define(workspace, agent_source(workspace.directory), engine)


@ENGINES
def test_delivered_documents_of_one_text_are_documents_of_their_own(
    workspace: Workspace, system: AgentSystem, engine: str
) -> None:
    shown = [f"https://cms.example.com/{one}" for one in range(4)]
    system.put(
        {"display_url": shown[0], "doc_key": "a", "text": "same words", "title": "Alpha", "acl": ["staff"]},
        {"display_url": shown[1], "doc_key": "b", "text": "same words", "title": "Beta"},
        {"display_url": shown[2], "text": "same words", "title": "Beta"},
        {"display_url": shown[3], "text": "same words", "attributes": {"colour": "red"}},
    )
    define_agent(workspace, engine)
    assert outcomes(crawl(workspace)) == {"NEW": 4}
    assert found(workspace, "same") == ["1", "2", "3"]
    assert found(workspace, "beta") == ["1", "2"]
    assert found(workspace, "same", "--where", "Colour=red") == ["3"]
    assert found(workspace, "alpha", principal="staff") == ["0"]
    for _ in range(2):
        run = crawl(workspace)
        assert (run["fetched"], run["indexed"]) == (0, 0)


@pytest.mark.parametrize("private_first", [True, False])
def test_fetched_documents_are_copies_if_title_attributes_and_readers_agree(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str, private_first: bool
) -> None:
    told: dict[str, dict[str, Any]] = {
        "private": {"acl": ["staff"]},
        "public": {},
        "copy": {},
        "titled": {"title": "Titled"},
        "red": {"attributes": {"colour": "red"}},
        "staff": {"acl": ["staff"]},
    }
    names = list(told) if private_first else sorted(told, reverse=True)
    for name in names:
        site.page(f"/{name}", title="Page", text="the same words")
    system.put(*({"display_url": f"{url}/{name}", **told[name]} for name in names))
    define_agent(workspace)
    assert outcomes(crawl(workspace)) == {"NEW": 4, "DUPLICATE": 2}
    assert found(workspace, "words") == ["copy", "red", "titled"]
    assert found(workspace, "words", principal="staff") == ["copy", "red", "staff", "titled"]
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 4, "DUPLICATE": 2}
    told["copy"]["acl"] = ["staff"]
    system.put(*({"display_url": f"{url}/{name}", **told[name]} for name in names))
    crawl(workspace)
    crawl(workspace)
    assert found(workspace, "words") == ["public", "red", "titled"]
    assert found(workspace, "words", principal="staff") == ["copy", "public", "red", "titled"]


def test_what_is_stored_of_replies_makes_the_same_documents_again(workspace: Workspace) -> None:
    rows = [(one, f"Part {one}", "In stock.", one, "staff" if one < 3 else "") for one in range(1, 6)]
    define(workspace, {**parts(workspace, rows), "storage": {"keep": True}})
    crawl(workspace)
    ended = workspace.command("reindex", "s", "--json")
    assert ended.code == 0, json.dumps(ended.err)
    assert found(workspace, "stock") == ["3", "4", "5"]
    assert len(found(workspace, "stock", principal="staff")) == 5
    assert crawl(workspace)["fetched"] == 0
