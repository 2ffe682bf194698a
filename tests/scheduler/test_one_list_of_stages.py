"""The crawl judges candidates compiled; spelled out, the same list of stages says the same of what it put on record."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
import yaml
from support.fast import fast_xml
from support.project import Workspace
from support.robot import RobotFiles

from ultracrawl.model.candidate import Candidate, ExceededLimit
from ultracrawl.rules.boundary.focus import FOCUSED
from ultracrawl.rules.boundary.redirects import Redirect
from ultracrawl.rules.candidates.rules import REFRESH_ONLY, CandidateRules
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.discovery.new_urls import closing_rule, trap_guard
from ultracrawl.run.filters.source_filters import filtering_of, with_filters
from ultracrawl.run.inspection.candidates import past_verdicts, verdicts_on_record
from ultracrawl.run.inspection.explanation import explain
from ultracrawl.run.logs.candidate_logs import CandidateLog, candidates_path, read_candidates
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners, LinkPage
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import SqliteStore
from ultracrawl.stores.project_stores import open_state

pytestmark = pytest.mark.servers  # much time

START = "http://a.example/"
HOSTS = ["a.example", "a.example", "www.a.example", "b.example", "c.a.example:8080", "other.example"]
WORDS = ["docs", "private", "cal", "x", "shop", "a", "b", "long-name"]
ENDINGS = ["", "/", ".html", ".png", ".zip", ".pdf"]
PAGES = 500
"""Pages of each generated site."""
LINKS = 30
"""Links of each page."""

BOUNDARY = {
    "domains": {"include": ["a.example", ".a.example"], "exclude": ["other.example"]},
    "paths": {"a.example": {"exclude": ["/private/"], "follow_only": ["/docs/"]}},
    "exclude_extensions": [".zip"],
}
YAML: dict[str, dict[str, Any]] = {
    "open": {},
    "boundary": {"boundary": BOUNDARY},
    "depth": {"boundary": BOUNDARY, "depth": 3},
    "any": {
        "boundary": {
            **BOUNDARY,
            "combine": "any",
            "uris": {"include": ["http://b.example/cal/", {"suffix": ".pdf"}]},
        }
    },
    "uris": {
        "boundary": {
            "uris": {
                "exclude": [{"suffix": ".html"}],
                "include": ["http://a.example/", "http://www.a.example/"],
            }
        }
    },
    "traps": {"limits": {"urls_per_site": 900, "query_variations": 3}},
    "all": {"boundary": BOUNDARY, "depth": 4, "limits": {"urls_per_site": 300, "query_variations": 2}},
    "index only": {"crawling_mode": "index-only"},
}
FAST: dict[str, dict[str, Any]] = {
    "collection": {
        "include_domains/suffix": [".a.example"],
        "exclude_uris/regexp": [r".*private.*"],
        "exclude_extensions": [".png"],
        "max_uri_recursion": 2,
        "max_sites": 64,
    },
    "levels": {
        "include_domains/exact": ["a.example", "b.example"],
        "exclude_domains/prefix": ["www"],
        "crawlmode/mode": "DEPTH:3",
        "crawlmode/fwdlinks": False,
        "crawlmode/reset_level": True,
        "variations": 1,
    },
}


class Feeding(NamedTuple):
    """A definition whose candidates are fed to the filter."""

    source: DataSource
    rules: CompiledSource
    project: Project


def yaml_definition(folder: Path, options: dict[str, Any]) -> Project:
    file = folder / "ultracrawl.yaml"
    source = {"start_urls": [START], **options}
    file.write_text(yaml.safe_dump({"sources": {"s": source}, "state": {"path": str(folder / "var")}}))
    return require(read_definitions(file))


def fast_definition(folder: Path, options: dict[str, Any]) -> Project:
    file = folder / "collection.xml"
    file.write_text(fast_xml({"start_uris": [START], **options}))
    return require(read_definitions(file))


def robot_definition(folder: Path, depth: str) -> Project:
    robot = RobotFiles(cast(Workspace, SimpleNamespace(directory=folder)))
    robot.site(START, depth=depth)
    return require(read_definitions(robot.config / "robot.conf"))


DEFINITIONS = (
    [("yaml", name) for name in YAML]
    + [("fast", name) for name in FAST]
    + [("robot", one) for one in ("", "3")]
)


@pytest.fixture(params=DEFINITIONS, ids=lambda one: " ".join(one).strip())
def fed(request: pytest.FixtureRequest, tmp_path: Path) -> Feeding:
    dialect, name = request.param
    if dialect == "yaml":
        project = yaml_definition(tmp_path, YAML[name])
    elif dialect == "fast":
        project = fast_definition(tmp_path, FAST[name])
    else:
        project = robot_definition(tmp_path, name)
    (source,) = project.sources.values()
    rules = with_filters(compile_source(source, project), filtering_of(source, None))
    return Feeding(source, rules, project)


def pages(dice: random.Random, number: int = PAGES) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the pages of a site without end: URL, depth, links as written."""
    for page in range(number):
        parent = f"http://{dice.choice(HOSTS)}/{dice.choice(WORDS)}/{page}"
        yield parent, dice.randrange(1, 6), [link(dice) for _ in range(LINKS)]


def link(dice: random.Random) -> str:
    path = "/".join(dice.choice(WORDS) for _ in range(dice.randrange(1, 7)))
    number = dice.randrange(10**6) if dice.random() < 0.8 else dice.randrange(20)
    query = f"?n={number}" if dice.random() < 0.5 else ""
    written = f"{path}{'' if query else number}{dice.choice(ENDINGS)}{query}"
    match dice.randrange(12):
        case 0:
            return written
        case 1:
            return f"https://{dice.choice(HOSTS)}/{written}"
        case 2:
            return f"mailto:{number}@a.example"
        case 3:
            return f"http://a..example/{written}"
    return f"http://{dice.choice(HOSTS)}/{written}"


class Crawl:
    """A filter as a crawl has it, whose verdicts over new URLs are noted, and put on record."""

    def __init__(self, fed: Feeding, store: SqliteStore, *, closed: str = "") -> None:
        counters = RunCounters("s")
        self.rejected = counters.rejected_by
        self.told: list[tuple[Candidate, str]] = []
        self.compared = 0
        self.policy, self.redirects = fed.rules.url_policy, fed.rules.redirects
        self.boundary, self.seeds = fed.rules.boundary, fed.rules.seeds
        path = candidates_path(fed.project, fed.source.name)
        self.log = CandidateLog(path, 1 << 30, lambda: 5.0)
        self.log.begin(1, self.boundary, fed.rules.traps)
        guard = trap_guard(fed.rules, store)
        self.stages = CandidateRules(fed.rules.boundary, guard)
        judged = (lambda candidate, rule: self.told.append((candidate, rule)), self.log.candidate_judged)
        self.filter = CandidateFilter(
            LinkUrls(fed.rules.url_policy, counters.count_excluded),
            self.stages,
            store,
            lambda: 5.0,
            CandidateListeners(
                counters.count_excluded,
                judged=judged,
                limits_over=lambda: (ExceededLimit("limits.documents", 10.0, 11.0),),
            ),
        )
        self.filter.close(closed or closing_rule(fed.rules, refresh_only=False))

    def start_and_be_redirected(self, dice: random.Random) -> int:
        """Put start URLs and targets of redirects on record, as ingest and redirects do; returns how many."""
        for url in self.seeds:
            self.log.candidate_judged(Candidate(url, seed=True), self.boundary.rejects(url, seed=True) or "")
        number = len(self.seeds)
        for parent, depth, hrefs in pages(dice, 20):
            for target in filter(None, (self.policy.canonical(href, parent) for href in hrefs)):
                redirect = Redirect(dice.choice((0, 301, 302, 303, 307, 308)), parent, target, depth=depth)
                answer = self.redirects.decide(redirect, self.boundary)
                self.log.candidate_judged(
                    self.redirects.candidate(redirect), "" if answer.accept else answer.decision.rule
                )
                number += 1
        return number


def judged(crawl: Crawl, dice: random.Random, number: int = PAGES) -> None:
    """Feed a site to a filter, and compare each of its verdicts with the list."""
    for parent, depth, hrefs in pages(dice, number):
        crawl.told.clear()
        closed = dice.choice((FOCUSED, REFRESH_ONLY)) if dice.random() < 0.03 else ""
        page = LinkPage(parent, depth, closed, rules_hold=dice.random() >= 0.05)
        found, inside = crawl.filter.admit_resolved(crawl.filter.resolve(hrefs, parent).values(), page)
        accepted = [candidate.url for candidate, rule in crawl.told if not rule]
        assert [entry.url for entry in found] == accepted
        assert set(map(url_key, accepted)) <= set(inside)
        for candidate, rule in crawl.told:
            crawl.compared += 1
            refusal = crawl.stages.refusal(candidate)
            assert (refusal.rule if refusal else "") == rule, candidate
        refused = {url_key(candidate.url) for candidate, rule in crawl.told if rule}
        assert not refused & set(inside)


def test_the_crawl_and_the_list_give_the_same_verdict_by_the_same_rule(fed: Feeding) -> None:
    with closing(open_state(fed.project, fed.source.name)) as store:
        store.begin_run(1.0, "")
        crawl, dice = Crawl(fed, store), random.Random(7)
        judged(crawl, dice)
    assert crawl.compared > 100_000 / len(DEFINITIONS)
    expected = crawl.compared + crawl.start_and_be_redirected(dice)
    crawl.log.flush()
    record = read_candidates(crawl.log.path, 1)
    assert record is not None
    assert len(record.candidates) == expected
    anew = with_filters(compile_source(fed.source, fed.project), filtering_of(fed.source, None))
    for verdict in verdicts_on_record(anew, record.candidates):
        told = verdict.refusal
        said = (told.stage, told.rule) if told else ("", "")
        assert said == (verdict.judged.stage, verdict.judged.rule), verdict.judged
        assert verdict.same


def test_explain_as_of_a_run_says_what_was_counted_then(tmp_path: Path) -> None:
    options = {"limits": {"urls_per_site": 300, "query_variations": 2}, "log": {"candidates": True}}
    project = yaml_definition(tmp_path, YAML["boundary"] | options)
    fed = Feeding(project.sources["s"], compile_source(project.sources["s"], project), project)
    with closing(open_state(project, "s")) as store:
        store.begin_run(1.0, "")
        crawl, dice = Crawl(fed, store), random.Random(8)
        judged(crawl, dice, PAGES // 2)
    crawl.log.flush()
    record = read_candidates(crawl.log.path, 1)
    assert record is not None
    rules = Counter(one.rule for one in record.candidates)
    assert {"limits.urls_per_site 300", "limits.query_variations 2", FOCUSED, REFRESH_ONLY, ""} <= set(rules)
    by_rule = {one.rule: one for one in record.candidates}
    anew = compile_source(fed.source, project)
    for rule, last in by_rule.items():
        (*_, found) = past_verdicts(project, fed.source, anew, 1, {last.candidate.url})
        assert (found.judged, found.same) == (last, True), rule
        assert (found.as_json()["accept"], found.as_json()["rule"]) == (not rule, rule or None)
    counted = past_verdicts(project, fed.source, anew, 1, {by_rule["limits.urls_per_site 300"].candidate.url})
    assert counted[-1].as_json()["counters"]["site_urls"] == 300


@pytest.mark.parametrize("name", ["boundary", "uris", "traps", "index only"])
def test_explain_says_what_the_crawl_would_say_now_of_a_link(name: str, tmp_path: Path) -> None:
    project = yaml_definition(
        tmp_path, YAML[name] | {"limits": {"urls_per_site": 300, "query_variations": 2}}
    )
    fed = Feeding(project.sources["s"], compile_source(project.sources["s"], project), project)
    dice = random.Random(8)
    with closing(open_state(project, "s")) as store:
        store.begin_run(1.0, "")
        judged(Crawl(fed, store), dice, PAGES // 4)
    hrefs = [href for _, _, found in pages(dice, 3) for href in found if href.startswith("http")]
    explained = [explain(project, fed.source, href) for href in hrefs]
    rules = set()
    with closing(open_state(project, "s")) as store:
        for href, explanation in zip(hrefs, explained, strict=True):
            crawl = Crawl(fed, store)
            inside = crawl.filter.admit([href], START, 0)[1]
            assert explanation.accept == bool(inside), href
            refusals = [one.rule for one in explanation.decisions if not one.accept]
            assert [rule for _, rule in crawl.told if rule] == refusals[: len(crawl.told)], href
            rules.update(refusals)
    assert len(rules) > 1
