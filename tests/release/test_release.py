"""A release is what its tag, its changelog and its owner say, or there is none."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from release import pages_of, section_of, version_of, with_absolute_links, with_settled_times

from .checkout import CHANGES, HOST, Checkout

FEW = (
    "ultracrawl/__init__.py",
    "CHANGELOG.md",
    "pyproject.toml",
    "README.md",
    "tools/release.py",
    ".gitignore",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "clone", *FEW)
    made.prepare("1.2.3")
    made.commit()
    return made


def dirty(checkout: Checkout) -> None:
    checkout.git("tag", "v1.2.3")
    checkout.edit("README.md", "ultracrawl", "other")


def two_tags(checkout: Checkout) -> None:
    checkout.git("tag", "v1.2.3")
    checkout.git("tag", "v1.2.4")


def no_changes(checkout: Checkout) -> None:
    checkout.edit("CHANGELOG.md", r"^## \[1\.2\.3\]", "## [1.2.30]")
    checkout.commit("v1.2.3")


def no_address(checkout: Checkout) -> None:
    checkout.edit("pyproject.toml", r"^\[project\.urls\](\n\w.*)*", "")
    checkout.commit("v1.2.3")


def test_the_version_is_that_of_the_tag(checkout: Checkout) -> None:
    checkout.git("tag", "other")
    checkout.git("tag", "v1.2.3")
    assert version_of(checkout.folder) == "1.2.3"
    assert pages_of(checkout.folder, "1.2.3") == f"{HOST}/ultracrawl/blob/v1.2.3/"


@pytest.mark.parametrize(
    "spoil", [dirty, two_tags, no_changes, no_address, lambda one: None, lambda one: one.git("tag", "v1.2.4")]
)
def test_what_is_no_release_is_refused_and_changes_nothing(
    checkout: Checkout, spoil: Callable[[Checkout], None]
) -> None:
    spoil(checkout)
    (checkout.folder / "dist").mkdir()
    (checkout.folder / "dist" / "kept").touch()
    ended = checkout.release()
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert [path.name for path in (checkout.folder / "dist").iterdir()] == ["kept"]


def test_this_checkout_names_no_address_that_nobody_has_set(tmp_path: Path) -> None:
    plain = Checkout(tmp_path, *FEW)
    assert pages_of(plain.folder, "1.2.3") == ""


def test_a_folder_without_git_is_refused(checkout: Checkout) -> None:
    (checkout.folder / ".git").rename(checkout.folder.parent / "git")
    assert checkout.release("notes").code == 2


def test_a_step_that_is_none_is_refused(checkout: Checkout) -> None:
    assert checkout.release("notse").code == 2
    assert not (checkout.folder / "dist").exists()


def test_a_step_that_fails_ends_with_one(checkout: Checkout) -> None:
    checkout.git("tag", "v1.2.3")
    ended = checkout.release("images")  # there are no files for containers in this small copy
    assert ended.code == 1
    assert "Traceback" not in ended.err


def test_notes_are_the_section_of_the_version_with_links_that_lead_somewhere(checkout: Checkout) -> None:
    checkout.git("tag", "v1.2.3")
    dist = checkout.folder / "dist"
    for _ in range(2):
        assert checkout.release("notes").code == 0
        notes = (dist / "NOTES.md").read_bytes()
        assert notes.decode() == CHANGES.replace("(docs/", f"({HOST}/ultracrawl/blob/v1.2.3/docs/")
        assert (dist / "SHA256SUMS").read_text() == f"{hashlib.sha256(notes).hexdigest()}  NOTES.md\n"


@pytest.mark.parametrize(
    ("version", "section"),
    [("1.0.0", "New."), ("1.0", ""), ("0.9.0", "Old.\n\n### Fixed\n- A"), ("0.8.0", ""), ("1x0.0", "")],
)
def test_the_section_of_a_version_ends_at_the_next(version: str, section: str) -> None:
    newer = "# C\n\n## [Unreleased]\nSoon.\n## [1.0.0] - 2026-01-02\n\nNew.\n\n"
    text = f"{newer}## [0.9.0]\nOld.\n\n### Fixed\n- A\n## [0.8.0]\n"
    assert section_of(text, version) == section


@pytest.mark.parametrize(
    ("written", "absolute"),
    [
        ("[a](docs/a.md#b)", "[a](https://h/o/blob/v1/docs/a.md#b)"),
        ("![a](docs/a.png)", "![a](https://h/o/raw/v1/docs/a.png)"),
        ("[a](https://b/)", "[a](https://b/)"),
        ("[a](#b)", "[a](#b)"),
        ("[a](mailto:a@b)", "[a](mailto:a@b)"),
        ("a[0](b)", "a[0](https://h/o/blob/v1/b)"),
    ],
)
def test_links_are_absolute_outside_the_repository(written: str, absolute: str) -> None:
    assert with_absolute_links(written, "https://h/o/blob/v1/") == absolute


def test_an_archive_is_the_same_whenever_and_by_whomever_it_was_made(tmp_path: Path) -> None:
    made = []
    for uid, time in ((0, 1.5), (1000, 2e9)):
        file = tmp_path / f"{uid}.tar.gz"
        with tarfile.open(file, "w:gz") as archive:
            for name in ("b", "a") if uid else ("a", "b"):
                member = tarfile.TarInfo(name)
                member.uid, member.uname, member.mtime, member.mode = uid, f"user{uid}", time, 0o600 + uid % 8
                archive.addfile(member)
        made.append(with_settled_times(file.read_bytes(), 1_700_000_000))
    assert made[0] == made[1]
