"""What earlier crawls of a spider saw: durable in batches, items only with the end of a crawl, private, repaired."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import ROOT
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.run.standalone.state import CrawlerState
from ultracrawl.stores.sqlite.answers.spider_state import KEPT, KnownAnswer, SpiderState

KEY = b"k" * 20
KNOWN = KnownAnswer('"1"', "Mon, 01 Jan 2024 00:00:00 GMT", (("accept-language", "d"),), personal=True)
ANSWER = StoredAnswer("http://h.example/", 1.0, (("Content-Type", "text/html"),), b"<p>words</p>" * 50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spiders" / "s.sqlite"


def crawl(path: Path, *items: tuple[str, bytes]) -> None:
    state = SpiderState(path, "s")
    for url, checksum in items:
        state.note_item(url, checksum)
    state.close()


def known(path: Path, *items: tuple[str, bytes]) -> list[bool]:
    state = SpiderState(path, "s")
    found = [state.has_item(*item) for item in items]
    state.abandon()
    return found


def test_an_answer_is_there_in_the_next_crawl(path: Path) -> None:
    state = SpiderState(path, "s")
    state.keep_answer(KEY, KNOWN, ANSWER)
    assert state.known_answer(KEY) is not None
    state.close()
    state = SpiderState(path, "s")
    assert (state.known_answer(KEY), state.read_answer(KEY)) == (KNOWN, ANSWER)
    assert (state.known_answer(b"other"), state.read_answer(b"other")) == (None, None)
    state.forget_answer(KEY)
    assert state.known_answer(KEY) is None
    state.close()


def test_an_answer_of_a_crawl_that_did_not_end_says_so(path: Path) -> None:
    state = SpiderState(path, "s")
    state.keep_answer(KEY, KNOWN, ANSWER)
    state.flush()
    state.abandon()
    state = SpiderState(path, "s")
    answer = state.known_answer(KEY)
    state.abandon()
    assert answer is not None
    assert not answer.finished


def test_what_a_killed_crawl_saw_is_no_more_certain_when_a_later_one_ends(path: Path) -> None:
    killed = SpiderState(path, "s")
    killed.keep_answer(KEY, KNOWN, ANSWER)
    killed.note_item("u", b"1")
    killed.flush()
    killed.abandon()
    crawl(path)
    state = SpiderState(path, "s")
    answer = state.known_answer(KEY)
    assert answer is not None
    assert not answer.finished
    assert not state.has_item("u", b"1")
    state.abandon()


def test_an_answer_that_nobody_asks_for_is_forgotten(path: Path) -> None:
    now = 1e9
    for moment, asked in (
        (now, True),
        (now + KEPT / 2, True),
        (now + KEPT * 1.4, False),
        (now + KEPT * 2, False),
    ):
        state = SpiderState(path, "s", lambda moment=moment: moment)
        if moment == now:
            state.keep_answer(KEY, KNOWN, ANSWER)
        if asked:
            assert state.known_answer(KEY) is not None
        state.close()
    state = SpiderState(path, "s")
    assert state.known_answer(KEY) is None
    state.close()


def test_an_item_counts_for_the_next_crawl_and_not_for_its_own(path: Path) -> None:
    state = SpiderState(path, "s")
    state.note_item("u", b"1")
    assert not state.has_item("u", b"1")
    state.close()
    assert known(path, ("u", b"1"), ("u", b"2"), ("v", b"1")) == [True, False, False]


def test_an_item_that_comes_twice_is_known_both_times(path: Path) -> None:
    crawl(path, ("u", b"1"))
    state = SpiderState(path, "s")
    for _ in range(2):
        assert state.has_item("u", b"1")
        state.note_item("u", b"1")
    state.close()


def test_what_a_killed_crawl_had_in_place_of_an_item_takes_its_place(path: Path) -> None:
    crawl(path, ("u", b"1"), ("v", b"1"))
    killed = SpiderState(path, "s")
    killed.note_item("u", b"2")
    killed.note_item("v", b"1")
    killed.flush()
    killed.abandon()
    both = [("u", b"1"), ("u", b"2"), ("v", b"1")]
    state = SpiderState(path, "s")
    assert [state.has_item(*one) for one in both] == [False, False, True]
    state.note_item("u", b"1")
    state.close()
    assert known(path, *both) == [True, False, True]


def test_all_items_of_a_url_count_and_those_of_the_latest_crawl_alone(path: Path) -> None:
    crawl(path, ("u", b"1"), ("u", b"2"), ("v", b"1"))
    crawl(path, ("u", b"2"), ("u", b"3"))
    assert known(path, ("u", b"1"), ("u", b"2"), ("u", b"3"), ("v", b"1")) == [False, True, True, True]


KILLED = """
import os, sys
from pathlib import Path
from ultracrawl.stores.sqlite.answers import spider_state
from ultracrawl.stores.sqlite.answers.spider_state import BATCH, SpiderState, KnownAnswer
from ultracrawl.model.answer import StoredAnswer
spider_state._LONGEST_WAIT = 3600.0
state = SpiderState(Path(sys.argv[1]), "s")
for number in range(BATCH + 5):
    state.keep_answer(b"%d" % number, KnownAnswer("e"), StoredAnswer("u", 1.0, (), b"body"))
state.note_item("u", b"1")
os.kill(os.getpid(), 9)
"""


def test_a_killed_crawl_leaves_whole_batches_and_no_items(path: Path) -> None:
    crawl(path, ("old", b"1"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=environment, check=False)
    assert ended.returncode == -9
    assert known(path, ("u", b"1"), ("old", b"1")) == [False, True]
    state = SpiderState(path, "s")
    assert state.known_answer(b"0") is not None
    assert state.known_answer(b"204") is None
    state.close()


def test_one_crawl_of_a_spider_at_a_time(path: Path) -> None:
    state = SpiderState(path, "s")
    with pytest.raises(UserError, match=sentence("stores.s_being_crawled_another_process")):
        SpiderState(path, "s")
    state.close()


def test_a_damaged_file_is_set_aside(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database" * 1000)
    state = SpiderState(path, "s")
    assert "set aside as s.sqlite.damaged-" in state.renewed
    state.note_item("u", b"1")
    state.close()
    assert known(path, ("u", b"1")) == [True]


def test_one_that_turns_out_to_be_damaged_is_set_aside_for_the_next_crawl(path: Path) -> None:
    crawler_state = CrawlerState(path, "s")
    crawler_state.open()
    for number in range(2000):
        crawler_state.keep_answer(b"%d" % number, KNOWN, ANSWER)
    crawler_state.close()
    pages = path.read_bytes()
    path.write_bytes(pages[:8192] + b"damage" * ((len(pages) - 8192) // 6))
    crawler_state.open()
    for number in range(2000):
        crawler_state.known_answer(b"%d" % number)
    crawler_state.close()
    assert list(path.parent.glob("s.sqlite.damaged-*"))
    crawler_state.open()
    crawler_state.note_item("u", b"1")
    crawler_state.close()
    assert known(path, ("u", b"1")) == [True]


def test_others_may_not_read_it(path: Path) -> None:
    crawl(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
