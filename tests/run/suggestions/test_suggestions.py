"""What a state suggests: only what its known URLs prove, whatever the store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import pytest
from stores.conftest import Place

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.candidates.traps import Trap
from ultracrawl.rules.duplicates.likeness import Version
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.suggestions import steps
from ultracrawl.run.suggestions.patterns import URIS, Pattern, patterns_of
from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind
from ultracrawl.run.suggestions.survey import Suggestions, suggestions_of
from ultracrawl.sources import DataSource, compile_source
from ultracrawl.stores import QueueEntry

NOW = 1_700_000_000.0
HOST = "http://h.example"


def page(path: str, content: str | None = None, **changes: Any) -> UrlRecord:
    """Return the record of a document."""
    text = path if content is None else content
    fingerprint = blake2b(text.encode(), digest_size=16).digest()
    sketch = Version("", "", text).sketch
    done = UrlRecord(f"{HOST}{path}", "s", status_code=200, outcome=UrlOutcome.NEW, indexed=True)
    return replace(done, fingerprint=fingerprint, sketch=sketch, last_fetched=NOW, **changes)


def copy(path: str, of: str) -> UrlRecord:
    """Return the record of a duplicate."""
    cause = Cause(CauseCode.SAME_CONTENT, f"{HOST}{of}")
    return page(path, of, outcome=UrlOutcome.DUPLICATE, indexed=False, cause=cause)


def other(path: str, outcome: UrlOutcome, cause: Cause, status: int = 200) -> UrlRecord:
    """Return the record of a URL without a document."""
    return UrlRecord(f"{HOST}{path}", "s", status_code=status, outcome=outcome, cause=cause, last_fetched=NOW)


def gone(path: str) -> UrlRecord:
    return other(path, UrlOutcome.GONE, Cause(CauseCode.STATUS, "404"), 404)


def suggested(
    place: Place, records: Iterable[UrlRecord], name: str = "s", traps: Sequence[Trap] = (), **options: Any
) -> Suggestions:
    """Return what the state of a source with these records suggests; the start URL is the root."""
    state = place.open(name)
    state.begin_run(NOW, "")
    for number, record in enumerate([page("/"), *records]):
        entry = QueueEntry(url_key(record.url), record.url, site_of(record.url), 1, number)
        state.records.discover_url(entry, NOW)
        if record.outcome is not UrlOutcome.QUEUED:
            state.records.finish_url(entry, record)
    state.flush()
    source = DataSource.model_validate({"name": name, "start_urls": [f"{HOST}/"], **options})
    return suggestions_of(state, source, compile_source(source), traps)


def values(found: Suggestions, kind: SuggestionKind) -> list[Any]:
    return [one.value for one in found.all if one.kind is kind]


def only(found: Suggestions, kind: SuggestionKind) -> Suggestion:
    (one,) = (one for one in found.all if one.kind is kind)
    return one


COPIES = [page(f"/a/{n}") for n in range(4)] + [copy(f"/a/{n}/", f"/a/{n}") for n in range(4)]


def test_a_step_is_suggested_with_what_it_merges(place: Place) -> None:
    one = only(suggested(place, COPIES), SuggestionKind.STEP)
    assert (one.option, one.value) == (("urls", "normalise"), "trailing_slash")
    assert one.counts == {"merged": 4, "different": 0, "untried": 0}
    assert len(one.examples) == 3
    assert one.examples[0] == (f"{HOST}/a/0/", f"{HOST}/a/0")


@pytest.mark.parametrize(
    "counter",
    [
        [page("/b"), page("/b/")],
        [page("/b"), gone("/b/")],
        [gone("/b"), page("/b/")],
        [page("/b/"), other("/b", UrlOutcome.HTTP_ERROR, Cause(CauseCode.STATUS, "403"), 403)],
    ],
    ids=["other content", "not found with it", "not found without it", "forbidden"],
)
def test_a_single_pair_with_other_content_speaks_against_a_step(
    place: Place, counter: Sequence[UrlRecord]
) -> None:
    found = suggested(place, [*COPIES, *counter])
    assert values(found, SuggestionKind.STEP) == []
    (doubt,) = found.doubtful
    assert (doubt.subject, doubt.counts["merged"], doubt.counts["different"]) == ("trailing_slash", 4, 1)
    assert doubt.examples == ((f"{HOST}/b/", f"{HOST}/b"),)


@pytest.mark.parametrize(
    "unknown",
    [
        [page("/b/"), UrlRecord(f"{HOST}/b", "s")],
        [page("/b/"), other("/b", UrlOutcome.REDIRECTED, Cause(CauseCode.REDIRECT, f"{HOST}/b/"), 301)],
        [page("/b/"), other("/b", UrlOutcome.NETWORK_ERROR, Cause(CauseCode.TIMEOUT))],
        [page("/b/"), other("/b", UrlOutcome.HTTP_ERROR, Cause(CauseCode.STATUS, "503"), 503)],
    ],
    ids=["waiting", "redirected", "time-out", "server error"],
)
def test_what_nobody_has_seen_speaks_neither_for_nor_against_a_step(
    place: Place, unknown: Sequence[UrlRecord]
) -> None:
    assert only(suggested(place, [*COPIES, *unknown]), SuggestionKind.STEP).counts["merged"] == 4
    assert values(suggested(place, unknown, "alone"), SuggestionKind.STEP) == []


def test_a_redirect_to_the_form_is_a_request_that_a_step_spares(place: Place) -> None:
    target = Cause(CauseCode.REDIRECT, f"{HOST}/b")
    found = suggested(place, [page("/b"), other("/b?utm_source=x", UrlOutcome.REDIRECTED, target, 301)])
    assert values(found, SuggestionKind.STEP) == ["tracking"]


def test_forms_that_no_known_url_has_are_compared_with_each_other(place: Place) -> None:
    records = [page(f"/p{n}?sid={one}", f"p{n}") for n in range(3) for one in "ab"]
    step = only(suggested(place, records), SuggestionKind.STEP)
    assert (step.value, step.counts) == ("session_ids", {"merged": 3, "different": 0, "untried": 0})


def test_a_step_that_is_hardly_tried_is_not_suggested(place: Place) -> None:
    few = [page("/x"), copy("/x/", "/x"), *(page(f"/{n}/") for n in range(11))]
    found = suggested(place, few)
    assert values(found, SuggestionKind.STEP) == []
    assert found.doubtful[0].counts == {"merged": 1, "different": 0, "untried": 11}
    assert values(suggested(place, few[:-1], "fewer"), SuggestionKind.STEP) == ["trailing_slash"]


def test_forms_beyond_a_number_are_forgotten_in_their_order(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_REMEMBERED", 2)
    records = [page(f"/p{n}?sid={one}", f"p{n}") for n in range(9) for one in "ab"]
    assert only(suggested(place, records), SuggestionKind.STEP).counts["merged"] == 9


def test_steps_that_merge_other_contents_only_together_are_not_suggested_together(place: Place) -> None:
    records = [page("/a?utm_source=x"), page("/a/"), *COPIES[:1], *COPIES[4:5]]
    records += [page("/t"), copy("/t?utm_source=x", "/t"), page("/t1"), copy("/t1?utm_source=x", "/t1")]
    assert values(suggested(place, records), SuggestionKind.STEP) == ["tracking"]


def test_steps_that_the_source_has_are_not_suggested(place: Place) -> None:
    found = suggested(place, COPIES, urls={"normalise": ["trailing_slash"]})
    assert found == Suggestions((), ())


WASTE = [page("/a"), *(copy(f"/a?print={n}", "/a") for n in range(10))]


@pytest.mark.parametrize(
    ("records", "option", "value"),
    [
        (WASTE, "boundary.uris.exclude", {"regexp": ".*[?&]print([=&?].*)?"}),
        ([gone(f"/old/{n}") for n in range(10)], "exclude", "/old/"),
        ([copy(f"/{n}/print", "/") for n in range(10)], "boundary.uris.exclude", {"suffix": "/print"}),
    ],
    ids=["parameter", "folder", "end"],
)
def test_a_pattern_that_brought_nothing_is_excluded(
    place: Place, records: list[UrlRecord], option: str, value: object
) -> None:
    one = only(suggested(place, records), SuggestionKind.PATTERN)
    assert (".".join(map(str, one.option)), one.value) == (option, value)
    assert sum(one.counts.values()) == 10


@pytest.mark.parametrize(
    "useful",
    [
        page("/a?print=all"),
        other("/a?b=1&print=1", UrlOutcome.NETWORK_ERROR, Cause(CauseCode.TIMEOUT)),
        other("/a?print", UrlOutcome.NOT_INDEXED, Cause(CauseCode.NOINDEX)),
    ],
    ids=["document", "unknown", "followed"],
)
def test_one_url_that_brought_something_keeps_its_pattern(place: Place, useful: UrlRecord) -> None:
    assert values(suggested(place, [*WASTE, useful]), SuggestionKind.PATTERN) == []


@pytest.mark.parametrize("is_known", [True, False])
def test_documents_whose_urls_a_step_merges_keep_the_patterns_of_these(place: Place, is_known: bool) -> None:
    pages = (
        [page(f"/d/{n}") for n in range(12)]
        if is_known
        else [page(f"/d/{n}?sid=a", f"/d/{n}") for n in range(12)]
    )
    copies = [copy(f"/d/{n}?sid=b", f"/d/{n}") for n in range(12)]
    wasted = [copy(f"/d/{n}?print=1", f"/d/{n}") for n in range(10)]
    found = suggested(place, [*pages, *copies, *wasted])
    assert [one.subject for one in found.all] == ["session_ids", "?print="]


def test_the_simpler_of_two_urls_is_never_excluded(place: Place) -> None:
    records = [
        one for n in range(12) for one in (page(f"/w?t={n}&print=1"), copy(f"/wiki/{n}", f"/w?t={n}&print=1"))
    ]
    assert values(suggested(place, records), SuggestionKind.PATTERN) == []


def test_a_duplicate_that_leads_to_a_document_keeps_its_pattern(place: Place) -> None:
    below = page("/below", depth=3)
    leading = replace(
        copy("/a?print=x", "/a"), depth=2, links=url_key(below.url).to_bytes(8, "little", signed=True)
    )
    assert values(suggested(place, [*WASTE, leading, below]), SuggestionKind.PATTERN) == []
    higher = replace(below, depth=2)
    assert len(values(suggested(place, [*WASTE, leading, higher], "higher"), SuggestionKind.PATTERN)) == 1


def test_waiting_urls_of_a_pattern_are_counted(place: Place) -> None:
    one = only(suggested(place, [*WASTE, UrlRecord(f"{HOST}/b?print=1", "s")]), SuggestionKind.PATTERN)
    assert one.counts == {"duplicate": 10, "gone": 0, "waiting": 1}


def test_what_the_definition_excludes_already_is_not_suggested(place: Place) -> None:
    records = [gone(f"/old/{n}") for n in range(10)]
    assert suggested(place, records, exclude=["/old/"]).all == ()


def test_what_a_suggested_step_merges_needs_no_exclusion(place: Place) -> None:
    records = [page("/a"), *(copy(f"/a?utm_source={n}", "/a") for n in range(10))]
    assert [one.value for one in suggested(place, records).all] == ["tracking"]


def test_patterns_of_a_url() -> None:
    found = patterns_of(f"{HOST}/a/b/print?x=1&y")
    assert found == {
        Pattern("parameter", "x"),
        Pattern("parameter", "y"),
        Pattern("folder", "/a/"),
        Pattern("folder", "/a/b/"),
    }
    assert patterns_of(f"{HOST}/") == set()
    assert Pattern("end", "/feed/") in patterns_of(f"{HOST}/a/feed/")


WORDS = [
    f"{one}{two}" for one in ("heron", "stork", "ibis", "crane") for two in ("wing", "nest", "egg", "song")
]


def versions(version: str, *, words: int = len(WORDS), pages: int = 6) -> list[UrlRecord]:
    """Return the pages of a version, with so many words of those that all have, and others for the rest."""
    text = " ".join([*WORDS[:words], *(f"new{one}" for one in WORDS[words:])])
    return [page(f"/docs/{version}/{n}", f"topic{'x' * n} {text} {version}") for n in range(pages)]


def test_versions_of_one_page_are_excluded_but_for_the_stable_one(place: Place) -> None:
    found = suggested(place, [*versions("1.9"), *versions("1.10"), *versions("stable")])
    assert values(found, SuggestionKind.VERSION) == ["/docs/1.10/", "/docs/1.9/"]
    assert {one.option for one in found.all} == {("exclude",)}
    assert found.all[0].counts == {"alike": 6, "others": 0}


def test_the_highest_number_is_kept(place: Place) -> None:
    found = suggested(place, [*versions("1.9"), *versions("1.10"), *versions("dev")])
    assert values(found, SuggestionKind.VERSION) == ["/docs/1.9/", "/docs/dev/"]


@pytest.mark.parametrize(
    "records",
    [
        [*versions("1.9", words=1), *versions("stable")],
        [*versions("1.9"), *versions("stable", pages=4)],
        [*versions("1.9", pages=4), *versions("stable", pages=4)],
        versions("1.9"),
    ],
    ids=["other words", "other pages", "few pages", "one version"],
)
def test_versions_with_something_of_their_own_stay(place: Place, records: list[UrlRecord]) -> None:
    assert values(suggested(place, records), SuggestionKind.VERSION) == []


def test_a_version_with_a_start_url_stays(place: Place) -> None:
    both = [*versions("1.9"), *versions("stable")]
    assert suggested(place, both, start_urls=[f"{HOST}/docs/1.9/0"]).all == ()


def test_causes_are_reported_with_their_advice(place: Place) -> None:
    login, robots = Cause(CauseCode.STATUS, "401"), Cause(CauseCode.ROBOTS, "Disallow: /x", "robots.txt")
    records = [other(f"/l{n}", UrlOutcome.HTTP_ERROR, login, 401) for n in range(4)]
    records += [other(f"/x{n}", UrlOutcome.ROBOTS, robots) for n in range(2)]
    found = suggested(place, [*records, gone("/gone")])
    assert [(one.kind, one.counts, one.option) for one in found.all] == [
        (SuggestionKind.CAUSE, {"urls": 4}, ()),
        (SuggestionKind.CAUSE, {"urls": 2}, ()),
    ]
    assert all(one.advice and len(one.examples) <= 3 for one in found.all)
    assert found.additions == {}


def test_a_cause_of_few_urls_is_not_reported(place: Place) -> None:
    records = [page(f"/{n}") for n in range(100)]
    assert (
        suggested(place, [*records, other("/l", UrlOutcome.NETWORK_ERROR, Cause(CauseCode.TIMEOUT))]).all
        == ()
    )


def test_an_honest_site_needs_nothing(place: Place) -> None:
    records = [page(f"/blog/2024/{n}/") for n in range(12)] + [
        page(f"/shop?page={n}&sort=price") for n in range(12)
    ]
    records += [page(f"/en/{n}") for n in range(12)] + [gone(f"/en/gone{n}") for n in range(12)]
    assert suggested(place, records) == Suggestions((), ())


def test_a_trap_that_is_bounded_is_excluded(place: Place) -> None:
    traps = [Trap(f"{HOST}/cal?month=*", 100, bounded=True), Trap(f"{HOST}/slow?page=*", 30, bounded=False)]
    found = suggested(place, [page("/cal?month=1"), page("/cal"), page("/slow?page=1")], traps=traps)
    one = only(found, SuggestionKind.TRAP)
    assert (one.subject, one.counts, one.option) == (traps[0].pattern, {"pages": 100}, URIS)
    assert isinstance(one.value, dict)
    urls = [f"{HOST}{path}" for path in ("/cal?month=1", "/cal", "/slow?page=1")]
    assert [bool(re.fullmatch(one.value["regexp"], url)) for url in urls] == [True, False, False]
