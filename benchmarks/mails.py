"""Measure a mailing list with attachments: `python benchmarks/mails.py` prints a table.

    python benchmarks/mails.py [--mails 20000] [--engine whoosh]

An IMAP server in this process has the mails, each tenth with a PDF or a page as attachment. They are crawled five times
as a user would: all new; unchanged; a hundred expunged; and twice unchanged again. Each step tells how many headers
and bodies the server sent. CPU times and memory are those of the crawl with all its processes, without the server.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from listed import texts
from measuring.cost import Cost
from measuring.ours import ultracrawl
from support.imap import PASSWORD, USER, ImapServer, imap_server

WORDS = 120
EXPUNGED = 100
AUTHORS = 200
HEAD = (
    "|  | mails | headers | bodies | seconds | CPU seconds | peak MB | told |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def mail(number: int, text: str) -> bytes:
    """Return a mail; each tenth has an attachment."""
    message = EmailMessage()
    message["From"] = f"Author {number % AUTHORS} <author{number % AUTHORS}@example.com>"
    message["To"] = "Developers <dev@example.com>"
    message["Subject"] = f"Re: topic {number // 10}"
    message["Date"] = format_datetime(datetime(2020, 1, 1, tzinfo=UTC) + timedelta(hours=number))
    message["Message-ID"] = f"<{number}@example.com>"
    message.set_content(text)
    if number % 10 == 0:
        page = f"<title>Notes {number}</title><p>attached{number} {text}</p>"
        message.add_attachment(page, subtype="html", filename=f"notes{number}.html")
    return message.as_bytes()


def crawl(folder: Path, server: ImapServer, label: str, told: dict[str, int]) -> None:
    """Crawl the list, check what the run tells, and print a row."""
    server.forget()
    cost = ultracrawl(folder, "crawl", "list", "--json")
    run = json.loads(cost.output)["runs"][0]
    outcomes = {name: number for name, number in run["outcomes"].items() if number}
    outcomes |= {"deleted": run["deleted"]} if run["deleted"] else {}
    if {name: outcomes.get(name, 0) for name in told} != told:
        raise SystemExit(f"{label}: {outcomes} instead of {told}")
    row = (label, f"{len(server.inbox.mails):,}", f"{server.headers:,}", f"{server.bodies:,}", *figures(cost))
    print(
        "|",
        " | ".join(row),
        "|",
        ", ".join(f"{name} {number:,}" for name, number in outcomes.items()),
        "|",
        flush=True,
    )


def figures(cost: Cost) -> tuple[str, str, str]:
    """Return seconds, CPU seconds and memory as texts."""
    return f"{cost.seconds:.1f}", f"{cost.cpu:.1f}", f"{cost.peak_mb:.0f}"


def search(folder: Path, *words: str) -> int:
    """Return the number of hits."""
    return int(json.loads(ultracrawl(folder, "search", *words, "--json").output)["total"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mails", type=int, default=20_000)
    parser.add_argument("--engine", default="whoosh")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, imap_server() as server:
        folder, number = Path(name), options.mails
        server.inbox.add(*(mail(place, text) for place, text in enumerate(texts(number, WORDS))))
        source: dict[str, object] = {"type": "mail", "server": server.url, "user": USER, "password": PASSWORD}
        source |= {"folders": ["INBOX"], "addresses": ["dev@example.com"]}
        project = {"index": {"engine": options.engine, "path": "var/index"}, "sources": {"list": source}}
        (folder / "ultracrawl.yaml").write_text(json.dumps(project))
        print(*HEAD, sep="\n")
        crawl(folder, server, "first run", {"NEW": number})
        crawl(folder, server, "second run", {"NOT_MODIFIED": number})
        server.inbox.expunge(*range(1, EXPUNGED + 1))
        left = number - EXPUNGED
        crawl(folder, server, f"third run, {EXPUNGED} expunged", {"NOT_MODIFIED": left, "deleted": EXPUNGED})
        crawl(folder, server, "fourth run", {"NOT_MODIFIED": left, "deleted": 0})
        crawl(folder, server, "fifth run", {"NOT_MODIFIED": left, "deleted": 0})
        by_author = search(
            folder,
            "--where",
            "Author=Author 7 <author7@example.com>",
            "--where",
            "LastModifiedDate>=2020-02-01",
        )
        print(
            f"\n{by_author} mails by one author since a date; {search(folder, f'attached{EXPUNGED}')} by its attachment"
        )


if __name__ == "__main__":
    main()
