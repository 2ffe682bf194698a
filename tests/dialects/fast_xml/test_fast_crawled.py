"""What options of FAST collections do, each with and without it: few crawls of XML files, a question for each option.

A variant is a file, crawled once; a case asks the same question of two crawls, and the answers have to differ as said.
What can only be told by time or by several cycles is in `test_fast_played.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from support.fast import fast_xml, number_of
from support.fast_site import ADDRESSES, build
from support.ftp import FtpSite
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace
from support.server import Request

from ultracrawl.dialects.fast_xml.options import OPTIONS
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_documents

TYPES = ("text/html", "text/plain", "text/vnd.wap.wml", "application/xhtml+xml")
BASE: dict[str, Any] = {
    "delay": 0.0,
    "max_pending": 8,
    "enforce_delay_per_ip": False,
    "start_uris": ("URL/", "URL/kinds", "URL/deck.wml", "http://127.0.0.2:PORT/seeded"),
    "allowed_types": TYPES,
    "use_sitemaps": False,
}
RULES = {
    "exact": "127.1.1.1",
    "prefix": "127.2.1",
    "suffix": ".3.1.9",
    "regexp": r"127\.4\.1\.\d",
    "ipmask": "127.5.0.0/16",
    "file": "hosts.txt",
}
"""One rule of each kind, for the host of its name."""
URIS = {
    "exact": "URL/x/exact.html",
    "prefix": "URL/x/prefix/",
    "suffix": "/page.suffix",
    "regexp": r"http://[^/]+/x/20\d\d/.*",
    "file": "uris.txt",
}
ON_HOSTS = tuple(f"http://127.{address}:PORT/on/{host}" for host, address in ADDRESSES.items())
LISTED = ("URL/x/exact.html", "URL/x/prefix/1", "URL/x/page.suffix", "URL/x/2024/regexp", "URL/x/listed")
HOSTED: dict[str, Any] = {"delay": 0.0, "start_uris": ON_HOSTS}
ASKED = {"delay": 0.0, "start_uris": (*LISTED, "http://127.1.0.1:PORT/on/main")}
FEED = {
    "delay": 0.0,
    "start_uris": (),
    "exclude_uris/prefix": ("URL/secret/",),
    "rss/start_uris": ("URL/feed.xml",),
}
ADAPTIVE = {"delay": 0.0, "start_uris": ("URL/seeded",), "refresh_mode": "adaptive"}
MAIN = {"include_domains/exact": ("127.1.0.1",)}

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": BASE,
    "kinds": {
        **BASE,
        "start_uris": ("URL/kinds", "URL/deck.wml"),
        **{
            f"link_extraction/{spec.name}": not spec.default
            for spec in OPTIONS.all
            if 154 <= spec.number <= 170
        },
    },
    "uris": {
        **BASE,
        "info": "of many options",
        "exclude_exts": (".zip",),
        "rewrite_rules": ("#/before/#/after/#",),
        "sort_query_params": True,
        "max_uri_recursion": 1,
        "headers": ("User-Agent: Example/1.0", "X-Test: yes"),
        "accept_compression": False,
        "use_http_1_1": True,
        "robots": False,
        "check_meta_robots": False,
        "allowed_types": (*TYPES, "text/csv"),
        "force_mimetype_detection": True,
        "html_redir_is_redir": False,
        "diffcheck": False,
        "use_sitemaps": True,
        "exclude_headers/X-State": ("draft",),
        "crawlmode/fwdredirects": True,
        "storage/compress_exclude_mime": ("text/html",),
        "storage/store_http_header": False,
        **{f"exclude_uris/{kind}": (rule,) for kind, rule in URIS.items()},
    },
    "content": {
        **BASE,
        "start_uris": ("URL/", "URL/slow", "http://127.0.0.2:PORT/seeded"),
        "cut_off": 2000,
        "html_redir_thresh": 10,
        "uri_search_mime": ("text/html", "application/xhtml+xml"),
        "near_duplicate_detection": True,
        "use_meta_csum": True,
        "extract_links_from_dupes": True,
        "use_cookies": True,
        "fetch_timeout": 1,
        "http_errors/ttl": "KEEP",
        "max_redirects": 1,
        "crawlmode/fwdlinks": False,
        "rss/auto_discover": True,
        "rss/start_uris": ("URL/feed.xml",),
        "post_payload/URL/chain": "q=all",
        "passwd/URL/deep/": "robot:secret",
        "storage/store_dupes": True,
        "storage/compress": False,
        "log/screened": "text",
    },
    "other": {
        **BASE,
        "start_uri_files": ("seeds.txt",),
        "rss/start_uri_files": ("feeds.txt",),
        "cut_off": 2000,
        "truncate": False,
        "crawlmode/mode": "DEPTH:1",
        "focused/languages": ("en", "unknown"),
        "storage/remove_docs": True,
        "storage/uri_dir": "links",
        "log/dsfeed": "none",
    },
    "focused": {
        **BASE,
        "focused/languages": ("en", "unknown"),
        "focused/depth": 1,
        "csum_cut_off": 2000,
        "storage/datastore": "flatfile",
    },
    "few": {
        **BASE,
        "max_doc": 3,
        **dict.fromkeys(("log/fetch", "log/postprocess", "log/site"), "none"),
        "log/header": "text",
        "pp/ds_paused": True,
    },
    "adaptive": ADAPTIVE,
    "adaptive-logged": {**ADAPTIVE, "log/scheduler": "text"},
    "hosts": HOSTED,
    "hosts-out": {**HOSTED, **{f"exclude_domains/{kind}": (rule,) for kind, rule in RULES.items()}},
    "hosts-main": {**HOSTED, "include_domains/suffix": (".1.0.1",)},
    "hosts-in": {**HOSTED, **{f"include_domains/{kind}": (rule,) for kind, rule in RULES.items()}},
    "uris-main": {**ASKED, **MAIN},
    "uris-in": {**ASKED, **MAIN, **{f"include_uris/{kind}": (rule,) for kind, rule in URIS.items()}},
    "feed": FEED,
    "feed-on": {**FEED, "rss/follow_links": False, "rss/ignore_rules": True, "rss/index_feed": True},
    "ftp": {"delay": 0.0, "start_uris": ("FTP/", "URL/seeded"), "allowed_schemes": ("ftp", "http")},
    "ftp-not": {"delay": 0.0, "start_uris": ("FTP/", "URL/seeded")},
    "ftp-on": {
        "delay": 0.0,
        "start_uris": ("FTP/", "URL/seeded"),
        "allowed_schemes": ("ftp", "http"),
        "ftp_passive": False,
        "ftp_searchlinks": False,
        "ftp_acct/127.0.0.1": "mirror:secret",
    },
}
FILES = {
    "seeds.txt": "# more\nURL/in-a-file\n",
    "feeds.txt": "URL/feed.xml\n",
    "hosts.txt": "exact 127.6.1.1\n",
    "uris.txt": "exact URL/x/listed\n",
}


@dataclass
class Crawl:
    """A crawl that is over, and what can be asked of it."""

    workspace: Workspace
    requests: list[Request]
    ftp: list[str] = field(default_factory=list)

    def asked(self, path: str) -> bool:
        """Return whether a path was asked for, on whichever host."""
        return any(request.path == path for request in self.requests)

    def sent(self, name: str, path: str = "/after/x") -> str:
        """Return a header of the request for a path."""
        return next(request.header(name) or "" for request in self.requests if request.path == path)

    def method(self, path: str) -> str:
        return next(f"{one.method} {one.body.decode()}".strip() for one in self.requests if one.path == path)

    def became(self, path: str) -> str:
        """Return what became of the download of a path, by the log."""
        rows = self._log("fetch")
        return next((row[7] for row in rows if urlsplit(row[6])[2] == path), "not asked")

    def indexed(self, path: str) -> bool:
        return any(row[2] == "add" and urlsplit(row[3])[2] == path for row in self._log("dsfeed"))

    def has_file(self, name: str) -> bool:
        return (self.workspace.directory / name).exists()

    def has_log(self, ending: str) -> bool:
        return self.has_file(f"var/log/handbook.{ending}")

    def _log(self, name: str) -> list[list[str]]:
        file = self.workspace.directory / f"var/log/handbook.{name}.log"
        return [line.split("\t") for line in file.read_text().splitlines()] if file.exists() else []

    def indexed_of(self, beginning: str) -> int:
        """Return how many documents are in the index whose path begins so."""
        rows = self._log("dsfeed")
        return sum(row[2] == "add" and urlsplit(row[3])[2].startswith(beginning) for row in rows)

    def found(self, word: str) -> bool:
        hits = self.workspace.command("search", "--json", "--as-typed", "-c", "collection.xml", word).json[
            "hits"
        ]
        return bool(hits)

    @property
    def listed(self) -> dict[str, Any]:
        """What `admin list` says of the collection."""
        return dict(self.workspace.command("admin", "list", "--json", "-c", "collection.xml").json)

    @cached_property
    def stored(self) -> dict[str, StoredAnswer]:
        """What is kept of documents, by path."""
        project = require(read_definitions(self.workspace.directory / "collection.xml"))
        documents = open_documents(project, project.sources["handbook"])
        answers = [documents.get(key) for key in documents.stored_keys()]
        documents.close()
        return {urlsplit(one.url)[2]: one for one in answers if one is not None}

    @property
    def files(self) -> int:
        """How many documents have a file of their own."""
        return len(list((self.workspace.directory / "var").rglob("*.doc")))

    @property
    def uncompressed(self) -> int:
        """How many files have a long page as it came: what is compressed does not show its words."""
        files = (file for file in (self.workspace.directory / "var").rglob("*") if file.is_file())
        return sum(
            b"<p>word</p><p>word</p>" in file.read_bytes() for file in files if "cache" not in file.name
        )


class Case(NamedTuple):
    """A question, the two crawls that are asked, and what each answers."""

    asks: Callable[[Crawl], object]
    without: object
    with_it: object
    on: str
    off: str = "plain"


def asked(path: str) -> Callable[[Crawl], object]:
    return lambda crawl: crawl.asked(path)


def became(path: str) -> Callable[[Crawl], object]:
    return lambda crawl: crawl.became(path)


def kind(name: str) -> Case:
    return Case(asked(f"/via-{name}"), name != "img", name == "img", "kinds")


def out(path: str) -> Case:
    return Case(asked(path), True, False, "uris")


def host(name: str, on: str, off: str, *, inside: bool) -> Case:
    return Case(asked(f"/on/{name}"), not inside, inside, on, off)


def let_in(path: str) -> Case:
    return Case(asked(path), False, True, "uris-in", "uris-main")


KINDS = ("a", "action", "area", "card", "comment", "embed", "frame", "go", "img", "layer", "link", "meta")
KINDS += ("meta_refresh", "object", "script", "script_java", "style")
RULED = ("exact", "prefix", "suffix", "regexp", "ipmask")
URI_PATHS = ("/x/exact.html", "/x/prefix/1", "/x/page.suffix", "/x/2024/regexp", "/x/listed")
CASES: dict[int, Case] = {
    1: Case(lambda crawl: crawl.listed["info"], None, "of many options", "uris"),
    2: Case(asked("/seeded"), True, False, "kinds"),
    3: Case(asked("/in-a-file"), False, True, "other"),
    4: Case(lambda crawl: bool(crawl.ftp), False, True, "ftp", "ftp-not"),
    6: Case(asked("/file.zip"), True, False, "uris"),
    7: Case(asked("/before/x"), True, False, "uris"),
    8: Case(asked("/q?b=1&a=2"), True, False, "uris"),
    9: Case(asked("/w/w"), True, False, "uris"),
    11: Case(lambda crawl: sum(one.path.startswith("/via") for one in crawl.requests) > 5, True, False, "few"),
    20: Case(became("/slow"), "new", "error", "content"),
    22: Case(lambda crawl: "gzip" in crawl.sent("Accept-Encoding"), True, False, "uris"),
    24: Case(lambda crawl: crawl.sent("X-Test") + crawl.sent("User-Agent")[:8], "ultracra", "yesExample/", "uris"),
    29: Case(lambda crawl: any("PASV" in one or "EPSV" in one for one in crawl.ftp), True, False, "ftp-on", "ftp"),
    30: Case(asked("/hop-3"), True, False, "content"),
    31: Case(asked("/forbidden"), False, True, "uris"),
    37: Case(lambda crawl: crawl.indexed("/noindex"), False, True, "uris"),
    38: Case(asked("/only-in-the-sitemap"), False, True, "uris"),
    39: Case(became("/table"), "discarded", "new", "uris"),
    40: Case(became("/disguised"), "discarded", "new", "uris"),
    41: Case(lambda crawl: crawl.found("tail"), True, False, "content"),
    42: Case(became("/long"), "new", "discarded", "other", "content"),
    43: Case(became("/quick"), "redirect", "new", "uris"),
    44: Case(became("/lazy"), "new", "redirect", "content"),
    45: Case(asked("/via-xhtml"), False, True, "content"),
    46: Case(lambda crawl: any("linked.txt" in one for one in crawl.ftp), True, False, "ftp-on", "ftp"),
    47: Case(asked("/only-in-a-duplicate"), False, True, "content", "plain"),
    52: Case(lambda crawl: crawl.indexed_of("/same-"), 1, 2, "uris"),
    53: Case(lambda crawl: crawl.indexed_of("/near-"), 2, 1, "content"),
    54: Case(lambda crawl: crawl.indexed_of("/meta-"), 1, 2, "content"),
    55: Case(lambda crawl: crawl.indexed_of("/begins-"), 2, 1, "focused"),
    56: Case(lambda crawl: crawl.sent("Cookie", "/after-cookie"), "", "seen=1", "content"),
    **{69 + n: host(name, "hosts-in", "hosts-main", inside=True) for n, name in enumerate(RULED)},
    75: host("file", "hosts-in", "hosts-main", inside=True),
    **{76 + n: host(name, "hosts-out", "hosts", inside=False) for n, name in enumerate(RULED)},
    82: host("file", "hosts-out", "hosts", inside=False),
    **{83 + n: let_in(path) for n, path in enumerate(URI_PATHS)},
    **{88 + n: out(path) for n, path in enumerate(URI_PATHS)},
    93: Case(lambda crawl: crawl.has_log("fetch.log"), True, False, "few"),
    94: Case(lambda crawl: crawl.has_log("postprocess.log"), True, False, "few"),
    95: Case(lambda crawl: crawl.has_log("header.log"), False, True, "few"),
    96: Case(lambda crawl: crawl.has_log("screened.jsonl"), False, True, "content"),
    97: Case(lambda crawl: crawl.has_log("scheduler.log"), False, True, "adaptive-logged", "adaptive"),
    98: Case(lambda crawl: crawl.has_log("dsfeed.log"), True, False, "other"),
    99: Case(lambda crawl: crawl.has_log("site.log"), True, False, "few"),
    100: Case(lambda crawl: crawl.files > 10, False, True, "focused"),
    101: Case(lambda crawl: bool(crawl.stored["/after/x"].header("last-modified")), True, False, "uris"),
    102: Case(lambda crawl: len({"/same-1", "/same-2"} & crawl.stored.keys()), 1, 2, "content"),
    103: Case(lambda crawl: crawl.uncompressed, 0, 1, "content"),
    104: Case(lambda crawl: crawl.uncompressed, 0, 1, "uris"),
    **{154 + n: kind(name) for n, name in enumerate(KINDS)},
    105: Case(lambda crawl: len(crawl.stored) > 10, True, False, "other"),
    108: Case(lambda crawl: crawl.has_file("links"), False, True, "other"),
    116: Case(lambda crawl: crawl.found("home"), True, False, "few"),
    175: Case(became("/german"), "new", "discarded", "other"),
    176: Case(asked("/from-german"), False, True, "focused", "other"),
    177: Case(lambda crawl: crawl.sent("Authorization", "/deep/1")[:6], "", "Basic ", "content"),
    178: Case(lambda crawl: "USER mirror" in crawl.ftp, False, True, "ftp-on", "ftp"),
    179: Case(became("/draft"), "new", "discarded", "uris"),
    200: Case(asked("/deep/2"), True, False, "other"),
    201: Case(asked("/elsewhere"), True, False, "content"),
    202: Case(asked("/redirected"), False, True, "uris"),
    204: Case(lambda crawl: crawl.method("/chain"), "GET", "POST q=all", "content"),
    205: Case(asked("/feed-item"), False, True, "content"),
    206: Case(asked("/feed-item"), False, True, "other"),
    207: Case(asked("/found-item"), False, True, "content"),
    208: Case(asked("/beyond-feed"), True, False, "feed-on", "feed"),
    209: Case(asked("/secret/feed"), False, True, "feed-on", "feed"),
    210: Case(lambda crawl: crawl.indexed("/feed.xml"), False, True, "feed-on", "feed"),
}  # fmt: skip


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Crawl]:
    """Return what gives the crawl of a variant; each is made once."""
    made: dict[str, Crawl] = {}

    def crawl(name: str) -> Crawl:
        if name not in made:
            made[name] = run(InProcessWorkspace(tmp_path_factory.mktemp(name)), VARIANTS[name])
        return made[name]

    return crawl


def run(workspace: Workspace, options: dict[str, Any]) -> Crawl:
    site, ftp = NetworkSite(), FtpSite(workspace.directory / "served")
    ftp.put("a.html", '<a href="linked.txt">x</a><a href="hidden/linked.txt">y</a>')
    ftp.users["mirror"] = ("secret", ftp.root)
    with site.serve(host="0.0.0.0") as address, ftp.serve() as files:
        port = str(urlsplit(address).port)
        url = f"http://127.0.0.1:{port}"
        build(site, url)

        def put(text: str) -> str:
            return text.replace("URL", url).replace("PORT", port).replace("FTP", files)

        for name, text in FILES.items():
            (workspace.directory / name).write_text(put(text))
        filled = {
            put(name): tuple(map(put, value)) if isinstance(value, tuple) else value
            for name, value in options.items()
        }
        (workspace.directory / "collection.xml").write_text(fast_xml(filled))
        for _ in range(2 if "refresh_mode" in options else 1):
            ended = workspace.command("crawl", "--json", "-c", "collection.xml")
            ended_with = ended.code, ended.run["cause"]
            assert ended_with in ((0, None), (1, "no-text")), ended.err  # the options may leave no text
    return Crawl(workspace, site.requests, ftp.commands)


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_crawl_differs(crawls: Callable[[str], Crawl], number: int) -> None:
    case = CASES[number]
    assert case.without != case.with_it
    assert VARIANTS[case.on] != VARIANTS[case.off]
    assert case.asks(crawls(case.off)) == case.without, f"without it ({case.off})"
    assert case.asks(crawls(case.on)) == case.with_it, f"with it ({case.on})"


@pytest.mark.servers  # much time
@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_nothing_but_the_option_makes_the_difference(tmp_path: Path, number: int) -> None:
    """The crawl with it, whose variant has many options, answers as without once this one is taken out."""
    case = CASES[number]
    on, off = VARIANTS[case.on], VARIANTS[case.off]
    own = {path for path in {**on, **off} if number_of(path) == number}
    assert any(on.get(path) != off.get(path) for path in own)
    rest = {path: value for path, value in on.items() if path not in own}
    taken_out = {**rest, **{path: off[path] for path in own & off.keys()}}
    assert case.asks(run(InProcessWorkspace(tmp_path), taken_out)) == case.without


def test_collections_that_have_the_same_uri_whatever_type_its_server_names(tmp_path: Path) -> None:
    """A generic type is detected with and without `force_mimetype_detection`; the URI is a hit once, and of each."""
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path)
    site.file("/", b"<!DOCTYPE html><title>Home</title>needle", "application/octet-stream")
    names = {"first": False, "second": True}
    with site.serve() as url:
        files = [
            fast_xml({"start_uris": (f"{url}/",), "force_mimetype_detection": detects}, name=name)
            for name, detects in names.items()
        ]
        head, _, _ = files[0].partition("</CrawlerConfig>")
        (tmp_path / "collection.xml").write_text(head + files[1].partition("<CrawlerConfig>")[2])
        workspace.crawl("-c", "collection.xml")

    def hits(*words: str) -> int:
        return len(
            workspace.command(
                "search", "--json", "--as-typed", "-c", "collection.xml", "needle", *words
            ).json["hits"]
        )

    assert [hits(), *(hits("--source", name) for name in names)] == [1, 1, 1]
