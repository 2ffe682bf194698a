"""Access URLs of mails: made of a folder and a name, and read again."""

from __future__ import annotations

import pytest

from ultracrawl.agents.mail.known_mails import KnownMails
from ultracrawl.agents.mail.mail_urls import mail_url, place_of


@pytest.mark.parametrize("folder", ["INBOX", "Lists/dev & ü"])
def test_a_mail_is_found_by_its_url_also_beside_one_of_the_same_name(folder: str) -> None:
    names = ["0a1b2c", KnownMails(None).free_name("0a1b2c", "3d", {"0a1b2c"})]
    assert len(set(names)) == 2
    for name in names:
        assert place_of(mail_url("dev list", folder, name)) == (folder, name)


@pytest.mark.parametrize("url", ["mail://list/INBOX", "mail://list/INBOX/0a/1b", "mail://list"])
def test_other_urls_are_no_mails(url: str) -> None:
    assert place_of(url) is None
