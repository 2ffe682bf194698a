"""The lines of one source: found, shown without secrets, and replaced with every other byte as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.errors import UserError
from ultracrawl.sources.editing.draft import draft_of
from ultracrawl.sources.editing.excerpt import (
    HIDDEN,
    Excerpt,
    find_excerpt,
    find_schedules,
    new_source_lines,
    place_for_schedules,
    place_for_source,
)
from ultracrawl.sources.reading.locations import DefinitionText

FILE = """\
# the sources of the house
index: var/index   # one
sources:
  # people read this first
  handbook:   # 𝄞 𝄞
    start_urls: [https://handbook.example/]
    boundary:
      paths:
        handbook.example: {exclude: [/old/]}   # since 2019

    # of the staff
    authentication:
      staff: {url: 'https://handbook.example/s', user: crawler, password: s3cret}

  # the second one
  news: {start_urls: 'https://news.example/', depth: 3}
  last:
    start_urls: https://last.example/
    post_payload:
      https://last.example/q: |
        token=abc
        more=1
"""


def excerpt(text: str, source: str, stem: str = "ultracrawl") -> Excerpt:
    found = find_excerpt(DefinitionText("ultracrawl.yaml", stem, text), source)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("source", "first", "begin", "end"),
    [
        ("handbook", 5, "  handbook:   # 𝄞 𝄞\n", f"password: {HIDDEN}}}"),
        ("news", 16, "  news: {start_urls", "depth: 3}"),
        ("last", 17, "  last:\n", f"q: {HIDDEN}"),
    ],
)
def test_the_lines_of_a_source(source: str, first: int, begin: str, end: str) -> None:
    found = excerpt(FILE, source)
    assert found.first_line == first
    assert found.shown.startswith(begin)
    assert found.shown.endswith(end)
    assert "s3cret" not in found.shown
    assert "token=abc" not in found.shown


@pytest.mark.parametrize("source", ["handbook", "news", "last"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_not_changed_stays_byte_by_byte(source: str, line_end: str) -> None:
    text = FILE.replace("\n", line_end)
    found = excerpt(text, source)
    assert found.with_lines(found.shown).text == text
    assert found.with_lines(found.shown.replace("\n", "\r\n")).text == text, "as a browser sends it"
    changed = found.with_lines(found.shown.replace("example", "example.org", 1)).text
    assert changed == text.replace(
        found.shown.split("example")[0].replace("\n", line_end) + "example",
        found.shown.split("example")[0].replace("\n", line_end) + "example.org",
        1,
    )
    assert excerpt(changed, source).revision != found.revision


def test_a_comment_below_a_source_belongs_to_it_if_it_is_indented_as_its_options_are() -> None:
    text = "sources:\n  a:\n    depth: 1\n    # depth: 2\n\n    # or 3\n  # of b\n  b: {depth: 2}\n"
    assert excerpt(text, "a").shown == "  a:\n    depth: 1\n    # depth: 2\n\n    # or 3"
    assert excerpt(text, "b").shown == "  b: {depth: 2}"


def test_a_file_with_a_single_source_is_shown_whole() -> None:
    text = "# mine\nstart_urls: https://a.example/\npost_payload: {X-Key: abc}\n\n"
    found = excerpt(text, "handbook", "handbook")
    assert (found.first_line, found.path) == (1, ())
    assert found.shown == f"# mine\nstart_urls: https://a.example/\npost_payload: {{X-Key: {HIDDEN}}}"
    assert find_excerpt(found.definition, "other") is None
    assert found.with_lines("# yours\n" + found.shown + "\n").text == "# yours\n" + text


def test_other_files_have_no_such_source() -> None:
    for text in ("sources: {}\n", "sources:\n", "index: x\n", "sources: [a]\n"):
        assert find_excerpt(DefinitionText("a.yaml", "a", text), "handbook") is None


SECRETS = [
    ("authentication: {a: {user: u, password: '${PW}'}}", "'${PW}'"),
    ("authentication: {a: {user: u, password: 'file:pw.txt'}}", "'file:pw.txt'"),
    ("authentication: {a: {user: u, password: plain}}", HIDDEN),
    ("authentication: {a: {user: u, pasword: plain}}", HIDDEN),
    ("pasword: plain", HIDDEN),
    ("pasword: {deep: [plain]}", HIDDEN),
    ("settings: {API_KEY: plain}", HIDDEN),
    ("settings: plain", HIDDEN),
    ("start_urls: 'https://u:plain@a.example/'", HIDDEN),
    ("logins: {a: {fields: {x: plain}}}", HIDDEN),
    ("ftp: {accounts: {a: {host: h, user: u, password: &p plain}}}", f"&p {HIDDEN}"),
    ("sites: {overrides: {a: {authentication: {b: {password: plain}}}}}", HIDDEN),
    ("type: table\n    connection: 'postgresql://u:plain@h/d'", HIDDEN),
    ("type: mail\n    password: plain", HIDDEN),
    ("type: nonsense\n    password: plain", HIDDEN),
]


def test_values_that_may_be_secrets_are_hidden_and_restored(subtests: pytest.Subtests) -> None:
    for written, shown in SECRETS:
        with subtests.test(written):
            text = f"sources:\n  a:\n    depth: 1\n    {written}\n"
            found = excerpt(text, "a")
            assert shown in found.shown
            assert "plain" not in found.shown
            assert found.with_lines(found.shown.replace("depth: 1", "depth: 2")).text == text.replace(
                "depth: 1", "depth: 2"
            )


@pytest.mark.parametrize(
    "spoil", [lambda text: text.replace(HIDDEN, "x"), lambda text: text + f" # {HIDDEN}"]
)
def test_a_hidden_value_stays_where_it_is(spoil: object) -> None:
    found = excerpt(FILE, "handbook")
    assert callable(spoil)
    with pytest.raises(UserError):
        found.with_lines(spoil(found.shown))


NAMES = st.text("abcdefgh", min_size=1, max_size=4)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), st.lists(TEXTS, max_size=4), st.data())
def test_lines_of_any_source_can_be_replaced(
    names: list[str], comments: list[str], data: st.DataObject
) -> None:
    comment = "".join(f"    # {''.join(one.splitlines())}\n" for one in comments)
    text = "sources:\n" + "".join(f"  {name}:\n{comment}    depth: 1\n{comment}" for name in names)
    source = data.draw(st.sampled_from(names))
    found = excerpt(text, source)
    assert found.with_lines(found.shown).text == text
    changed = found.with_lines(found.shown.replace("depth: 1", "depth: 22")).text
    start, end = found.span
    assert changed == text[:start] + text[start:end].replace("depth: 1", "depth: 22") + text[end:]
    assert text[start:end].count("depth") == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sources:\n  a:\n    depth: 1\n    # of a\n\n# the end\nindex: x\n", 5),
        ("sources:\r\n    a: {depth: 1}", 3),
        ("sources:   # none\nindex: x\n", 2),
        ("index: x\n\n\n", 3),
    ],
    ids=["behind the last", "without a last line break", "no source", "no group"],
)
def test_a_new_source_is_added_behind_the_others_and_every_other_byte_stays(text: str, line: int) -> None:
    definition = DefinitionText("ultracrawl.yaml", "ultracrawl", text)
    place = place_for_source(definition, "new")
    assert place is not None
    assert (place.shown, place.revision, place.first_line) == ("", "", line)
    lines = new_source_lines(place, "https://new.example/?a=1, 2")
    draft = draft_of(place, lines)
    assert [str(one) for one in draft.changes] == ["start_urls"]
    assert not draft.refused
    added = excerpt(draft.text, "new")
    assert added.first_line == line
    assert added.tree.data["sources"]["new"] == {"start_urls": ["https://new.example/?a=1, 2"]}
    assert [str(one) for one in draft_of(place, f"{lines}\nlogs: y").refused] == [""], "of the project"
    assert draft_of(added, "").refused
    removed = draft_of(added, "", may_remove=True)
    assert not removed.refused
    assert removed.text == (text if "sources:" in text else "index: x\nsources:\n\n\n")


def test_schedules_are_added_at_the_end_of_a_file() -> None:
    text = "sources:\n  a: {depth: 1}\n\n# the end\n"
    place = place_for_schedules(DefinitionText("ultracrawl.yaml", "ultracrawl", text))
    assert place is not None
    draft = draft_of(place, "schedules:\n  nightly: {sources: [a], every: 6 h}")
    assert draft.text == f"{text}schedules:\n  nightly: {{sources: [a], every: 6 h}}\n"
    assert not draft.refused
    found = find_schedules(DefinitionText("ultracrawl.yaml", "ultracrawl", draft.text))
    assert found is not None
    assert draft_of(found, "", may_remove=True).text == text


@pytest.mark.parametrize(
    "text", ["start_urls: https://a.example/\n", "sources: {a: {depth: 1}}\n", "sources: [a]\n"]
)
def test_some_files_have_no_place_for_a_new_source(text: str) -> None:
    assert place_for_source(DefinitionText("a.yaml", "a", text), "new") is None
