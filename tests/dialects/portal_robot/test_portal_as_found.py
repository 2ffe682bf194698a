"""Files of a portal robot as they are found on old servers: other character sets and line ends, long headers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.sentences import sentence

from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.sources import DataSource, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.filter_files.file_text import read_file
from ultracrawl.sources.filter_files.filter_file import read_filters

FILES = {
    "robot.conf": """# Müller
<Process csid="x-catalog://h:80/jack" \\
   depth=3
   cmd-hook="/opt/müller/mail"
</Process>
""",
    "filter.conf": """# für alle
<Filter name="enumeration-default">
   Setup     fn=filterrules-setup config=./config/filterrules.conf
   MetaData  fn=filterrules-process
   Enumerate fn=enumerate-urls
</Filter>
<Filter name="generation-default">
   Setup     fn=filterrules-setup config=./config/filterrules.conf
   MetaData  fn=filterrules-process
   Generate  fn=extract-html-meta
</Filter>
""",
    "filterrules.conf": """<FilterRule name=paths title="Für später">
   Match source=path by=contains string="/tmp/"
</FilterRule>
<Site name=www.siroe.com>
   Use rule=paths
</Site>
""",
    "classification.conf": 'Classify source=path by=begins-with string="/b" category="Bücher"\n',
}


def written(folder: Path, encode: Callable[[str], bytes]) -> Path:
    config = folder / "config"
    config.mkdir()
    for name, text in FILES.items():
        (config / name).write_bytes(encode(text))
    return config


def source_at(location: Path) -> DataSource:
    (source,) = require(read_definitions(location)).sources.values()
    return source


FORMS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "ISO-8859-1": lambda text: text.encode("iso-8859-1"),
    "lines of Windows": lambda text: text.replace("\n", "\r\n").encode("cp1252"),
    "lines of old Macintoshes": lambda text: text.replace("\n", "\r").encode(),
    "long comments ahead": lambda text: (f"# {'-' * 70}\n" * 200 + text).encode(),
}


@pytest.mark.parametrize("encode", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", FILES)
def test_the_files_run_as_they_stand(tmp_path: Path, encode: Callable[[str], bytes], name: str) -> None:
    config = written(tmp_path, encode)
    source = source_at(config / name)
    assert (source.name, source.depth, source.completion.command) == ("jack", 3, ("/opt/müller/mail",))
    filtering = Filtering(source.filters, lambda: 0.0)
    assert str(filtering.judge("http://www.siroe.com/a", 3).cause) == ""
    assert str(filtering.judge("http://www.siroe.com/tmp/", 0).cause) == "filter rules: www.siroe.com: paths"


def test_a_guessed_character_set_is_reported(tmp_path: Path) -> None:
    config = written(tmp_path, FORMS["ISO-8859-1"])
    told = [one for one in read_definitions(config / "robot.conf").findings if one.key == "file"]
    assert [(Path(one.file).name, one.fatal) for one in told] == [
        ("robot.conf", False),
        ("filterrules.conf", False),
        ("classification.conf", False),
        ("filter.conf", False),
    ]
    assert {one.problem for one in told} == {sentence("robot.read_as_latin_1")}


EAST = {
    "Korean": ("euc-kr", "회사:인사", "# 로봇의 설정 파일입니다\n"),
    "Japanese": ("shift_jis", "会社:表示", "# ロボットの設定ファイルです\n"),
    "Japanese of Unix": ("euc-jp", "会社:人事", "# ロボットの設定ファイルです\n"),
}


@pytest.mark.parametrize("said", [False, True])
@pytest.mark.parametrize(("encoding", "category", "comment"), EAST.values(), ids=EAST)
def test_files_of_east_asia_are_read_by_what_they_say_or_by_their_bytes(
    tmp_path: Path, encoding: str, category: str, comment: str, said: bool
) -> None:
    config = written(tmp_path, str.encode)
    line = f'Classify source=path by=begins-with string="/b" category="{category}"\n'
    head = f"# -*- coding: {encoding} -*-\n" if said else comment
    (config / "classification.conf").write_bytes(f"{head}{line}".encode(encoding))
    source = source_at(config / "robot.conf")
    filtering = Filtering(source.filters, lambda: 0.0)
    views = filtering.judge("http://www.siroe.com/b", 0)
    result = filtering.use(views, {"content-type": "text/html"}, b"<title>B</title>")
    assert result.rd
    assert result.rd["classification"] == [category]
    told = [one for one in read_definitions(config / "robot.conf").findings if one.key == "file"]
    assert len(told) == (0 if said else 1)
    found = read_file(config / "classification.conf")
    found.replace(f"{found.text}# {category}\n")
    assert (config / "classification.conf").read_bytes() == f"{head}{line}# {category}\n".encode(encoding)


def test_an_encoding_that_the_bytes_are_not_in_is_not_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "robot.conf"
    file.write_bytes(b"# coding: euc-kr\n# M\xfcller \xff\n")
    assert read_file(file).text == "# coding: euc-kr\n# Müller ÿ\n"
    for name in (b"rot13", b"utf-16", b"utf-16-be"):
        file.write_bytes(b"# coding: %s\n# x\n#\n" % name)
        assert read_file(file).encoding == "utf-8"


@pytest.mark.parametrize("encode", FORMS.values(), ids=FORMS)
def test_a_file_that_is_written_again_keeps_its_form(tmp_path: Path, encode: Callable[[str], bytes]) -> None:
    file = tmp_path / "real.conf"
    before = encode("# ü\nb\n")
    file.write_bytes(before)
    file.chmod(0o640)
    link = tmp_path / "filterrules.conf"
    link.symlink_to(file)
    found = read_file(link)
    found.replace(f"{found.text}c")
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["filterrules.conf", "real.conf"]
    assert read_file(link) == replace(found, text=f"{found.text}c")
    if found.text in before.decode(found.encoding):
        assert file.read_bytes().startswith(before)


NOTHING_SAID = {
    "classification.conf": "# Classify source=host by=is string=x category=y\n",
    "filterrules.conf": "\n# no site yet\n",
}


@pytest.mark.parametrize(("name", "text"), NOTHING_SAID.items(), ids=NOTHING_SAID)
def test_a_file_of_comments_is_known_by_its_name(tmp_path: Path, name: str, text: str) -> None:
    config = written(tmp_path, str.encode)
    (config / name).write_text(text)
    problems = [one.problem for one in read_definitions(config / name).findings if one.fatal]
    assert problems == ([] if name == "classification.conf" else ["Starting Points: 0 defined"])


def test_a_robot_conf_without_its_block_is_reported(tmp_path: Path) -> None:
    config = written(tmp_path, str.encode)
    (config / "robot.conf").write_text("depth=3\n")
    problems = [one.problem for one in read_definitions(config / "robot.conf").findings]
    assert sentence("robot.no_process_block") in problems


def test_what_an_option_does_not_take_is_said_of_its_property(tmp_path: Path) -> None:
    config = written(tmp_path, str.encode)
    (config / "robot.conf").write_text("<Process csid=x\n   email=jörg@siroe.com\n</Process>\n")
    told = [(one.line, one.key) for one in read_definitions(config / "robot.conf").findings]
    assert told == [(0, "user-agent"), (2, "email")]


QUIET = {
    "a proxy that is not used": ("auto-proxy=http://p:3128/", [(2, "auto-proxy", False)]),
    "a proxy that is to be used": ("auto-proxy=http://p:3128/\nproxy-type=manual", []),
    "no proxy is wanted": ("auto-proxy=http://p:3128/\nproxy-type=direct", []),
}


@pytest.mark.parametrize(("text", "told"), QUIET.values(), ids=QUIET)
def test_a_proxy_without_a_type_is_not_passed_over_in_silence(
    tmp_path: Path, text: str, told: list[tuple[int, str, bool]]
) -> None:
    config = written(tmp_path, str.encode)
    (config / "robot.conf").write_text(f"<Process csid=x\n{text}\n</Process>\n")
    found = read_definitions(config / "robot.conf").findings
    assert [(one.line, one.key, one.fatal) for one in found] == told


def test_portal_robot_21_a_value_goes_on_behind_a_backslash() -> None:
    text = 'Generate fn=extract-source src="md5,depth,\\\n      rd-expires" \\\n   enable=on\n'
    block = read_filters(f"<Filter name=g>\n{text}</Filter>\n").filters["g"]
    (one,) = block.directives
    assert [(pair.name, pair.value) for pair in one.parameters] == [
        ("fn", "extract-source"),
        ("src", "md5,depth,rd-expires"),
        ("enable", "on"),
    ]
    assert (one.line, one.end, block.end) == (2, 4, 5)


def test_a_comment_behind_a_directive_is_reported_as_one() -> None:
    read = read_filters("<Filter name=g>\nData fn=generate-md5 # the sum\n</Filter>\n")
    (finding,) = read.text.findings
    assert (finding.line, finding.problem) == (2, sentence("robot.comment_behind_text"))
