"""What a listing means: what is queued, vouched for, fetched, and what leaves."""

from __future__ import annotations

from typing import Any

import pytest
from support.listed import crawl, found, outcomes
from support.project import Workspace
from support.sentences import sentence
from support.shelf import Shelf

from ultracrawl.run.listing.listing import MAX_KINDS_LEFT_OUT


def define(workspace: Workspace, **options: object) -> None:
    source = {"type": "shelf", "shelf": "shelf", **options}
    workspace.write({"attributes": {"Colour": "string"}, "sources": {"s": source}})


def page(word: str, title: str = "") -> str:
    return f"<html><head><title>{title}</title></head><body><p>common {word}</p></body></html>"


def fill(kind: Shelf, *names: str) -> list[dict[str, Any]]:
    return [kind.write(name, page(f"word{name}")) for name in names]


def test_what_is_listed_is_fetched_and_found(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kind.put(*fill(kind, *"abcdefg"))
    run = crawl(workspace)
    assert outcomes(run) == {"NEW": 7}
    assert found(workspace, "common") == list("abcdefg")
    assert kind.calls == [
        ["list", "", ""],
        ["received", 3],
        ["received", 3],
        ["received", 1],
        ["confirm", ""],
        ["close"],
    ]


def test_an_entry_with_equal_validators_is_vouched_for_and_not_visited(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    entries = fill(kind, *"abcd")
    kind.put(*entries)
    crawl(workspace)
    entries[1] = kind.write("b", page("changed"))
    kind.put(*entries)
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"], run["not_asked"]) == ({"NOT_MODIFIED": 3, "MODIFIED": 1}, 1, 3)
    assert run["scheduled"] == 4
    assert found(workspace, "changed") == ["b"]


def test_a_run_that_reached_no_document_has_failed(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kind.put(*fill(kind, *"abc"))
    crawl(workspace)
    changed = [kind.write(name, page(f"changed{name}")) for name in "abc"]
    kind.put(*changed, unreached=True)
    run = crawl(workspace, code=1)
    assert (outcomes(run), run["status_codes"], len(run["problems"])) == ({"NETWORK_ERROR": 3}, {"905": 3}, 1)
    assert found(workspace, "common") == list("abc")
    kind.put(*changed)
    assert outcomes(crawl(workspace)) == {"MODIFIED": 3}
    kind.put(kind.write("a", page("again")), *changed[1:], unreached=True)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 2, "NETWORK_ERROR": 1}, "others are as they were"


def test_a_list_that_is_empty_is_a_mistake_once_and_never_after_it_had_documents(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    kind.put()
    run = crawl(workspace, code=1)
    assert (run["cause"], len(run["problems"])) == ("nothing-listed", 1)
    run = crawl(workspace)
    assert (run["problems"], len(run["remarks"])) == ([], 1)
    kind.put(*fill(kind, "a"))
    assert crawl(workspace)["cause"] is None
    kind.put()
    assert [crawl(workspace)["problems"] for _ in range(2)] == [[], []]


def test_a_copy_of_another_document_is_vouched_for_as_long_as_that_one_stands(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, deletion={"percent": 100}, duplicates={"detect": True})
    entries = [kind.write("a", page("same")), kind.write("bb", page("same")), kind.write("c", page("other"))]
    kind.put(*entries)
    assert outcomes(crawl(workspace)) == {"NEW": 2, "DUPLICATE": 1}
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 2, "DUPLICATE": 1}, 0)
    assert (run["status_codes"], run["scheduled"]) == ({"304": 2, "910": 1}, 3)
    kind.put(*entries[1:])
    run = crawl(workspace)
    assert (run["fetched"], run["deleted"], found(workspace, "same")) == (1, 1, ["bb"])
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 2}, 0)


def test_a_copy_takes_the_place_of_a_document_that_becomes_another(workspace: Workspace, kind: Shelf) -> None:
    define(workspace, duplicates={"detect": True})
    copies = [kind.write(name, page("same")) for name in ("bb", "ccc")]
    kind.put(kind.write("a", page("same")), *copies)
    crawl(workspace)
    kind.put(kind.write("a", page("changed")), *copies)
    run = crawl(workspace)
    assert (run["fetched"], found(workspace, "same")) == (2, ["bb"])
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 2, "DUPLICATE": 1}, 0)
    kind.put(*copies, kind.write("a", page("same")))
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "DUPLICATE": 1, "MODIFIED": 1}
    assert found(workspace, "same") == ["a"]


def test_what_a_whole_listing_does_not_name_leaves_the_index(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    entries = fill(kind, *"abcd")
    kind.put(*entries)
    crawl(workspace)
    kind.put(*entries[1:])
    assert crawl(workspace)["deleted"] == 1
    assert found(workspace, "common") == ["b", "c", "d"]
    kind.put(*entries)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3, "NEW": 1}
    assert len(found(workspace, "common")) == 4


def test_a_guard_keeps_what_a_suspiciously_short_listing_does_not_name(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, deletion={"percent": 10, "always": 1})
    entries = fill(kind, *"abcdefgh")
    kind.put(*entries)
    crawl(workspace)
    kind.put(entries[0])
    run = crawl(workspace, code=1)
    assert (run["deleted"], len(found(workspace, "common"))) == (0, 8)
    assert workspace.command("approve-deletions", "s").code == 0
    assert found(workspace, "common") == ["a"]


def test_documents_whose_deletion_was_held_and_that_come_back_are_not_indexed_again(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, deletion={"percent": 10, "always": 1})
    entries = fill(kind, *"abcdefgh")
    kind.put(*entries)
    crawl(workspace)
    kind.put(entries[0])
    crawl(workspace, code=1)
    kind.put(*entries[:7], kind.write("h", page("changed")))
    run = crawl(workspace)
    assert outcomes(run) == {"NOT_MODIFIED": 7, "MODIFIED": 1}
    assert (run["fetched"], run["indexed"], run["deleted"], run["problems"]) == (1, 1, 0, [])
    assert (len(found(workspace, "common")), found(workspace, "changed")) == (8, ["h"])
    assert workspace.command("approve-deletions", "s", "--list").out.count("shelf://") == 0


def test_documents_that_come_back_after_their_deletion_are_indexed_again(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, deletion={"percent": 10, "always": 1})
    entries = fill(kind, *"abcdefgh")
    kind.put(*entries)
    crawl(workspace)
    kind.put(entries[0])
    crawl(workspace, code=1)
    assert workspace.command("approve-deletions", "s").code == 0
    kind.put(*entries)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "NEW": 7}
    assert len(found(workspace, "common")) == 8


@pytest.mark.parametrize("end", [{"partial": "the cupboard is locked"}, {"silent": True}])
def test_a_listing_in_part_deletes_nothing(workspace: Workspace, kind: Shelf, end: dict[str, Any]) -> None:
    define(workspace)
    entries = fill(kind, *"abcd")
    kind.put(*entries)
    crawl(workspace)
    kind.put(entries[0], **end)
    run = crawl(workspace, code=1)
    (problem,) = run["problems"]
    assert problem.startswith(sentence("listing.partial"))
    assert problem.endswith(sentence("listing.nothing_counts_as_deleted"))
    assert (run["deleted"], len(found(workspace, "common"))) == (0, 4)


def test_an_error_of_a_lister_fails_the_run_with_its_text(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kind.put(*fill(kind, *"abcd"), error="no shelf")
    ended = workspace.command("crawl", "s", "--json")
    assert (ended.code, ended.run["problems"]) == (1, [sentence("listing.failed")])
    kind.put(*fill(kind, *"abcd"))
    kind.calls  # noqa: B018 - forgets them
    crawl(workspace)
    assert kind.calls[0] == ["list", "", "3"]
    assert len(found(workspace, "common")) == 4


def test_an_entry_that_is_said_to_be_deleted_leaves(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    entries = fill(kind, *"abcd")
    kind.put(*entries)
    crawl(workspace)
    kind.put({"name": "a", "deleted": True}, {"name": "zzz", "deleted": True}, changes_only=True)
    crawl(workspace)
    assert found(workspace, "common") == ["b", "c", "d"]


def test_a_listing_of_changes_is_given_the_token_of_the_last_and_leaves_the_rest_alone(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    kind.put(*fill(kind, *"abcd"), token="monday")
    crawl(workspace)
    assert kind.calls[-2:] == [["confirm", "monday"], ["close"]]
    kind.put(kind.write("b", page("changed")), token="tuesday", changes_only=True)
    run = crawl(workspace)
    assert (outcomes(run), len(found(workspace, "common"))) == ({"MODIFIED": 1}, 4)
    assert kind.calls[:2] == [["confirm", "monday"], ["list", "monday", ""]]
    crawl(workspace, "--force")
    assert kind.calls[0] == ["list", "", ""]


def test_what_could_not_be_had_is_asked_for_again_though_no_listing_names_it(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    (kind.folder / "b").mkdir()
    kind.put(*fill(kind, "a"), {"name": "b", "title": "Second", "acl": ["staff"]}, token="monday")
    run = crawl(workspace)
    assert outcomes(run) == {"NEW": 1, "FAILED": 1}
    (kind.folder / "b").rmdir()
    (kind.folder / "b").write_text("late words")
    kind.put(token="tuesday", changes_only=True)
    assert outcomes(crawl(workspace)) == {"NEW": 1}
    hits = workspace.command("search", "late", "--principal", "staff", "--json").json["hits"]
    assert [hit["title"] for hit in hits] == ["Second"]
    assert found(workspace, "late") == []


def test_what_no_converter_can_read_is_not_asked_for_again_by_a_listing_of_changes(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    (kind.folder / "b").write_text("no PDF")
    broken = {"name": "b", "content_type": "application/pdf", "validators": "1"}
    kind.put(*fill(kind, "a"), broken, token="monday")
    crawl(workspace)
    kind.put(token="tuesday", changes_only=True)
    for _ in range(2):
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"], len(run["failed_pages"])) == ({"FAILED": 1}, 0, 1)
    (kind.folder / "b").write_text("%PDF-1.4 no PDF either")
    kind.put(broken | {"validators": "2"}, token="wednesday", changes_only=True)
    run = crawl(workspace)
    assert (outcomes(run), run["fetched"]) == ({"FAILED": 1}, 1)


def test_documents_that_were_lost_on_their_way_are_listed_anew_in_the_next_run(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    entries = fill(kind, *"abcd")
    kind.put(*entries[:2], token="monday")
    crawl(workspace)
    assert workspace.command("feeding", "pause", "s").code == 0
    kind.put(*entries[2:], token="tuesday", changes_only=True)
    assert outcomes(crawl(workspace)) == {"NEW": 2}
    cache = workspace.directory / "var" / "cache" / "s"
    for file in (*cache.glob("*.sealed"), cache / "feeding.json"):
        file.unlink()
    kind.put(*entries, token="wednesday")
    run = crawl(workspace)
    assert kind.calls[0] == ["list", "", ""], "a listing of changes would not name them"
    assert (outcomes(run), run["fetched"]) == ({"NEW": 2, "NOT_MODIFIED": 2}, 2)
    assert found(workspace, "common") == list("abcd")


def test_after_a_removed_document_was_let_in_again_everything_is_listed_as_only_that_says_who_may_see_it(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    entries = [{**entry, "acl": ["staff"], "validators": "1"} for entry in fill(kind, *"ab")]
    kind.put(*entries, token="monday")
    crawl(workspace)
    assert workspace.command("approve", "s", "--remove", "shelf://x/a").code == 0
    kind.put(token="tuesday", changes_only=True)
    assert outcomes(crawl(workspace)) == {}
    assert found(workspace, "common", "--principal", "staff") == ["b"]
    assert workspace.command("approve", "s", "--restore", "shelf://x/a").code == 0
    kind.put(*entries, token="wednesday")
    assert outcomes(crawl(workspace)) == {"NEW": 1, "NOT_MODIFIED": 1}
    assert kind.calls[0] == ["list", "", ""]
    assert found(workspace, "common", "--principal", "staff") == ["a", "b"]
    assert found(workspace, "common") == []


def test_a_document_that_is_gone_when_it_is_fetched_has_that_outcome(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    kind.put({"name": "nowhere"}, *fill(kind, "a"))
    assert outcomes(crawl(workspace)) == {"GONE": 1, "NEW": 1}


@pytest.mark.parametrize(("is_folder", "outcome"), [(False, "GONE"), (True, "FAILED")])
def test_changes_that_cannot_be_had_fail_no_run_of_a_source_that_has_documents(
    workspace: Workspace, kind: Shelf, is_folder: bool, outcome: str
) -> None:
    define(workspace)
    changed = {"name": "b", "validators": "1"}
    if is_folder:
        (kind.folder / "b").mkdir()
    kind.put(changed)
    assert crawl(workspace, code=1)["problems"][0].startswith(sentence("reading.no_page_readable"))
    kind.put(*fill(kind, "a"), changed, token="monday")
    crawl(workspace)
    kind.put(changed | {"validators": "2"}, token="tuesday", changes_only=True)
    run = crawl(workspace)
    assert (outcomes(run), run["problems"]) == ({outcome: 1}, [])


def test_what_an_entry_says_is_what_the_document_says(workspace: Workspace, kind: Shelf) -> None:
    define(workspace, attributes={"colour": "Colour"})
    told = {
        "body": page("inside", "Own title"),
        "content_type": "text/html",
        "display_url": "https://books.example.com/a",
        "attributes": {"colour": ["red", "blue"]},
        "language": "de",
        "last_modified": 86400.0,
        "acl": ["staff"],
    }
    kind.put({"name": "a", "title": "Told title", **told}, {"name": "b", **told, "display_url": ""})
    assert outcomes(crawl(workspace)) == {"NEW": 2}
    assert found(workspace, "inside") == []
    shown = workspace.command("search", "inside", "--principal", "staff", "--json").json["hits"]
    assert sorted(hit["title"] for hit in shown) == ["Own title", "Told title"]
    (hit,) = (hit for hit in shown if hit["title"] == "Told title")
    assert (hit["url"], hit["title"]) == ("https://books.example.com/a", "Told title")
    assert hit["attributes"]["Colour"] == ["red", "blue"]
    assert hit["attributes"]["Language"] == ["de"]


def test_other_attributes_make_another_document_of_the_same_text(workspace: Workspace, kind: Shelf) -> None:
    define(workspace, attributes={"colour": "Colour"})
    told = {"name": "a", "body": "some words", "content_type": "text/plain"}
    kind.put({**told, "attributes": {"colour": ["red"]}, "validators": "1"})
    crawl(workspace)
    kind.put({**told, "attributes": {"colour": ["blue"]}, "validators": "2"})
    assert outcomes(crawl(workspace)) == {"MODIFIED": 1}
    assert found(workspace, "Colour:blue") == ["a"]
    kind.put({**told, "attributes": {"colour": ["blue"]}, "validators": "3"})
    assert outcomes(crawl(workspace)) == {"UNMODIFIED": 1}


def test_a_display_url_that_is_none_has_its_status(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kind.put({"name": "a", "body": "some words", "display_url": "not a url"})
    run = crawl(workspace, code=1)
    assert run["status_codes"] == {"1010": 1}


def test_a_second_document_of_a_display_url_is_not_unique(workspace: Workspace, kind: Shelf) -> None:
    define(workspace, duplicates={"detect": False})
    shown = {"display_url": "https://books.example.com/", "content_type": "text/plain"}
    kind.put({"name": "a", "body": "some words", **shown}, {"name": "b", "body": "other words", **shown})
    assert crawl(workspace)["status_codes"] == {"200": 1, "956": 1}


SHOWN = {"display_url": "https://books.example.com/x", "content_type": "text/plain"}


def shown(name: str, **values: str) -> dict[str, str]:
    return {"name": name, "body": f"common word{name}", "validators": "1", **SHOWN, **values}


def texts(workspace: Workspace, *names: str) -> list[str]:
    """Return whose words are found."""
    return [one for one in names if found(workspace, f"word{one}")]


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac"])
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_which_of_several_documents_has_their_display_url_depends_on_no_order(
    workspace: Workspace, kind: Shelf, order: str, engine: str
) -> None:
    source = {"type": "shelf", "shelf": "shelf", "deletion": {"percent": 100}}
    workspace.write({"index": {"engine": engine}, "sources": {"s": source}})
    kind.put(*map(shown, order))
    assert crawl(workspace)["status_codes"] == {"200": 1, "956": 3}
    assert texts(workspace, *"abcd") == ["a"]
    run = crawl(workspace)
    assert (run["fetched"], outcomes(run)) == (0, {"NOT_MODIFIED": 1, "DUPLICATE": 3}), (
        "what is second is not read"
    )
    kind.put(*(shown(one) for one in order if one != "a"))
    crawl(workspace)
    assert texts(workspace, *"abcd") == ["b"], "the next one follows in the same run"
    kind.put(*map(shown, order))
    crawl(workspace)
    assert texts(workspace, *"abcd") == ["a"], "who comes back has it again"
    assert crawl(workspace)["fetched"] == 0
    elsewhere = shown("a", display_url="https://books.example.com/y", validators="2")
    kind.put(*(elsewhere if one == "a" else shown(one) for one in order))
    crawl(workspace)
    assert texts(workspace, *"abcd") == ["a", "b"]
    assert crawl(workspace)["fetched"] == 0


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_document_that_fails_keeps_no_display_url_from_others(
    workspace: Workspace, kind: Shelf, order: str
) -> None:
    define(workspace)
    broken = shown("a", content_type="application/pdf")
    kind.put(*(broken if one == "a" else shown(one) for one in order))
    crawl(workspace)
    assert texts(workspace, *"ab") == ["b"]


@pytest.mark.parametrize("partial", ["", "a folder is missing"])
def test_another_display_url_alone_is_taken_when_the_listing_is_complete(
    workspace: Workspace, kind: Shelf, partial: str
) -> None:
    define(workspace, deletion={"percent": 100})
    kind.put(shown("a"), shown("b", display_url=""))
    crawl(workspace)
    kind.put(shown("b"), partial=partial)
    run = crawl(workspace, code=1 if partial else 0)
    assert found(workspace, "wordb") == ["b" if partial else "x"]
    assert texts(workspace, *"ab") == (["a", "b"] if partial else ["b"])
    assert outcomes(run) == ({"NOT_MODIFIED": 1} if partial else {"NEW": 1})
    if not partial:
        assert crawl(workspace)["fetched"] == 0


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "c")])
def test_a_display_url_that_is_the_access_url_of_one_is_passed_on_as_well(
    workspace: Workspace, kind: Shelf, first: str, second: str
) -> None:
    define(workspace, deletion={"percent": 100})
    of_b = {one: shown(one, display_url="" if one == "b" else "shelf://x/b") for one in (first, second)}
    kind.put(*of_b.values(), token="monday")
    crawl(workspace)
    assert texts(workspace, *"abc") == [first]
    assert crawl(workspace)["fetched"] == 0
    kind.put({"name": first, "deleted": True}, changes_only=True)
    crawl(workspace)
    assert texts(workspace, *"abc") == [second]


INTERRUPTED = {"error": "the light went out", "after": 2}


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("changes_only", [False, True])
def test_another_display_url_is_not_forgotten_by_an_interruption(
    workspace: Workspace, kind: Shelf, changes_only: bool, engine: str
) -> None:
    source = {"type": "shelf", "shelf": "shelf", "room": 1, "deletion": {"percent": 100}}
    workspace.write({"index": {"engine": engine}, "sources": {"s": source}})
    kind.put(shown("a"), shown("b", display_url=""), *fill(kind, "c"), token="monday")
    crawl(workspace)
    changed = [{"name": "a", "deleted": True}, shown("b"), *fill(kind, "c")]
    kind.put(*changed, changes_only=changes_only, **INTERRUPTED)
    crawl(workspace, code=1)
    kind.put(*changed, changes_only=changes_only)
    crawl(workspace)
    assert (texts(workspace, *"abc"), found(workspace, "wordb")) == (["b", "c"], ["x"])
    kind.put(changes_only=True)
    assert crawl(workspace)["fetched"] == 0


def test_another_display_url_that_is_withdrawn_after_an_interruption_stays_away(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, room=1, deletion={"percent": 100})
    kind.put(shown("b", display_url=""), *fill(kind, *"cd"), token="monday")
    crawl(workspace)
    kind.put(shown("b"), *fill(kind, *"cd"), changes_only=True, **INTERRUPTED)
    crawl(workspace, code=1)
    kind.put(*[{"name": "b", "deleted": True}] * 3, changes_only=True)
    crawl(workspace)
    assert texts(workspace, *"bcd") == ["c", "d"]


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("how", ["listing", "fetching"])
def test_a_display_url_that_is_free_goes_to_the_next_document_after_an_interruption(
    workspace: Workspace, kind: Shelf, how: str, engine: str
) -> None:
    source = {"type": "shelf", "shelf": "shelf", "room": 1, "deletion": {"percent": 100}}
    project = {"index": {"engine": engine}, "sources": {"s": source}}
    workspace.write(project)
    kind.put(*map(shown, "abc"), token="monday")
    crawl(workspace)
    assert texts(workspace, *"abc") == ["a"]
    changed = [{"name": "a", "deleted": True}, *fill(kind, *"ef")]
    if how == "fetching":
        workspace.write({**project, "sources": {"s": {**source, "limits": {"pages": 1}}}})
    kind.put(*changed, changes_only=True, **(INTERRUPTED if how == "listing" else {}))
    crawl(workspace, code=1 if how == "listing" else 0)
    assert texts(workspace, *"bc") == []
    workspace.write(project)
    kind.put(*changed, changes_only=True)
    crawl(workspace)
    assert texts(workspace, *"abcef") == ["b", "e", "f"]
    kind.put(changes_only=True)
    assert crawl(workspace)["fetched"] == 0


def test_a_document_that_is_shown_elsewhere_now_is_found_there_alone(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    told = {"name": "a", "body": "some words", "content_type": "text/plain"}
    kind.put({**told, "display_url": "https://books.example.com/old", "validators": "1"})
    crawl(workspace)
    kind.put({**told, "display_url": "https://books.example.com/new", "validators": "2"})
    crawl(workspace)
    assert found(workspace, "words") == ["new"]


def test_links_of_listed_documents_are_not_followed(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    links = '<a href="shelf://x/b">b</a><a href="https://www.example.com/">c</a> words'
    kind.put({"name": "a", "body": links, "content_type": "text/html"})
    assert crawl(workspace)["scheduled"] == 1


def test_another_definition_makes_all_documents_anew(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kind.put(*fill(kind, *"ab"), token="monday")
    crawl(workspace)
    define(workspace, mark="new")
    assert outcomes(crawl(workspace)) == {"MODIFIED": 2}
    kind.calls  # noqa: B018
    define(workspace, mark="new", room=5)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 2}
    assert kind.calls[0] == ["list", "", ""], "what is inside may be another"


def test_a_document_made_again_from_its_stored_response_keeps_what_the_lister_says(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, storage={"keep": True}, attributes={"colour": "Colour"})
    listed = {"title": "Told", "attributes": {"colour": ["red"]}, "acl": ["staff"]}
    kind.put(*({**entry, **listed} for entry in fill(kind, "a")))
    crawl(workspace)
    assert outcomes(workspace.command("reindex", "s", "--json").run) == {"REINDEXED": 1}
    assert found(workspace, "Told") == []
    assert found(workspace, "title:Told Colour:red", principal="staff") == ["a"]


def test_commands_look_at_listed_documents_as_at_pages(workspace: Workspace, kind: Shelf) -> None:
    define(workspace, storage={"keep": True})
    kind.put(*fill(kind, *"ab"), {"name": "nowhere"})
    crawl(workspace)
    listed = workspace.command("urls", "--json").lines
    assert {one["url"]: one["status_code"] for one in listed} == {
        "shelf://x/a": 200,
        "shelf://x/b": 200,
        "shelf://x/nowhere": 404,
    }
    explained = workspace.command("explain", "shelf://x/a", "--source", "s")
    assert explained.code == 0, explained.err
    assert "shelf://x/a" in explained.out
    assert workspace.command("reindex", "s").code == 0
    assert len(found(workspace, "common")) == 2
    assert workspace.command("plan", "s").code == 0
    assert workspace.command("status").code == 0


def test_ultra_search_101_a_listing_that_was_interrupted_goes_on_from_the_token_that_it_had(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace)
    kind.put(*fill(kind, "a"), token="monday")
    crawl(workspace)
    kind.put(*fill(kind, *"bcde"), token="tuesday", changes_only=True, error="the light went out")
    crawl(workspace, code=1)
    kind.calls  # noqa: B018 - forgets them
    kind.put(*fill(kind, *"bcde"), token="tuesday", changes_only=True)
    crawl(workspace)
    assert [call for call in kind.calls if call[0] == "list"] == [["list", "monday", "3"]]
    assert len(found(workspace, "common")) == 5


def test_ultra_search_102_a_lister_is_not_asked_again_for_what_is_queued(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, limits={"pages": 2})
    kind.put(*fill(kind, *"abcd"), token="monday")
    crawl(workspace)
    kind.calls  # noqa: B018
    define(workspace)
    crawl(workspace)
    assert kind.calls == [["resumed", ""], ["confirm", "monday"], ["close"]]
    assert len(found(workspace, "common")) == 4


@pytest.mark.parametrize("url", ["no url", "", "mailto:a@example.com", "shelf://x/\udcff", "//["])
def test_an_entry_whose_access_url_is_none_costs_itself_and_is_named_with_its_neighbour(
    workspace: Workspace, kind: Shelf, url: str
) -> None:
    define(workspace, room=2)
    kind.put(*fill(kind, *"abc"), {"name": "-", "url": url}, {"name": "-", "url": url}, *fill(kind, "d"))
    run = crawl(workspace)
    assert (outcomes(run), run["problems"], found(workspace, "common")) == ({"NEW": 4}, [], list("abcd"))
    (remark,) = run["remarks"]
    assert remark.startswith(sentence("listing.without_access_url", number=2))
    assert remark.endswith("beside shelf://x/c")
    kind.put(*fill(kind, *"abc"), {"name": "-", "url": url, "deleted": True})
    run = crawl(workspace)
    assert (run["problems"], found(workspace, "common")) == ([], list("abc"))


def test_what_is_left_out_before_an_interruption_is_reported_after_it_as_well(
    workspace: Workspace, kind: Shelf
) -> None:
    define(workspace, room=1)
    entries = [
        *fill(kind, "a"),
        {"name": "-", "url": "none"},
        {"name": "-", "url": "nothing"},
        *fill(kind, "b"),
    ]
    kind.put(*entries, error="the light went out", after=3)
    told = crawl(workspace, code=1)["remarks"]
    kind.put(*entries)
    assert crawl(workspace)["remarks"] == told
    assert told[0].startswith(sentence("listing.without_access_url", number=2))
    assert crawl(workspace)["remarks"] == told, "a new listing counts from its beginning"


def test_kinds_that_are_left_out_are_reported_up_to_a_number(workspace: Workspace, kind: Shelf) -> None:
    define(workspace)
    kinds = MAX_KINDS_LEFT_OUT + 5
    kind.put(*fill(kind, "a"), left_out=[[f"kind {number}", "x" * 5000, 7] for number in range(kinds)])
    run = crawl(workspace)
    assert len(run["remarks"]) == MAX_KINDS_LEFT_OUT
    assert max(map(len, run["remarks"])) < 5000
