"""The change guard alone, without a crawl: random histories of sites against a model, and what single versions show."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

import pytest
from support.wall_histories import FRAME, LIMIT, History, Model, page_of, page_text, spelled

from ultracrawl.rules.duplicates.likeness import Look, Version
from ultracrawl.rules.duplicates.losses import (
    MAX_GROUPS,
    MAX_REMEMBERED,
    MIN_DOCUMENTS,
    REMEMBERED_RUNS,
    CommonWords,
    Group,
    LostVersions,
    SiteWords,
    Verdict,
)
from ultracrawl.rules.duplicates.marks import WITHOUT_WORDS, Marks, marks_of, read_sketch


@dataclass
class Guarded:
    """A site with an index that the guard watches."""

    index: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Title and text by document."""
    stored: str = "[]"

    def crawl(self, found: dict[int, tuple[str, str]]) -> set[int]:
        """Crawl the versions of a run; returns the documents that are held back."""
        words = CommonWords()
        before = {name: self._version(name, *page).sketch for name, page in self.index.items()}
        for name, sketch in before.items():
            words.add("h", name, read_sketch(sketch))
        remembered = map(Group.of_json, json.loads(self.stored))
        guard = LostVersions(lambda: LIMIT, remembered)
        held, placed = set[int](), set[int]()

        def judge(name: int, former: Marks) -> None:
            version = self._version(name, *found[name])
            verdict, _ = guard.judge(name, version, former, lambda: words.of_site("h"))
            if verdict is not Verdict.WAIT:
                (held if verdict is Verdict.HOLD else placed).add(name)

        # What has a document without words joins the others.
        for name in sorted(found, key=lambda name: before.get(name) == WITHOUT_WORDS):
            if found[name] != self.index.get(name):
                judge(name, read_sketch(before.get(name, b"")))
        for name in list(placed - self.index.keys() if guard.holding else ()):
            sketch = read_sketch(self._version(name, *found[name]).sketch)
            if guard.may_be_held(sketch, lambda: words.of_site("h")):
                placed.discard(name)
                judge(name, Marks())
        guard.end_run()
        for name, label in guard.ready():
            (placed if label is None else held).add(name)
        self.index = {name: page for name, page in self.index.items() if name in found}
        self.index |= {name: found[name] for name in placed}
        self.stored = json.dumps([group.as_json() for group in guard.remembered(complete=True)])
        return held

    @staticmethod
    def _version(name: int, title: str, text: str) -> Version:
        return Version(f"https://h/p{name}", title, text)


def follow(seed: int) -> None:
    """Follow a history of twelve runs with the guard and the model."""
    history, guarded, model = History(seed), Guarded(), Model()
    for number in range(12):
        found = history.run(number)
        held = guarded.crawl({name: page_of(name, kind) for name, kind in found.items()})
        assert held == model.crawl(found), (seed, number)
        assert guarded.index.keys() == model.index.keys()
        assert {name for name, kind in found.items() if kind[0] == "own"} & held <= model.index.keys()


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_random_histories_end_as_the_model_says(first: int) -> None:
    for seed in range(first, first + 50):
        follow(seed)


@pytest.mark.night
@pytest.mark.parametrize("first", range(100, 10_000, 990))
def test_ten_thousand_random_histories_end_as_the_model_says(first: int) -> None:
    for seed in range(first, first + 990):
        follow(seed)


# ---- what the model leaves out


def wall_look(text: str = "please log in", title: str = "") -> Look:
    return Look(title or text, marks_of(title), marks_of(text))


def guard(*remembered: Group, limit: int = LIMIT) -> LostVersions:
    return LostVersions(lambda: limit, remembered)


def next_run(before: LostVersions, *, complete: bool = True, limit: int = LIMIT) -> LostVersions:
    stored = json.dumps([group.as_json() for group in before.remembered(complete=complete)])
    return LostVersions(lambda: limit, map(Group.of_json, json.loads(stored)))


def poem(number: int) -> Look:
    words = random.Random(number)
    return wall_look(" ".join(f"verse{spelled(words.randrange(10**8))}" for _ in range(60)), "Down for now")


def test_lost_versions_wait_until_the_run_ends_or_they_are_too_many() -> None:
    watched = guard()
    assert {watched.add_lost(key, poem(key)) for key in range(LIMIT)} == {Verdict.WAIT}
    assert not list(watched.ready())
    assert watched.add_lost(LIMIT, poem(LIMIT)) is Verdict.HOLD
    assert dict(watched.ready()) == dict.fromkeys(range(LIMIT), "Down for now")
    assert watched.add_lost(7, wall_look()) is Verdict.HOLD


def test_a_later_visit_takes_back_what_waits() -> None:
    watched = guard()
    for key in range(LIMIT):
        watched.add_lost(key, wall_look())
    watched.forget(0)
    assert watched.add_lost(LIMIT, wall_look()) is Verdict.WAIT
    assert watched.add_lost(LIMIT, wall_look()) is Verdict.WAIT, "again the same document"
    watched.end_run()
    assert dict(watched.ready()) == dict.fromkeys(range(1, LIMIT + 1))


def test_an_equal_title_joins_texts_that_differ_over_runs() -> None:
    watched = guard()
    for key in range(3):
        watched.add_lost(key, poem(key))
    watched.end_run()
    watched = next_run(watched)
    assert [watched.add_lost(key, poem(key)) for key in range(3, 6)] == [Verdict.WAIT] * 2 + [Verdict.HOLD]


def test_the_titles_of_documents_under_a_wall_are_not_that_of_the_wall() -> None:
    watched = guard()
    for key in range(LIMIT + 1):
        watched.add_lost(key, wall_look(title=f"story{spelled(key)}"))
    watched = next_run(watched)
    assert watched.add_lost(0, wall_look("a heron stood", f"story{spelled(0)}")) is Verdict.WAIT, "it is back"
    assert watched.add_lost(1, wall_look(title="another")) is Verdict.HOLD


def test_a_document_that_comes_again_and_again_counts_once() -> None:
    watched = guard()
    for _ in range(10):
        assert watched.add_lost(1, wall_look()) is Verdict.WAIT
        watched.end_run()
        watched = next_run(watched)


def test_what_was_held_is_held_however_few_come_later() -> None:
    watched = guard()
    for key in range(LIMIT + 1):
        watched.add_lost(key, wall_look())
    watched = next_run(watched)
    assert watched.add_lost(1, wall_look()) is Verdict.HOLD
    assert watched.add_lost(2, poem(2)) is Verdict.WAIT


def test_a_new_document_goes_with_the_lost_versions_that_it_is_like() -> None:
    watched = guard()
    assert watched.add_new(10, wall_look()) is Verdict.PLACE
    watched.add_lost(1, wall_look())
    assert watched.add_new(10, wall_look()) is Verdict.WAIT
    assert watched.add_new(11, poem(1)) is Verdict.PLACE
    for key in range(2, LIMIT + 2):
        watched.add_lost(key, wall_look())
    assert dict(watched.ready())[10] is not None
    assert watched.add_new(12, wall_look()) is Verdict.HOLD


def test_no_more_new_documents_wait_than_the_limit() -> None:
    watched = guard()
    for key in range(3):
        watched.add_lost(key, poem(key))
    new = range(100, 100 + 3 * LIMIT)
    assert [watched.add_new(key, poem(key)) for key in new].count(Verdict.WAIT) == LIMIT
    watched.end_run()
    assert watched.add_new(99, poem(99)) is Verdict.PLACE, "the limit is that of a run"
    for key in range(3, LIMIT + 1):
        watched.add_lost(key, poem(key))
    assert watched.add_new(98, poem(98)) is Verdict.HOLD


def test_what_a_person_let_in_is_no_wall_any_more() -> None:
    watched = guard()
    for key in range(LIMIT + 1):
        watched.add_lost(key, wall_look())
    (group,) = watched.remembered(complete=True)
    assert group.is_held
    group.approve()
    watched = guard(Group.of_json(json.loads(json.dumps(group.as_json()))))
    assert watched.add_lost(1, wall_look()) is Verdict.WAIT
    version = Version("https://h/p1", "Heron", "a heron stood")
    assert watched.judge(1, version, marks_of("please log in"), SiteWords)[0] is Verdict.PLACE, "it is back"


def test_a_group_is_forgotten_after_many_runs_without_it() -> None:
    watched = guard()
    watched.add_lost(1, wall_look())
    watched.end_run()
    for _ in range(REMEMBERED_RUNS + 1):
        watched = next_run(watched, complete=False)
    for _ in range(REMEMBERED_RUNS):
        assert watched.remembered(complete=True), "incomplete runs do not count"
        watched = next_run(watched)
    assert not watched.remembered(complete=True)


def test_a_group_that_only_new_documents_belong_to_is_remembered() -> None:
    watched = guard()
    for key in range(LIMIT + 1):
        watched.add_lost(key, wall_look())
    for _ in range(2 * REMEMBERED_RUNS):
        watched = next_run(watched)
        assert watched.add_new(100, wall_look()) is Verdict.HOLD


def test_memory_and_notes_are_bounded() -> None:
    watched = guard(limit=10 * MAX_GROUPS)
    for key in range(2 * MAX_GROUPS):
        assert watched.add_lost(key, wall_look(f"text{spelled(key)}")) is Verdict.WAIT
    watched.end_run()
    assert len(list(watched.ready())) == 2 * MAX_GROUPS
    assert len(watched.remembered(complete=True)) == MAX_REMEMBERED


def test_a_resumed_run_counts_what_its_first_part_held() -> None:
    watched = guard()
    for key in range(LIMIT):
        watched.recount(key, poem(key), is_lost=True)
    watched.recount(100, poem(100), is_lost=False)
    assert not watched.is_over
    assert watched.add_lost(LIMIT, wall_look()) is Verdict.HOLD
    assert watched.add_new(101, poem(101)) is Verdict.HOLD, "its group is known again"
    (group,) = (group for group in watched.remembered(complete=True) if group.is_held)
    assert group.held == LIMIT


def test_a_group_that_a_first_part_held_is_held_when_the_run_is_resumed() -> None:
    first = guard()
    for key in range(3):
        first.add_lost(key, wall_look())
    first.end_run()
    resumed = next_run(first)
    for key in range(10, 13):
        resumed.recount(key, wall_look(), is_lost=True)
    assert not resumed.is_over
    assert resumed.add_lost(20, wall_look()) is Verdict.HOLD


@pytest.mark.parametrize("placed", range(LIMIT + 1))
def test_what_a_killed_run_was_about_to_let_in_counts_once(placed: int) -> None:
    first = guard(limit=20)
    for key in range(20):
        first.add_lost(key, wall_look())
    first.end_run()
    assert first.let_in == 20
    stored = json.dumps([group.as_json() for group in first.remembered(complete=False)])
    resumed = LostVersions(lambda: 20, map(Group.of_json, json.loads(stored)), let_in=20)
    for key in range(placed, 20):
        assert resumed.resume(key, wall_look(), is_lost=True) is Verdict.WAIT
    resumed.end_run()
    assert dict(resumed.ready()) == dict.fromkeys(range(placed, 20))
    (group,) = resumed.remembered(complete=True)
    assert (group.earlier, resumed.let_in) == (20, 20)
    resumed = LostVersions(lambda: 20, map(Group.of_json, json.loads(stored)), let_in=20)
    for key in range(placed, 20):
        resumed.resume(key, wall_look(), is_lost=True)
    assert resumed.add_lost(50, poem(50)) is Verdict.HOLD, "the limit is that of the whole run"


def test_documents_that_were_let_in_before_their_group_was_held_are_found() -> None:
    watched = guard()
    sketches = {
        name: Version(f"https://h/p{name}", title, text).sketch
        for name, title, text in (
            ("wall", "", f"{FRAME} please log in"),
            ("title", "Down for now", page_text(7, (0,) * 40)),
            ("other", "A heron", page_text(8, (0,) * 40)),
            ("blank", "", ""),
        )
    }

    def found() -> set[str]:
        common = marks_of(FRAME)
        read = {name: read_sketch(sketch) for name, sketch in sketches.items()}
        return {
            name
            for name, sketch in read.items()
            if watched.may_be_held(sketch, lambda: SiteWords(common, common))
        }

    for key in range(3):
        watched.add_lost(key, poem(key))
    watched.add_lost(4, wall_look())
    watched.add_lost(5, wall_look(""))
    assert (watched.holding, found()) == (0, set())
    watched.add_lost(6, poem(6))
    assert (watched.holding, found()) == (3, {"wall", "title", "blank"})


@pytest.mark.parametrize("shared", [FRAME, f"{FRAME} please log in"], ids=["few", "most"])
def test_a_page_that_is_back_from_a_wall_in_the_frame_of_the_site_is_no_loss(shared: str) -> None:
    watched = guard()
    common = marks_of(shared)
    for key in range(3):
        watched.add_lost(key, wall_look())
    watched.end_run()
    watched = next_run(watched)
    version = Version("https://h/p1", "Heron", f"{FRAME} a heron stood")
    before = read_sketch(Version("https://h/p1", "", f"{FRAME} please log in").sketch)
    assert watched.judge(1, version, before, lambda: SiteWords(common, common))[0] is Verdict.PLACE


def test_common_words_are_those_of_most_documents() -> None:
    words, frame = CommonWords(), marks_of(FRAME)
    for name in range(40):
        version = Version(f"https://h/{name}", "", page_text(name, (0,) * 20))
        words.add("h", name, read_sketch(version.sketch))
    common = words.of_site("h").common
    assert common
    assert common <= frame
    assert words.of_site("other") == SiteWords()


@pytest.mark.parametrize("share", [2, 3, 6])
def test_a_wall_in_the_frame_of_a_site_loses_its_short_pages_too(share: int) -> None:
    """The sketches of long pages tell nothing about most words of the frame; those of short ones do."""
    frame = " ".join(f"frame{spelled(number)}" for number in range(40))
    pages, words = dict[str, str](), CommonWords()
    for name in range(60):
        length = 60 if name % share == 0 else 900
        own = " ".join(f"own{spelled(name, number)}" for number in range(length))
        pages[f"https://h/p{name}"] = f"{frame} {own}"
    sketches = {url: read_sketch(Version(url, "", text).sketch) for url, text in pages.items()}
    for key, sketch in enumerate(sketches.values()):
        words.add("h", key, sketch)
    common, wall = words.of_site("h").frame, f"{frame} please log in with your password"
    kept = [url for url, before in sketches.items() if not Version(url, "", wall).is_lost(before, common)]
    assert len(kept) < MIN_DOCUMENTS, "so many of the shortest documents are too few to tell"
    assert not any(Version(url, "", text).is_lost(sketches[url], common) for url, text in pages.items())
