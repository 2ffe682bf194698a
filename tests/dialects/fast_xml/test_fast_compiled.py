"""What options of FAST collections do to compiled rules, each with and without it.

For options of which only time, several cycles or a whole network would tell; crawls with the YAML option that each of
them sets are in tests/run, and all other options have a crawl of their own in `test_fast_crawled.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fast import attrib, fast_options, fast_xml
from support.frontier import made_frontier

from ultracrawl.rules.access.login import Login
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.limits import SlackLimit
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, SiteSize
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run.auth.cookie_jars import CookieJars
from ultracrawl.sources import CompiledSource, DataSource, compile_level_selector, compile_source, require
from ultracrawl.sources.compilation.access import compile_logins, compile_proxies
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.secrets import SecretReader

HOUR = 3600.0
V6 = "2001:db8:7::1"


@dataclass
class Made:
    """What became of a file: the definition, and its rules."""

    source: DataSource
    told: list[str]
    """Codes of the notices, in their order."""

    @property
    def rules(self) -> CompiledSource:
        return compile_source(self.source, None, _addresses)

    @property
    def login(self) -> Login:
        (login,) = compile_logins(self.source, SecretReader({}, None))
        return login

    def page(self, **known: Any) -> float:
        """Return the score of a known page."""
        fields = {"key": 1, "url": "http://a.example/x/y.gif", "site": "a.example", "depth": 9, **known}
        rule = self.source.refresh.adaptive_rule(uses_sitemaps=True)
        return round(rule.scorer.parts(KnownPage(**fields)).total, 3)


def _addresses(host: str) -> tuple[str, ...]:
    return (V6,) if host == "v6.example" else ()


class Entry(NamedTuple):
    """A URL that waits."""

    site: str
    level: int = 1


Ask = Callable[[Made], object]


class Case(NamedTuple):
    """A question, and its answers without the options and with them; `beside` are set both times."""

    asks: Ask
    without: object
    with_it: object
    options: Mapping[str, Any]
    beside: Mapping[str, Any] = {}
    inside: str = ""
    """Raw XML beside the options, both times."""
    other: str = ""
    """Raw XML in its place with the options."""


def handed_out(made: Made, *sites: str, now: float = 0.0) -> list[str]:
    """Return the sites of the entries that go out at once when each site has three."""
    section = made.source.sites
    frontier: Frontier[Entry] = made_frontier(
        made.rules.pace, max_sites=section.max_sites, max_inter_docs=section.max_inter_docs
    )
    for site in sites:
        for _ in range(3):
            frontier.add_entry(Entry(site))
        frontier.set_address(site, "")
    found = []
    while entry := frontier.pop_entry(now):
        found.append(entry.site)
        if made.source.politeness.concurrency == 1:
            frontier.finish_entry(entry.site)
    return found


def seconds(made: Made) -> float:
    return made.rules.pace.current_delay(Clock(), 0.0)


def slowed(made: Made, errors: int) -> tuple[float, bool]:
    """Return the delay after so many network errors, and whether the site is given up."""
    clock, backoff = Clock(), made.rules.pace.backoff
    over = [backoff.fail(clock, 60.0) for _ in range(errors)][-1]
    return clock.backoff_delay, over


def judged(error: str, count: int, attempts: int = 0, *, ftp: bool = False) -> Ask:
    """Return what asks what follows an error: whether it deletes, and whether it is tried again."""

    def ask(made: Made) -> object:
        policy = made.rules.ftp_error_rules if ftp else made.rules.error_rules
        verdict = policy.judge(error, count, attempts, made.source.limits.retries)
        return "delete" if verdict.delete else "again" if verdict.retry else "keep"

    return ask


def errors(section: str, name: str, value: str, ask: Ask, without: str, with_it: str) -> Case:
    return Case(ask, without, with_it, {f"{section}/{name}": value})


def inside(url: str) -> Ask:
    return lambda made: made.rules.boundary.rejects(url) is None


def turns(made: Made) -> str:
    selector = compile_level_selector(made.source)
    return "".join(str(selector.choose(lambda level: True)) for _ in range(8))


def levels(made: Made) -> list[int]:
    found = compile_source(made.source).levels
    return [found.of(url) for url in ("http://a.example/", "http://a.example/x", "http://b.example/x")]


def slack(made: Made, *numbers: float, disk: bool = False) -> list[bool]:
    """Return whether only known URLs are asked for at each number of documents, or percent of the disk."""
    limits = made.source.limits
    limit = (
        SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
        if disk
        else SlackLimit(limits.documents, limits.documents_slack)
    )
    return [limit.update(number) for number in numbers]


def weight(name: str, value: float, without: float, with_it: float, **known: Any) -> Case:
    """Return a case about a weight; all other weights are 0, so that the score is what it adds."""
    others = {f"adaptive/weights/{one}": 0.0 for one in WEIGHTS}
    key = f"adaptive/weights/{name}"
    default = {"change_history": 10.0, "sitemap": 10.0}.get(name, 1.0)
    return Case(lambda made: made.page(**known), without, with_it, {key: value}, {**others, key: default})


WEIGHTS = (
    "inverse_length",
    "inverse_depth",
    "is_landing_page",
    "is_mime_markup",
    "change_history",
    "sitemap",
)


def frequency(name: str, without: float) -> Case:
    """Return a case about what a word of sitemaps is worth; weight 10, nothing else counts."""
    others = {f"adaptive/weights/{one}": 0.0 for one in WEIGHTS if one != "sitemap"}
    word = "" if name == "default" else name
    option = {f"adaptive/sitemap_weights/{name}": 0.5}
    return Case(lambda made: made.page(changefreq=word), without, 5.0, option, others)


def login(**options: Any) -> str:
    """Return a login; the names of fields begin with an underscore."""
    given = {"site": "l.example", "form": "/in", **options}
    own = "".join(
        attrib(name, f"Login/{name}", value)
        for name, value in given.items()
        if name[0] != "_" and value != ""
    )
    fields = {name[1:]: value for name, value in {"_user": "x", **options}.items() if name[0] == "_"}
    inner = "".join(attrib(name, f"Login/parameters/{name}", one) for name, one in fields.items())
    return f'<Login name="main">{own}<section name="parameters">{inner}</section></Login>'


def of_login(ask: Callable[[Login], object], without: object, with_it: object, **options: Any) -> Case:
    return Case(lambda made: ask(made.login), without, with_it, {}, {}, login(), login(**options))


def cookie_age(made: Made) -> float:
    jars = CookieJars(lambda host: host, made.source.cookies.session_age)
    return jars._session_age


def monday(hour: int) -> float:
    return datetime(2024, 1, 1, hour, 30).timestamp()


def at_once(count: int) -> list[str]:
    return ["a.example"] * count


SITES = ("a.example", "b.example")
LEVELS = {"workqueue_priority/levels": 2}
PUT = {
    **LEVELS,
    "workqueue_priority/default": 2,
    "workqueue_priority/1/include_domains/exact": ("a.example",),
}
QUICK = {"delay": 0.0, "enforce_delay_per_ip": False}
SECOND = f'</DomainSpecification><DomainSpecification name="other">{fast_options({"start_uris": ("http://o.example/",)})}'
PROXIES = {"proxy": ("one.example:3128",)}
DELETES = {"rss/del_expired_links": True}
FED = {"feeding/main/collection": "archive"}
ADAPTIVE = {"refresh_mode": "adaptive"}
LINKS = [FeedLink(key, seen=0.0, place=-key) for key in range(130)]

CASES: dict[int, Case] = {
    5: Case(lambda made: made.source.send_links_to, (), ("other",), {"send_links_to": "other"}, {}, SECOND, SECOND),
    10: Case(lambda made: Mirrors(made.source.sites.aliases).queue_site("a.example:80"), "a.example:80",
             "www.a.example:80", {"mirror_site_files": ("mirrors.txt",)}),
    12: Case(seconds, 60.0, 2.5, {"delay": 2.5}),
    13: Case(lambda made: made.rules.pace.concurrency, 2, 1, {"max_pending": 1}),
    14: Case(lambda made: made.rules.pace.per_address, True, False, {"enforce_delay_per_ip": False}),
    15: Case(lambda made: set(handed_out(made, *SITES)), set(SITES), {"a.example"}, {"max_sites": 1}, QUICK),
    16: Case(lambda made: handed_out(made, *SITES)[:2], at_once(2), list(SITES), {"max_inter_docs": 1},
             {**QUICK, "max_sites": 1, "max_pending": 1}),
    17: Case(lambda made: slowed(made, 3)[1], False, True, {"max_backoff_counter": 3}),
    18: Case(lambda made: slowed(made, 9)[0], 600.0, 90.0, {"max_backoff_delay": 90}),
    19: Case(lambda made: made.rules.grouping.of("www.shop.example.com"), "www.shop.example.com", "example.com",
             {"domain_clustering": True}),
    21: Case(lambda made: (made.source.http.version, "Accept-Encoding" in made.rules.headers), ("1.1", False),
             ("1.0", True), {"use_http_1_1": False}),
    23: Case(lambda made: made.source.refresh.conditional, True, False, {"if_modified_since": False}),
    25: Case(lambda made: taken(made, 1), [], ["http://one.example:3128"], PROXIES),
    26: Case(lambda made: len(taken(made, 3)), 3, 2, {"proxy_max_pending": 2}, PROXIES),
    27: Case(lambda made: Path(made.source.client_certificates["main"].key).name, "other.key", "client.key",
             {"key_file": "client.key"}, {"cert_file": "client.pem", "key_file": "other.key"}),
    28: Case(lambda made: Path(made.source.client_certificates["main"].certificate).name, "other.pem", "client.pem",
             {"cert_file": "client.pem"}, {"cert_file": "other.pem", "key_file": "client.key"}),
    32: Case(lambda made: made.rules.robots.expired(0.0, HOUR), False, True, {"robots_ttl": 60}),
    33: Case(lambda made: made.rules.robots.timeout, 300.0, 20.0, {"robots_timeout": 20}),
    34: Case(lambda made: bool(made.rules.robots.judge_response(403).unavailable), False, True,
             {"robots_auth_ignore": False}),
    35: Case(lambda made: bool(made.rules.robots.judge_response(None, timed_out=True).unavailable), True, False,
             {"robots_tout_ignore": True}),
    36: Case(lambda made: made.rules.robots.delay(RobotsRules.parse(b"User-agent: *\nCrawl-delay: 7"), 60.0), 60.0,
             7.0, {"obey_robots_delay": True}),
    48: Case(lambda made: made.source.javascript.use, False, True, {"use_javascript": True}),
    49: Case(lambda made: made.source.javascript.keep_html, False, True, {"javascript_keep_html": True},
             {"use_javascript": True}),
    50: Case(lambda made: made.source.javascript.delay, 0.0, 0.5, {"javascript_delay": 0.5}),
    57: Case(cookie_age, 300.0, 900.0, {"cookie_timeout": 900}),
    58: Case(lambda made: made.login.timeout, 300.0, 45.0, {"login_timeout": 45}, {}, login(), login()),
    59: Case(lambda made: made.login.required, True, False, {"login_failed_ignore": True}, {}, login(), login()),
    60: Case(lambda made: made.source.refresh.rule.length(RefreshMode.SCRATCH), 90_000.0, HOUR, {"refresh": 60.0}),
    61: Case(lambda made: made.source.refresh.rule.mode, "scratch", "soft", {"refresh_mode": "soft"}),
    62: Case(lambda made: made.source.refresh.when_idle, False, True, {"refresh_when_idle": True}),
    63: Case(lambda made: made.source.orphans.after, 5, 3, {"dbswitch": 3}),
    64: Case(lambda made: made.source.orphans.delete, False, True, {"dbswitch_delete": True}),
    74: Case(inside("http://v6.example/"), False, True, {"include_domains/ip6mask": ("2001:db8:7::/48",)},
             {"include_domains/exact": ("a.example",)}),
    81: Case(inside("http://v6.example/"), True, False, {"exclude_domains/ip6mask": ("2001:db8:7::/48",)}),
    110: Case(lambda made: made.source.duplicates.listed, 10, 3, {"pp/max_dupes": 3}),
    114: Case(lambda made: made.source.duplicates.always_listed, None, ".*/start[.]html",
              {"pp/ecl_override": ".*/start[.]html"}),
    106: Case(lambda made: made.source.storage.clusters, 8, 3, {"storage/clusters": 3}),
    107: Case(lambda made: made.source.storage.compact_below, 85, 50, {"storage/defrag_threshold": 50}),
    121: Case(lambda made: made.source.feeding.destinations["main"].index, "pages", "archive",
              {"feeding/main/collection": "archive"}, {"feeding/main/collection": "pages"}),
    122: Case(lambda made: made.told, [], ["N-RANGE"], {"feeding/main/destination": "elsewhere"}, FED),
    123: Case(lambda made: made.source.feeding.destinations["main"].paused, False, True,
              {"feeding/main/paused": True}, FED),
    124: Case(lambda made: [name for name, one in made.source.feeding.destinations.items() if one.primary], ["main"],
              ["copy"], {"feeding/main/primary": False, "feeding/copy/primary": True},
              {**FED, "feeding/main/primary": True, "feeding/copy/collection": "copies"}),
    135: errors("http_errors", "4xx", "KEEP", judged("404", 9), "delete", "keep"),
    136: errors("http_errors", "5xx", "DELETE:2", judged("503", 2), "keep", "delete"),
    137: errors("http_errors", "int", "DELETE:2", judged("int", 2), "keep", "delete"),
    138: errors("http_errors", "net", "KEEP, RETRY:4", judged("net", 3), "delete", "again"),
    139: errors("http_errors", "ttl", "KEEP", judged("ttl", 3), "delete", "keep"),
    140: errors("http_errors", "408", "KEEP, RETRY:2", judged("408", 1), "delete", "again"),
    141: errors("ftp_errors", "4xx", "KEEP", judged("450", 3, ftp=True), "delete", "keep"),
    142: errors("ftp_errors", "550", "KEEP", judged("550", 1, ftp=True), "delete", "keep"),
    143: errors("ftp_errors", "5xx", "DELETE:2", judged("530", 2, ftp=True), "keep", "delete"),
    144: errors("ftp_errors", "int", "DELETE:2", judged("int", 2, ftp=True), "keep", "delete"),
    145: errors("ftp_errors", "net", "KEEP", judged("net", 3, ftp=True), "delete", "keep"),
    146: errors("ftp_errors", "ttl", "KEEP, RETRY:1", judged("ttl", 3, ftp=True), "delete", "again"),
    147: errors("ftp_errors", "421", "KEEP", judged("421", 3, ftp=True), "delete", "keep"),
    148: Case(turns, "11111111", "12121212", {"workqueue_priority/levels": 2}),
    149: Case(levels, [1, 1, 1], [1, 2, 2], {"workqueue_priority/default": 2}, LEVELS),
    150: Case(levels, [1, 1, 1], [2, 1, 1], {"workqueue_priority/start_uri_pri": 2}, LEVELS),
    151: Case(turns, "12121212", "11111111", {"workqueue_priority/pop_scheme": "pri"}, LEVELS),
    152: Case(levels, [1, 2, 2], [1, 1, 2], {"workqueue_priority/put_scheme": "include"}, PUT),
    153: Case(turns, "12121212", "11121112", {"workqueue_priority/1/share": 3}, LEVELS),
    171: Case(lambda made: slack(made, 9.0, disk=True), [False], [True], {"limits/disk_free": 10}),
    172: Case(lambda made: slack(made, 9.0, 14.0, disk=True), [True, False], [True, True],
              {"limits/disk_free_slack": 9}, {"limits/disk_free": 10}),
    173: Case(lambda made: slack(made, 100.0), [False], [True], {"limits/max_doc": 100}),
    174: Case(lambda made: slack(made, 2000.0, 1500.0), [True, True], [True, False],
              {"limits/max_doc_slack": 10}, {"limits/max_doc": 2000}),
    180: Case(lambda made: made.rules.pace.week.at(monday(9)).suspended, False, True,
              {"variable_delay/Mon:08-Mon:12": "suspend"}),
    181: Case(lambda made: made.source.refresh.rule.length(RefreshMode.ADAPTIVE), 22_500.0, 45_000.0,
              {"adaptive/refresh_count": 2}, ADAPTIVE),
    182: Case(lambda made: rule(made).split(SiteSize(500, 500)), (90, 10), (50, 50), {"adaptive/refresh_quota": 50}),
    183: Case(lambda made: rule(made).coverage(100), 25, 40, {"adaptive/coverage_min": 40}),
    184: Case(lambda made: rule(made).coverage(1000), 100, 200, {"adaptive/coverage_max_pct": 20}),
    185: weight("inverse_length", 3.0, 0.889, 2.667),
    186: weight("inverse_depth", 3.0, 0.5, 1.5, depth=5),
    187: weight("is_landing_page", 3.0, 1.0, 3.0, url="http://a.example/x/"),
    188: weight("is_mime_markup", 3.0, 1.0, 3.0, markup=True),
    189: weight("change_history", 4.0, 5.0, 2.0, history=ChangeHistory()),
    190: weight("sitemap", 4.0, 10.0, 4.0, changefreq="always"),
    191: frequency("always", 10.0),
    192: frequency("hourly", 6.4),
    193: frequency("daily", 3.2),
    194: frequency("weekly", 1.6),
    195: frequency("monthly", 0.8),
    196: frequency("yearly", 0.4),
    197: frequency("never", 0.0),
    198: frequency("default", 1.6),
    199: Case(lambda made: len({made.rules.grouping.of(host) for host in SITES}), 2, 1,
              {"site_clusters/shop": SITES}),
    203: Case(lambda made: made.rules.boundary.link_depth("http://b.example/", "http://a.example/", 1), 0, 2,
              {"crawlmode/reset_level": False}),
    211: Case(lambda made: over(made, HOUR), 0, 2, {"rss/del_expired_links": True}),
    212: Case(lambda made: over(made, 2 * HOUR), 2, 130, {"rss/max_link_age": 60}, DELETES),
    213: Case(lambda made: over(made, HOUR), 2, 30, {"rss/max_link_count": 100}, DELETES),
    214: of_login(lambda one: one.preload, None, "http://l.example/hello", preload="http://l.example/hello"),
    215: of_login(lambda one: one.action, "http://l.example/in", "https://l.example/in", scheme="https"),
    216: of_login(lambda one: one.action, "http://l.example/in", "http://m.example/in", site="m.example"),
    217: of_login(lambda one: one.action, "http://l.example/in", "http://l.example/other", form="/other"),
    218: of_login(lambda one: one.method, "POST", "GET", action="GET"),
    219: of_login(lambda one: sorted(one.hosts), ["l.example"], ["m.example"], sites=("m.example",)),
    220: of_login(lambda one: one.ttl, None, 600.0, ttl=600),
    221: of_login(lambda one: one.page, None, "http://l.example/form", html_form="http://l.example/form"),
    222: Case(lambda made: made.login.autofill, False, True, {}, {}, login(html_form="http://l.example/form"),
              login(html_form="http://l.example/form", autofill=True)),
    223: of_login(lambda one: one.relogin_if_failed, False, True, relogin_if_failed=True),
    224: of_login(lambda one: one.values, (("user", "x"),), (("user", "x"), ("group", "staff")), _group="staff"),
}  # fmt: skip


def rule(made: Made) -> Any:
    return made.source.refresh.adaptive_rule(uses_sitemaps=False)


def over(made: Made, now: float) -> int:
    """Return how many of 130 links of a feed are over."""
    return sum(link.expired for link in made.source.feeds.rule.expire(LINKS, now))


def taken(made: Made, most: int) -> list[str]:
    """Return the proxies that requests at once would go through."""
    roster, _ = compile_proxies(made.source, SecretReader({}, None))
    return [found.url for _ in range(most) if (found := roster.acquire_proxy(0.0))]


def make(folder: Path, options: Mapping[str, Any], raw: str) -> Made:
    file = folder / "collection.xml"
    file.write_text(fast_xml({"start_uris": ("http://a.example/",), **options}, inside=raw))
    loaded = read_definitions(file)
    told = [finding.problem.partition(":")[0] for finding in loaded.findings]
    return Made(require(loaded).sources["handbook"], told)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("client.pem", "client.key", "other.pem", "other.key"):
        (tmp_path / name).touch()
    (tmp_path / "mirrors.txt").write_text("www.a.example a.example\n")
    return tmp_path


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_rules_differ(folder: Path, number: int) -> None:
    case = CASES[number]
    assert case.without != case.with_it
    assert case.asks(make(folder, case.beside, case.inside)) == case.without, "without it"
    assert case.asks(make(folder, {**case.beside, **case.options}, case.other or case.inside)) == case.with_it


def test_fast_vector_34_a_cycle_of_four_is_due_after_six_hours(folder: Path) -> None:
    made = make(folder, {**ADAPTIVE, "refresh": 1440.0}, "")
    place = CyclePlace(1, 0, 0.0, RefreshMode.ADAPTIVE)
    assert made.source.refresh.rule.next_due(place, HOUR) == 6 * HOUR
