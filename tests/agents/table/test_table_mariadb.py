"""Tables of a real MariaDB: rows by cursor and by key, sessions that only read, and the triggers of a log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from support.mariadb import mariadb_server
from support.tables import Base, by_key, left_out

from ultracrawl.agents.port import Batch, Complete, Entry
from ultracrawl.agents.table import lister as lister_module
from ultracrawl.agents.table.lister import TableLister
from ultracrawl.agents.table.triggers import change_log_sql
from ultracrawl.errors import UserError
from ultracrawl.sources.secrets import SecretReader

pytestmark = pytest.mark.servers
OPTIONS = {
    "table": "Odd t",
    "key": ["a", "Key"],
    "text": ["text"],
    "media_type": "kind",
    "attributes": {"at": "LastModifiedDate"},
    "changes": {"log": "Odd log"},
}


@pytest.fixture(scope="module")
def mariadb() -> Iterator[str]:
    with mariadb_server() as url:
        yield url


@pytest.fixture
def base(mariadb: str, tmp_path: Path) -> Base:
    base = Base(mariadb, tmp_path, dict(OPTIONS))
    base.run(
        "DROP TABLE IF EXISTS `Odd t`, `Odd log`",
        "CREATE TABLE `Odd t` (a VARCHAR(40), `Key` INTEGER, text LONGBLOB, kind TEXT, at DATETIME)",
        "ALTER TABLE `Odd t` ADD PRIMARY KEY (a, `Key`)",
    )
    for number in range(5):
        base.run(
            "INSERT INTO `Odd t` VALUES ('it''s', :n, 'body', 'text/plain', '2026-03-01 10:00:00')", n=number
        )
    return base


def test_rows_are_listed_from_behind_each_batch_and_fetched_by_key(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.options["changes"] = {}
    monkeypatch.setattr(lister_module, "DOCUMENT_BATCH_SIZE", 2)
    whole = base.listed()
    assert (len(whole), whole[-1]) == (4, Complete())
    for number, batch in enumerate(whole[:-1]):
        assert list(by_key(base.listed("", batch.cursor))) == list(by_key(whole[number + 1 :]))  # type: ignore[union-attr]
    found = base.fetched(*(one.access_url for one in by_key(whole).values()))
    assert [one.body for one in found if isinstance(one, Entry)] == [b"body"] * 5


def test_what_is_read_can_change_nothing(base: Base) -> None:
    lister = TableLister(base.setup())
    with pytest.raises(UserError, match="READ ONLY"), lister._database.read_only_connection() as connection:
        connection.exec_driver_sql("DELETE FROM `Odd t`")
    lister.close()


def test_keys_that_a_collation_takes_for_each_other_are_distinguished(base: Base) -> None:
    setup = base.setup()
    written = change_log_sql(setup.options, SecretReader({}), base.folder)
    base.run(*(one.replace(":", "\\:") for one in written.split(";\n\n")))
    base.run("INSERT INTO `Odd t` VALUES ('abc', 1, 'x', '', NULL)")
    token = base.listed()[-1].token  # type: ignore[union-attr]
    base.run("UPDATE `Odd t` SET a = 'ABC' WHERE a = 'abc'")
    found = {key: one.deleted for key, one in by_key(base.listed(token)).items()}
    assert found == {"a=abc&Key=1": True, "a=ABC&Key=1": False}


def test_a_change_that_is_not_committed_holds_no_listing_up(base: Base) -> None:
    setup = base.setup()
    written = change_log_sql(setup.options, SecretReader({}), base.folder)
    base.run(*(one.replace(":", "\\:") for one in written.split(";\n\n")))
    token = base.listed()[-1].token  # type: ignore[union-attr]
    base.run("UPDATE `Odd t` SET text = 'other' WHERE `Key` = 1")
    with sa.create_engine(base.url).connect() as writer:
        writer.execute(sa.text("UPDATE `Odd t` SET text = 'other' WHERE `Key` = 2"))
        second = base.listed(token)
        assert [key[-5:] for key in by_key(second)] == ["Key=1"]
        writer.commit()
    assert [key[-5:] for key in by_key(base.listed(second[-1].token))] == ["Key=2"]  # type: ignore[union-attr]


def test_the_triggers_note_what_changes(base: Base) -> None:
    setup = base.setup()
    written = change_log_sql(setup.options, SecretReader({}), base.folder)
    base.run(*(one.replace(":", "\\:") for one in written.split(";\n\n")))
    token = base.listed()[-1].token  # type: ignore[union-attr]
    base.run(
        "UPDATE `Odd t` SET text = 'other' WHERE `Key` = 1",
        "UPDATE `Odd t` SET `Key` = 9 WHERE `Key` = 2",
        "DELETE FROM `Odd t` WHERE `Key` = 3",
        "INSERT INTO `Odd t` VALUES ('é & ü', 1, 'x', '', NULL)",
    )
    second = base.listed(token)
    found = {key.rpartition("a=")[2]: one.deleted for key, one in by_key(second).items()}
    assert found == {
        "it%27s&Key=1": False,
        "it%27s&Key=2": True,
        "it%27s&Key=9": False,
        "it%27s&Key=3": True,
        "%C3%A9%20%26%20%C3%BC&Key=1": False,
    }
    lister = TableLister(setup)
    lister.confirm(second[-1].token)  # type: ignore[union-attr]
    lister.close()
    assert base.ask("SELECT * FROM `Odd log`") == []


def test_rows_without_a_key_of_their_own_cost_only_themselves(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.options |= {"table": "loose", "key": ["a", "n"], "changes": {"log": "loose log"}, "attributes": {}}
    base.run(
        "DROP TABLE IF EXISTS loose, `loose log`",
        "CREATE TABLE loose (a VARCHAR(20) COLLATE utf8mb4_general_ci, n INTEGER, text TEXT, kind TEXT)",
    )
    rows = [
        ("a", 1),
        ("A", 1),
        ("a", 1),
        ("", 1),
        (None, 1),
        ("a", None),
        ("b", 2),
        ("c", 3),
        ("c", 3),
        ("d", 4),
    ]
    for number, (a, n) in enumerate(rows):
        base.run("INSERT INTO loose VALUES (:a, :n, :text, '')", a=a, n=n, text=f"text {number}")
    written = change_log_sql(base.setup().options, SecretReader({}), base.folder)
    base.run(*(one.replace(":", "\\:") for one in written.split(";\n\n")))
    for size in (1, 2, 3, 500):
        monkeypatch.setattr(lister_module, "DOCUMENT_BATCH_SIZE", size)
        monkeypatch.setattr(lister_module, "BATCHES_PER_STATEMENT", 2)
        listed = base.listed()
        assert sorted(by_key(listed)) == sorted(
            f"a={a}&n={n}" for a, n in [("a", 1), ("A", 1), ("", 1), ("b", 2), ("c", 3), ("d", 4)]
        )
        told = [one for batch in listed if isinstance(batch, Batch) for one in batch.left_out]
        assert (told[0].first, told[0].number) == ("n=1 beside a=&n=1", 2)
        assert sum(one.number for one in told) == 4
    found = base.fetched("table:///tickets?a=a&n=1", "table:///tickets?a=c&n=3")
    assert [one.body for one in found if isinstance(one, Entry)] == [b"text 0", b"text 7"]
    token = listed[-1].token  # type: ignore[union-attr]
    base.run("UPDATE loose SET n = NULL WHERE a = 'b'", "UPDATE loose SET text = 'other' WHERE a = 'd'")
    second = base.listed(token)
    assert {key: one.deleted for key, one in by_key(second).items()} == {"a=b&n=2": True, "a=d&n=4": False}
    assert list(left_out(second).values()) == [3]
