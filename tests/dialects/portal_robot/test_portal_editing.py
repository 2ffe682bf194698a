"""Changes in a `filterrules.conf` touch nothing but what they are about (portal robot checklist 113)."""

from __future__ import annotations

import pytest

from ultracrawl.dialects.portal_robot.editing import RulesEditor
from ultracrawl.errors import UserError
from ultracrawl.sources.filter_files.rules_file import read_rules

FOUND = """# sites
\x0c
<FilterRule name=zip title="on </x>, enable=on # no" \\
            enable=off>
   Match source=path
         by=ends-with
# between the lines
         string=".zip"
   # Match string=".old"
   Match source=path by=contains string="</FilterRule>"
</FilterRule>
<Site name=one></Site>
<Site title="none" name=two
>
   Use \\
         rule="zip"
   Start url=http://two/ \\
         depth=1
</Site>
# the end
"""


def edited(change: str, *words: str, text: str = FOUND, **values: str) -> str:
    editor = RulesEditor(text)
    getattr(editor, change)(*words, **values)
    return editor.text


CHANGES = {
    "a switch that is there": (
        ("write", "filterrule", "zip", "enable", "on"),
        ("            enable=off>", "            enable=on>"),
    ),
    "a switch that is not": (
        ("write", "site", "two", "enable", "off"),
        ("name=two\n>", "name=two enable=off\n>"),
    ),
    "one beside a backslash": (
        ("write", "filterrule", "zip", "default", "off"),
        ("<FilterRule name=zip title", "<FilterRule name=zip default=off title"),
    ),
    "a title that says something like it": (
        ("write", "filterrule", "zip", "title", '"T"'),
        ('title="on </x>, enable=on # no"', 'title="T"'),
    ),
    "a line behind those of its word": (
        ("add_line", "filterrule", "zip", "Match string=x"),
        ('string="</FilterRule>"\n', 'string="</FilterRule>"\n   Match string=x\n'),
    ),
    "a line behind one that goes on": (
        ("add_line", "site", "two", "Start url=http://two/b"),
        ("         depth=1\n", "         depth=1\n   Start url=http://two/b\n"),
    ),
    "a line of a new word": (
        ("add_line", "site", "two", "Host name=two"),
        ("depth=1\n</Site>", "depth=1\n   Host name=two\n</Site>"),
    ),
    "a line in a block of one line": (
        ("add_line", "site", "one", "Use rule=zip"),
        ("<Site name=one></Site>", "<Site name=one>\n   Use rule=zip\n</Site>"),
    ),
}


def test_portal_robot_113_a_change_touches_nothing_else(subtests: pytest.Subtests) -> None:
    for name, (words, difference) in CHANGES.items():
        with subtests.test(name):
            assert edited(*words) == FOUND.replace(*difference)
            windows = FOUND.replace("\n", "\r\n")
            expected = FOUND.replace(*difference).replace("\n", "\r\n")
            assert edited(*words, text=windows) == expected, "line ends stay"


def test_directives_over_several_lines_are_one() -> None:
    text = edited("remove_lines", "filterrule", "zip", "Match", string=".zip")
    assert "ends-with" not in text
    assert "# Match" in text
    text = edited("write_line", "site", "two", "Start", "depth", "7", url="http://two/")
    assert text == FOUND.replace("depth=1", "depth=7")
    text = edited("write_line", "site", "two", "Start", "enable", "off", url="http://two/")
    assert text == FOUND.replace("url=http://two/", "url=http://two/ enable=off")
    text = edited("put_line", "site", "two", "Start url=http://two/ depth=3", url="http://two/")
    assert text == FOUND.replace(
        "   Start url=http://two/ \\\n         depth=1", "   Start url=http://two/ depth=3"
    )


def test_a_rule_goes_with_its_uses_whatever_they_look_like() -> None:
    text = edited("remove", "filterrule", "zip")
    assert "zip" not in text
    assert text.startswith("# sites\n\x0c\n<Site name=one>")
    assert text.endswith("</Site>\n# the end\n")
    assert [one.key for one in read_rules(text)[1].findings] == ["title"], "which a site does not take"


def test_a_site_goes_as_a_whole() -> None:
    assert edited("remove", "site", "one") == FOUND.replace("<Site name=one></Site>\n", "")
    kept = FOUND[: FOUND.index("<Site title")]
    assert edited("remove", "site", "two") == f"{kept}# the end\n"


def test_a_new_block_ends_its_lines_as_the_file_does() -> None:
    text = edited("add", "site", "three", "<Site name=three>\n</Site>\n", text="<Site name=one>\r\n</Site>")
    assert text == "<Site name=one>\r\n</Site>\r\n\r\n<Site name=three>\r\n</Site>\r\n"
    with pytest.raises(UserError, match="already"):
        edited("add", "site", "two", "<Site name=two>\n</Site>\n")
