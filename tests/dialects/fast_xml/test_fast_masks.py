"""Passwords of an export are hidden, and put back when it is loaded again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import attrib, fast_options, fast_xml
from support.sentences import sentence

from ultracrawl.dialects.fast_xml.collection import Scope, merge_layers
from ultracrawl.dialects.fast_xml.forms.masks import MASK, masked, unmasked
from ultracrawl.dialects.fast_xml.notices import Notices
from ultracrawl.dialects.fast_xml.reader import read_scopes
from ultracrawl.dialects.fast_xml.writing import collections_xml
from ultracrawl.sources.dialects import read_definitions

URL = "http://a.example/x"


def login(value: str) -> str:
    fields = f'<section name="parameters">{attrib("pw", "Login/parameters/pw", value)}</section>'
    return f'<Login name="A">{attrib("site", "Login/site", "l.example")}{fields}</Login>'


def read(folder: Path, options: dict[str, Any], inside: str = "") -> Scope:
    (folder / "a.xml").write_text(fast_xml(options, inside=inside))
    (found,) = read_scopes(folder / "a.xml", Notices("a"))
    return found


OPTIONS = {
    "fast_177-user and password": (f"passwd/{URL}", "robot:s3:cret", "robot:****"),
    "fast_177-realm and scheme": (f"passwd/{URL}", "robot:s3:cret:area:digest", "robot:****:area:digest"),
    "fast_177-no realm": (f"passwd/{URL}", "robot:s3::NTLMv2", "robot:****::NTLMv2"),
    "fast_178": ("ftp_acct/ftp.example", "mirror:s3:cret", "mirror:****"),
    "fast_25": (
        "proxy",
        ("http://u:p@ss@p.example:1", "q.example"),
        ("http://u:****@p.example:1", "q.example"),
    ),
    "no password": ("info", "a:b", "a:b"),
    "stars that are no mask": ("info", "a:****", "a:****"),
}


@pytest.mark.parametrize(("path", "value", "shown"), OPTIONS.values(), ids=OPTIONS)
def test_what_is_hidden_comes_back(tmp_path: Path, path: str, value: Any, shown: Any) -> None:
    old = read(tmp_path, {path: value})
    (setting,) = old.settings.values()
    assert masked(setting) == shown
    (again,) = unmasked(read(tmp_path, {path: shown}), old).settings.values()
    assert again.value == value


def test_fast_224_the_fields_of_a_login(tmp_path: Path) -> None:
    old = read(tmp_path, {}, login("s3cret"))
    assert "s3cret" not in collections_xml([old], masked=True)
    new = unmasked(read(tmp_path, {}, login(MASK)), old)
    assert new.logins["A"].settings["Login/parameters", "pw"].value == "s3cret"
    assert (
        unmasked(read(tmp_path, {}, login("other")), old).logins["A"].settings["Login/parameters", "pw"].value
        == "other"
    )


def test_another_realm_or_scheme_keeps_the_password(tmp_path: Path) -> None:
    old = read(tmp_path, {f"passwd/{URL}": "robot:s3:cret:area:digest"})
    (setting,) = unmasked(read(tmp_path, {f"passwd/{URL}": "robot:****::auto"}), old).settings.values()
    assert setting.value == "robot:s3:cret::auto"
    (setting,) = unmasked(read(tmp_path, {f"passwd/{URL}": "other:****"}), old).settings.values()
    assert setting.value == "other:****", "nobody said that it is the password of the other one, too"


def test_a_proxy_gets_the_password_of_its_own_address_only(tmp_path: Path) -> None:
    old = read(tmp_path, {"proxy": ("u:one@p.example", "u:two@q.example")})
    (setting,) = unmasked(
        read(tmp_path, {"proxy": ("u:****@q.example", "u:****@r.example")}), old
    ).settings.values()
    assert setting.value == ("u:two@q.example", "u:****@r.example")


TOLD = {
    "fast_177": ({f"passwd/{URL}": "robot:****:area:digest"}, ""),
    "fast_178": ({"ftp_acct/ftp.example": "mirror:****"}, ""),
    "fast_25": ({"proxy": ("u:****@p.example",)}, ""),
    "fast_224": ({}, login(MASK).replace("</Login>", attrib("form", "Login/form", "/in") + "</Login>")),
}


@pytest.mark.parametrize(("options", "inside"), TOLD.values(), ids=TOLD)
def test_no_server_is_asked_with_a_mask(tmp_path: Path, options: dict[str, Any], inside: str) -> None:
    (tmp_path / "a.xml").write_text(fast_xml({"start_uris": (URL,), **options}, inside=inside))
    loaded = read_definitions(tmp_path / "a.xml")
    assert loaded.project is None
    (finding,) = loaded.fatal
    assert finding.line > 4
    assert sentence("fast.masked_password") in finding.problem


def test_fast_2_8_all_logins_stay_all_of_them_when_a_file_is_written(tmp_path: Path) -> None:
    """A section `logins` keeps those of the defaults file out, and goes on to do so."""
    one = login("x").replace("Login name", "section name").replace("/Login>", "/section>")
    found = read(tmp_path, {}, f'<section name="logins">{one}</section>')
    (tmp_path / "b.xml").write_text(collections_xml([found]))
    (again,) = read_scopes(tmp_path / "b.xml", Notices("b"))
    assert again.all_logins
    defaults = read(tmp_path, {}, login("y").replace('"A"', '"B"'))
    assert list(merge_layers([defaults, again]).logins) == ["A"]
    assert "<Login" in collections_xml([found], masked=True), "an export deletes nothing"


def test_fast_5_33_an_update_keeps_what_it_does_not_name_of_a_node(tmp_path: Path) -> None:
    both, one = ({"max_sites": 8, "delay": 2.0}, {"delay": 3.0})
    old, new = (read(tmp_path, {}, f'<Node name="n">{fast_options(given)}</Node>') for given in (both, one))
    node = merge_layers([old, new]).nodes["n"]
    assert {key[1]: setting.value for key, setting in node.settings.items()} == {"max_sites": 8, "delay": 3.0}
