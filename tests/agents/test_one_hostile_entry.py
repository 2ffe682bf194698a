"""One hostile entry among fifty good ones: fifty documents and one line, in sources of each kind."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.agent_system import AgentSystem, agent_source
from support.imap import PASSWORD, ImapServer, imap_server, mail
from support.project import LOOPBACK, Workspace
from support.site import Site

GOOD = 50
HOSTILE = GOOD - 1
"""The number of the document with a hostile value, where a value is hostile."""
IMPOSSIBLE = "Fri, 31 Dec 9999 23:59:59 -1200"
VALUES, ENTRIES = {"web", "folder", "mails"}, {"rows", "agent"}
"""What has a value that cannot be, and what has an entry of which no document can be made."""


@pytest.fixture
def server() -> Iterator[ImapServer]:
    with imap_server() as running:
        yield running


class Everything:
    """The same documents in sources of each kind."""

    def __init__(self, folder: Path, site: Site, url: str, server: ImapServer) -> None:
        self._folder, self._site, self._url, self._server = folder, site, url, server
        self._system = AgentSystem(folder)
        self._uids: dict[int, tuple[int, int]] = {}
        self._changed: set[int] = set()
        (folder / "docs").mkdir()
        with closing(sqlite3.connect(folder / "rows.db")) as db, db:
            db.execute("CREATE TABLE t (id INTEGER, b TEXT)")
        self.put(*range(GOOD))

    def definition(self, engine: str) -> dict[str, Any]:
        """Return the definition of the project."""
        dated = {"attributes": {"created": "Made"}}
        rows = {"type": "table", "connection": "sqlite:///rows.db", "table": "t", "key": "id", "text": "b"}
        mails = {
            "type": "mail",
            "server": self._server.url,
            "user": "reader",
            "password": PASSWORD,
            "acl": "everybody",
        }
        web = {"start_urls": [f"{self._url}/0"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
        sources = {
            "web": {**web, **dated, "sitemaps": {"ttl": 0, "urls": [f"{self._url}/sitemap.xml"]}},
            "folder": {"type": "file", "paths": ["docs"], **dated},
            "rows": rows,
            "mails": {**mails, "folders": ["INBOX"], **dated},
            "agent": agent_source(self._folder),
        }
        return {"index": {"engine": engine}, "attributes": {"Made": "date"}, "sources": sources}

    def put(self, *numbers: int, changed: int | None = None, healed: bool = False) -> None:
        """Have these documents, the hostile one or entry among them."""
        self._changed |= set() if changed is None else {changed}
        texts = {one: f"common word{one}{' again' * (one in self._changed)}" for one in numbers}
        self._put_pages(texts, healed=healed)
        self._put_files(texts, healed=healed)
        self._put_mails(texts, healed=healed)
        with closing(sqlite3.connect(self._folder / "rows.db")) as db, db:
            db.execute("DELETE FROM t")
            db.executemany(
                "INSERT INTO t VALUES (?, ?)", [*texts.items(), (GOOD if healed else None, "common")]
            )
        known = [{"display_url": f"https://a.example/{one}", "text": text} for one, text in texts.items()]
        odd = {"display_url": "https://a.example/odd", "text": "common", "attributes": {} if healed else 5}
        self._system.put(*known[:7], odd, *known[7:])

    def _put_pages(self, texts: dict[int, str], *, healed: bool) -> None:
        entries = ""
        for one in range(GOOD):
            if one not in texts:
                with suppress(KeyError):
                    self._site.remove(f"/{one}")
                continue
            made = IMPOSSIBLE if one == HOSTILE and not healed else "2026-03-02"
            self._site.page(f"/{one}", text=texts[one], head=f'<meta name="created" content="{made}">')
            dated = f"<lastmod>{made}</lastmod>" if made == IMPOSSIBLE else ""
            entries += f"<url><loc>{self._url}/{one}</loc>{dated}</url>"
        odd = "<url><loc>http://[::/</loc><lastmod>99999-99-99</lastmod><priority>1e999</priority></url>"
        self._site.file("/sitemap.xml", f"<urlset>{odd}{entries}</urlset>".encode(), content_type="text/xml")

    def _put_files(self, texts: dict[int, str], *, healed: bool) -> None:
        for one in range(GOOD):
            path = self._folder / "docs" / f"{one}.pdf"
            body = files.pdf([texts[one]]) if one in texts else b""
            if one == HOSTILE and not healed:
                body = body.replace(b"D:20240301", b"D:20240230")
            if not body:
                path.unlink(missing_ok=True)
            elif not path.exists() or path.read_bytes() != body:
                path.write_bytes(body)
                os.utime(path, (1_772_445_600 + len(body) + healed,) * 2)

    def _put_mails(self, texts: dict[int, str], *, healed: bool) -> None:
        for one in range(GOOD):
            head = {"Message-ID": f"<{one}.{one in self._changed}@a.example>"}
            if one == HOSTILE and not healed:
                head |= {"Date": IMPOSSIBLE, "Subject": "=?no such?b?Z3I!!!?=", "Content-Language": "\\"}
            version = len(self._changed & {one}) + 2 * (healed and one == HOSTILE)
            if self._uids.get(one, (0, -1))[1] != (version if one in texts else -1):
                if one in self._uids:
                    self._server.inbox.expunge(self._uids.pop(one)[0])
                if one in texts:
                    (uid,) = self._server.inbox.add(mail(one, texts[one], **head))
                    self._uids[one] = uid, version


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_one_hostile_entry_costs_a_value_or_itself_and_one_line(
    workspace: Workspace, site: Site, url: str, server: ImapServer, engine: str
) -> None:
    everything = Everything(workspace.directory, site, url, server)
    workspace.write(everything.definition(engine))

    healed = False

    def crawl(others: dict[str, dict[str, int]] | None = None, *, dropped: int = 0, **usual: int) -> None:
        for run in workspace.crawl().json["runs"]:
            source = run["source"]
            found = {
                name: one for name, one in (run["outcomes"] | {"deleted": run["deleted"]}).items() if one
            }
            if source == "web":  # the sitemap, and what is gone
                found["NOT_MODIFIED"] = found.get("NOT_MODIFIED", 0) + found.pop("LIST", 0) - 1
                found.pop("GONE", 0)
                found = {name: one for name, one in found.items() if one}
            assert (source, found) == (source, (others or {}).get(source, usual))
            assert run["dropped_values"] == (dropped if source in VALUES else 0)
            assert len(run["remarks"]) == (source in ENTRIES and not healed), (
                "one line, as long as there is one"
            )
            assert run["problems"] == []

    def documents() -> dict[str, int]:
        answer = workspace.command("search", "common", "--limit", "1000", "--json").json
        return dict(Counter(hit["source"] for hit in answer["hits"]))

    def everywhere(number: int) -> dict[str, int]:
        return dict.fromkeys(VALUES | ENTRIES, number)

    crawl(dropped=1, NEW=GOOD)
    assert documents() == everywhere(GOOD)
    crawl(NOT_MODIFIED=GOOD)
    everything.put(*range(GOOD), changed=3)
    crawl({"mails": {"NOT_MODIFIED": GOOD - 1, "NEW": 1, "deleted": 1}}, NOT_MODIFIED=GOOD - 1, MODIFIED=1)
    assert documents() == everywhere(GOOD)
    everything.put(*range(4), *range(5, GOOD))
    crawl(NOT_MODIFIED=GOOD - 1, deleted=1)
    assert documents() == everywhere(GOOD - 1)
    healed = True
    everything.put(*range(4), *range(5, GOOD), healed=True)
    came = {"NOT_MODIFIED": GOOD - 1, "NEW": 1}
    crawl({"rows": came, "agent": came}, NOT_MODIFIED=GOOD - 2, MODIFIED=1)
