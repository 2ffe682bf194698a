"""Crawls of tables, from the definition to hits: what is new, changed and gone, and what is not visited."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.listed import crawl, found, outcomes
from support.listing_kills import shake
from support.project import ROOT, Workspace
from support.same_index import index_differences
from support.sentences import sentence
from support.tables import Base

ROWS = 1500
PAGE = (ROOT / "docs" / "sources" / "tables.md").read_text(encoding="utf-8")
TICKETS = (
    "CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT, body TEXT, owner TEXT, changed TIMESTAMP)"
)
SOURCE = {
    "type": "table",
    "table": "tickets",
    "key": ["id"],
    "text": ["title", "body"],
    "attributes": {"owner": "Author", "changed": "LastModifiedDate"},
    "display_url": "https://tickets.example.com/{id}",
    "deletion": {"percent": 100},
}


def define(workspace: Workspace, base: Base, **options: Any) -> None:
    workspace.write({"sources": {"tickets": {**SOURCE, "connection": base.url, **options}}})


@pytest.fixture
def tickets(base: Base) -> Base:
    base.run(TICKETS)
    base.run(
        *(
            f"INSERT INTO tickets VALUES ({one}, 'Ticket {one}', 'common word{one}', 'Ann', '2026-03-01 10:00:00')"
            for one in range(1, 6)
        )
    )
    return base


# Checklist 24 to 26 of Ultra Search, as far as they are of tables: they can be defined, and follow no links.
def test_ultra_search_24_rows_are_found_and_only_what_changed_is_visited(
    workspace: Workspace, tickets: Base
) -> None:
    define(workspace, tickets)
    assert outcomes(crawl(workspace)) == {"NEW": 5}
    assert found(workspace, "common") == list("12345")
    assert found(workspace, "--where", "Author=Ann", "word3") == ["3"]
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 5}, 0)
    tickets.run("UPDATE tickets SET body = 'other' WHERE id = 2", "DELETE FROM tickets WHERE id = 4")
    run = crawl(workspace)
    assert (outcomes(run)["MODIFIED"], run["fetched"], run["deleted"]) == (1, 1, 1)
    assert found(workspace, "common") == list("135")
    assert found(workspace, "other") == ["2"]


def test_a_row_that_repeats_another_is_compared_if_asked_and_not_read_again_until_that_one_is_gone(
    workspace: Workspace, tickets: Base
) -> None:
    tickets.run("UPDATE tickets SET title = 'Same', body = 'common' WHERE id < 4")
    define(workspace, tickets, duplicates={"detect": True})
    assert outcomes(crawl(workspace)) == {"NEW": 3, "DUPLICATE": 2}
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 3, "DUPLICATE": 2}, 0)
    tickets.run("DELETE FROM tickets WHERE id = 1")
    assert crawl(workspace)["fetched"] == 1
    assert found(workspace, "common") == ["2", "4", "5"]
    assert crawl(workspace)["fetched"] == 0


def test_ultra_search_25_links_in_rows_are_not_followed(workspace: Workspace, tickets: Base) -> None:
    tickets.run("UPDATE tickets SET body = '<a href=\"https://x.example/\">x</a>' || title")
    tickets.run("ALTER TABLE tickets ADD kind TEXT", "UPDATE tickets SET kind = 'text/html'")
    define(workspace, tickets, text="body", media_type="kind", attributes={})
    crawl(workspace)
    assert [row["access_url"][:5] for row in workspace.command("urls", "--json").lines] == ["table"] * 5


def test_ultra_search_26_a_table_overrides_default_settings(workspace: Workspace, tickets: Base) -> None:
    tickets.run("UPDATE tickets SET title = 'Same', body = 'common'")
    workspace.write(
        {
            "defaults": {"duplicates": {"detect": False}},
            "sources": {
                name: {**SOURCE, "connection": tickets.url, **options}
                for name, options in {"tickets": {"duplicates": {"detect": True}}, "others": {}}.items()
            },
        }
    )
    assert outcomes(crawl(workspace, "tickets")) == {"NEW": 1, "DUPLICATE": 4}
    assert outcomes(crawl(workspace, "others")) == {"NEW": 5}


# Checklist 32 of Ultra Search: a table change log with columns K1 to K8 and mark limits the crawl to changed rows.
def test_ultra_search_32_a_crawl_with_a_log_of_changes_visits_what_it_names(
    workspace: Workspace, tickets: Base
) -> None:
    define(workspace, tickets, changes={"log": "tickets_log"})
    printed = workspace.command("changelog", "tickets").out
    tickets.run(*(one.replace(":", "\\:") for one in printed.split(";\n\n")))
    assert outcomes(crawl(workspace)) == {"NEW": 5}
    assert outcomes(crawl(workspace)) == {}
    tickets.run(
        "UPDATE tickets SET body = 'common other' WHERE id = 2",
        "DELETE FROM tickets WHERE id = 4",
        "INSERT INTO tickets VALUES (6, 'new', 'common', 'Ben', NULL)",
    )
    run = crawl(workspace)
    assert outcomes(run) == {"NEW": 1, "MODIFIED": 1}
    assert found(workspace, "common") == list("12356")
    assert tickets.ask("SELECT * FROM tickets_log") == []


def test_a_table_that_cannot_be_read_deletes_nothing_and_says_so(workspace: Workspace, tickets: Base) -> None:
    define(workspace, tickets)
    crawl(workspace)
    tickets.run("ALTER TABLE tickets RENAME TO elsewhere")
    ended = workspace.command("crawl", "tickets", "--json")
    assert (ended.code, sentence("table.correct_definition_or_database") in ended.out + ended.err) == (
        2,
        True,
    )
    assert "partial" not in ended.out + ended.err
    assert found(workspace, "common") == list("12345")
    tickets.run("ALTER TABLE elsewhere RENAME TO tickets")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 5}


def test_two_rows_with_one_display_url_are_956(workspace: Workspace, tickets: Base) -> None:
    define(workspace, tickets, display_url="https://tickets.example.com/{owner}")
    crawl(workspace)
    codes = sorted(row["status_code"] for row in workspace.command("urls", "--json").lines)
    assert codes == [200, 956, 956, 956, 956]


def test_a_row_without_a_valid_display_url_is_1010(workspace: Workspace, tickets: Base) -> None:
    define(workspace, tickets, display_url="{owner}")
    tickets.run("DELETE FROM tickets WHERE id > 1")
    crawl(workspace, code=1)
    assert [row["status_code"] for row in workspace.command("urls", "--json").lines] == [1010]


@pytest.mark.parametrize("owner", ["'javascript:alert(1)'", "'data:text/html,x'", "NULL", "''"])
def test_a_row_whose_display_url_cannot_be_linked_is_not_indexed(
    workspace: Workspace, tickets: Base, owner: str
) -> None:
    define(workspace, tickets, display_url="{owner}")
    tickets.run(
        "DELETE FROM tickets WHERE id > 2", "UPDATE tickets SET owner = 'https://x.example/2' WHERE id = 2"
    )
    tickets.run(f"UPDATE tickets SET owner = {owner} WHERE id = 1")
    crawl(workspace)
    rows = workspace.command("urls", "--json").lines
    assert sorted((row["access_url"], row["status_code"]) for row in rows) == [
        ("table:///tickets?id=1", 1010),
        ("table:///tickets?id=2", 200),
    ]
    assert found(workspace, "common") == ["2"]
    tickets.run("UPDATE tickets SET owner = 'https://x.example/1' WHERE id = 1")
    crawl(workspace)
    assert found(workspace, "common") == ["1", "2"]


def test_a_date_that_is_none_is_left_out_and_counted_and_its_row_stays(
    workspace: Workspace, tickets: Base
) -> None:
    odd = "0000-00-00" if tickets.url.startswith("sqlite") else "infinity"
    tickets.run(f"UPDATE tickets SET changed = '{odd}' WHERE id = 3")
    define(workspace, tickets)
    run = crawl(workspace)
    assert (outcomes(run), run["dropped_values"], run["problems"]) == ({"NEW": 5}, 1, [])
    assert found(workspace, "common") == list("12345")
    told = workspace.command("crawl", "tickets", "--force").out
    assert "1  attribute value dropped" in told


def test_a_wrong_column_is_a_mistake_in_one_line(workspace: Workspace, tickets: Base) -> None:
    define(workspace, tickets, display_url="https://tickets.example.com/{nr}")
    ended, looked = workspace.command("crawl", "tickets"), workspace.command("lint", "--connect")
    assert (ended.code, ended.out, looked.code) == (2, "", 2), (ended, looked)
    for one in (ended, looked):
        assert sentence("table.no_such_url_column") in one.out + one.err
        assert "Traceback" not in one.err


@pytest.mark.parametrize(
    ("connection", "code", "told"),
    [
        ("nodatabase://x/y", 2, "`nodatabase`"),
        ("no url", 2, sentence("table.not_url_database")),
        ("sqlite:///away.db", 1, "does not exist"),
        ("postgresql://127.0.0.1:1/x", 1, "postgresql: "),
    ],
)
def test_the_exit_code_says_who_is_to_mend_what_keeps_a_table_from_being_read(
    workspace: Workspace, connection: str, code: int, told: str
) -> None:
    define(workspace, Base(connection, workspace.directory))
    ended = workspace.command("crawl", "tickets")
    assert (ended.code, told in ended.out + ended.err) == (code, True), (ended.out, ended.err)
    assert "Traceback" not in ended.err


def test_the_example_of_the_page_runs_as_printed(workspace: Workspace, tmp_path: Path) -> None:
    (definition,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (made,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    (printed,) = re.findall(r"```console\n\$ ultracrawl changelog tickets\n(.*?)```", PAGE, re.DOTALL)
    (workspace.directory / "ultracrawl.yaml").write_text(definition)
    (workspace.directory / "tickets.db").touch()
    Base(f"sqlite:///{workspace.directory / 'tickets.db'}", tmp_path).run(
        *filter(str.strip, made.replace(":", "\\:").split(";\n"))
    )
    assert outcomes(crawl(workspace)) == {"NEW": 2}
    (hit,) = workspace.command("search", "printer", "--json").json["hits"]
    assert (hit["url"], hit["title"]) == ("https://tickets.example.com/1", "Printer smokes")
    assert hit["attributes"]["Subject"] == ["fire", "hardware"]
    assert hit["kind"] == 902
    assert [row["display"] for row in workspace.command("lists", "Status", "--json").lines] == [
        "Closed",
        "Open",
    ]
    logged = yaml.safe_load(definition)
    logged["sources"]["tickets"]["changes"] = {"log": "tickets_log"}
    workspace.write(logged)
    assert workspace.command("changelog", "tickets").out == printed


# ---- kills


def changes(dice: random.Random) -> Iterator[list[str]]:
    """Yield statements that change, delete and insert rows."""
    number = 0
    while True:
        number += 1
        one, other = dice.randrange(1, ROWS), dice.randrange(1, ROWS)
        yield [
            f"UPDATE tickets SET body = 'common change{number}' WHERE id % 7 = {number % 7}",
            f"DELETE FROM tickets WHERE id = {one}",
            f"DELETE FROM tickets WHERE id = {other}",
            f"INSERT INTO tickets VALUES ({other}, 'Again {other}', 'common again{number}', 'Ben', NULL)",
        ]


@pytest.mark.night
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, 20])
@pytest.mark.parametrize("way", [{}, {"changes": {"log": "tickets_log"}}], ids=["compared", "logged"])
def test_kills_while_listing_and_while_fetching_leave_the_index_of_an_undisturbed_crawl(
    tmp_path: Path, base: Base, way: dict[str, Any], kills: int
) -> None:
    calm, workspace = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    for one in (calm, workspace):
        one.directory.mkdir()
        define(one, base, **way)
    base.run(TICKETS)
    if way:
        base.run(
            *(one.replace(":", "\\:") for one in calm.command("changelog", "tickets").out.split(";\n\n"))
        )
    base.run(
        *(
            f"INSERT INTO tickets VALUES ({one}, 'Ticket {one}', 'common word{one}', 'Ann', NULL)"
            for one in range(1, ROWS)
        )
    )
    dice = random.Random(19)
    ways = changes(dice)
    hit = shake(workspace, lambda: base.run(*next(ways)), kills, dice)
    assert min(hit.values()) >= kills, hit
    for _ in range(2):  # the first only ends what was listed before the last change
        workspace.crawl(timeout=300)
    define(calm, base)
    calm.crawl(timeout=300)
    assert index_differences(calm, workspace) == []
    assert workspace.crawl(timeout=300).run["fetched"] == 0
