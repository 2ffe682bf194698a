"""What is noted of mails between listings: kept over the end of a process, and lost without harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.agents.mail.known_mails import KnownMail, KnownMails, Progress

DONE = Progress("a", 3, 10, 20)


def known(uid: int, name: str = "", *, belongs: bool = True) -> KnownMail:
    return KnownMail(3, uid, 100, belongs, False, name or f"name{uid}", f"id{uid}@x" if uid % 2 else "")


def filled(file: Path | None) -> KnownMails:
    mails = KnownMails(file)
    mails.begin(Progress("a", 3))
    mails.add([known(1), known(2)])
    mails.add([known(4)])
    return mails


def test_what_was_added_is_known_to_the_next_process_even_without_an_end(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "x"
    filled(file)
    again = KnownMails(file)
    assert list(again) == [known(1), known(2), known(4)]
    assert again.progress == Progress("a", 3)
    again.finish(DONE)
    assert KnownMails(file).progress == DONE


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_that_a_kill_cut_is_written_anew(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "x"
    filled(file)
    file.write_bytes(file.read_bytes()[:-cut])
    again = KnownMails(file)
    assert [mail.uid for mail in again] in ([1, 2], [1])
    again.begin(Progress("a", 3))
    again.add([known(7)])
    assert [mail.uid for mail in KnownMails(file)] == [mail.uid for mail in again]


@pytest.mark.parametrize(
    "text", ["", "rubbish", '{"format": 99}\n', "[]\n", '{"format": 1, "other": 2}\n', "\x00\xff"]
)
def test_a_file_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x"
    file.write_text(text, "latin-1")
    mails = KnownMails(file)
    assert (list(mails), mails.progress) == ([], Progress())
    mails.begin(DONE)
    mails.add([known(1)])
    assert list(KnownMails(file)) == [known(1)]


def test_mails_that_are_gone_are_forgotten_or_kept(tmp_path: Path) -> None:
    for keep, left in ((False, []), (True, ["name1"])):
        mails = filled(tmp_path / str(keep))
        mails.add([known(6, belongs=False)])
        mails.drop([1, 6], keep=keep)
        mails.finish(DONE)
        again = KnownMails(tmp_path / str(keep))
        assert sorted(again.mails) == [2, 4]
        assert sorted(again.expunged) == left
        assert (again.find("name1") is not None) == keep
        assert again.find("name2") == known(2)


def test_equal_names_get_marks_and_numbers_of_their_own() -> None:
    mails = filled(None)
    assert mails.free_name("name1", "a", {"name1-2"}) == "name1-a"
    assert mails.free_name("name1", "a", {"name1-a"}) == "name1-a-2"
    assert mails.free_name("name1", "a", {"name1-a", "name1-a-2"}) == "name1-a-3"
    assert mails.free_name("new", "a", set()) == "new"
    mails.forget_numbers(keep=False)
    assert mails.free_name("name1", "a", set()) == "name1"
    assert list(mails) == []
