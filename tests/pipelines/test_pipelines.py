"""Each pipeline by itself, built by hand with a context and a fake of the port that it acts through."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem
from support.context import made_context
from support.sentences import sentence

from ultracrawl.index import IndexDocument
from ultracrawl.model import Cause, CauseCode, Document, Section, UrlOutcome, UrlRecord
from ultracrawl.pipelines import AttributePipeline, ChecksumPipeline, IndexPipeline
from ultracrawl.pipelines.fields import DocumentFields, fields_of
from ultracrawl.pipelines.processor import DocumentPipelines
from ultracrawl.rules.attributes.mapping import AttributeMap
from ultracrawl.rules.attributes.schema import attribute_schema
from ultracrawl.rules.recrawl.change import checksum
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.ending import Ending
from ultracrawl.run.ports import Placed, Placement, Refused, Retained
from ultracrawl.sources import DataSource
from ultracrawl.stores import QueueEntry

URL = "http://h/a"
PARTS = Section(0, 1, "one", "One"), Section(8, 2, "", "Three")
OF_A_LINK = Section(4, 7, "two", "the second")


class Endings:
    """Takes the ends of visits."""

    def __init__(self) -> None:
        self.outcomes: list[UrlOutcome] = []

    def end_visit(self, visit: Visit, ending: Ending) -> None:
        self.outcomes.append(ending.outcome)


class Documents:
    """Takes the documents that are proposed, and answers each alike."""

    def __init__(self, answer: Placement) -> None:
        self.answer = answer
        self.proposed: list[IndexDocument] = []

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        self.proposed.append(document)
        return self.answer


def visit_of_a(**known: Any) -> Visit:
    return Visit(QueueEntry(1, URL, "http://h", 0, 1), UrlRecord(URL, "s", **known))


def context_with(*, acl: list[str] | None = None, **ports: Any) -> CrawlContext:
    source = DataSource.model_construct(name="s", acl=tuple(acl or ()))
    return made_context(
        source,
        rules=SimpleNamespace(listed=False, attributes=AttributeMap({}, attribute_schema([]))),
        **ports,
    )


def test_attributes_are_mapped_and_what_does_not_fit_is_counted() -> None:
    context = context_with()
    item: dict[str, Any] = {"title": "T", "attributes": {"author": "Ann"}}
    item["search_attributes"] = {"LastModifiedDate": "no date"}
    AttributePipeline(context, lambda item: visit_of_a()).process_item(item)
    assert item["search_attributes"]["Author"] == ["Ann"]
    assert context.report.dropped_values == 1


GIVEN: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "as they are": ({}, {"Author": ["Ann"]}, 0),
    "another value": ({"Author": ["Bob"]}, {"Author": ["Bob"]}, 0),
    "one value, and what the index does not know": ({"Author": "Bob", "Odd": "x"}, {"Author": ["Bob"]}, 1),
    "none": ({"Author": []}, {"Author": []}, 0),
}


@pytest.mark.parametrize(("changes", "expected", "dropped"), GIVEN.values(), ids=GIVEN)
def test_search_attributes_are_indexed_as_the_last_pipeline_leaves_them(
    changes: dict[str, Any], expected: dict[str, Any], dropped: int
) -> None:
    documents, visit = Documents(Placed(URL, UrlOutcome.NEW)), visit_of_a()
    context = context_with(documents=documents)
    item = Document(URL, URL, "s", attributes={"author": ["Ann"]})
    AttributePipeline(context, lambda item: visit).process_item(item)
    item.search_attributes["Host"].clear()  # in place
    item.search_attributes.update(changes)
    IndexPipeline(context, lambda item: visit).process_item(item)
    made = documents.proposed[0].attributes
    assert {name: values for name, values in made.items() if name in ("Author", "Host")} == {
        **expected,
        "Host": [],
    }
    assert context.report.dropped_values == dropped


def test_search_attributes_that_a_pipeline_removes_are_not_indexed() -> None:
    documents, visit = Documents(Placed(URL, UrlOutcome.NEW)), visit_of_a()
    context, item = context_with(documents=documents), Document(URL, URL, "s")
    AttributePipeline(context, lambda item: visit).process_item(item)
    assert item.search_attributes
    item.search_attributes = {}
    IndexPipeline(context, lambda item: visit).process_item(item)
    assert documents.proposed[0].attributes == {}


def test_items_without_a_visit_pass_untouched() -> None:
    item = {"title": "T"}
    assert AttributePipeline(context_with(), lambda item: None).process_item(item) == {"title": "T"}


def test_an_unchanged_document_ends_there() -> None:
    endings = Endings()
    visit = visit_of_a(checksum=checksum(b"body"), indexed=True, outcome=UrlOutcome.NEW)
    pipeline = ChecksumPipeline(context_with(endings=endings), lambda item: visit)
    with pytest.raises(DropItem, match="unchanged"):
        pipeline.process_item({"checksum": checksum(b"body")})
    assert endings.outcomes == [UrlOutcome.UNMODIFIED]
    assert pipeline.process_item({"checksum": checksum(b"other")}) == {"checksum": checksum(b"other")}
    assert endings.outcomes == [UrlOutcome.UNMODIFIED], "a changed one goes on"


@pytest.mark.parametrize(
    "answer",
    [Placed(URL, UrlOutcome.NEW), Retained(URL), Retained(URL, "http://h/b")],
    ids=["placed", "held", "waits"],
)
def test_a_document_is_proposed_to_the_index(answer: Placement) -> None:
    documents = Documents(answer)
    visit = visit_of_a()
    visit.note_checksum(b"\x01\xff")
    visit.note_permissions(hides_text=True, expires=False)
    pipeline = IndexPipeline(context_with(documents=documents), lambda item: visit)
    item = pipeline.process_item({"title": "T", "text": "words"})
    assert item["checksum"] == "01ff"
    assert documents.proposed == [IndexDocument("s", URL, "T", "words", {}, True)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"sections": PARTS}, PARTS),
        ({"sections": PARTS, "text": "some pipeline wrote: One two Three"}, ()),
        ({"sections": (*PARTS, OF_A_LINK)}, (*PARTS, OF_A_LINK)),
        ({"sections": (*PARTS, OF_A_LINK), "text": "some pipeline wrote: One two Three"}, ()),
        ({"sections": ["of", "a", "book"]}, ()),
        ({"sections": 3}, ()),
        ({}, ()),
    ],
    ids=[
        "its own",
        "another text",
        "named by a link",
        "named by a link, in another text",
        "a field of that name",
        "a number",
        "none",
    ],
)
def test_the_parts_of_a_document_are_those_of_its_text(
    fields: dict[str, Any], expected: tuple[Section, ...]
) -> None:
    documents = Documents(Placed(URL, UrlOutcome.NEW))
    pipeline = IndexPipeline(context_with(documents=documents), lambda item: visit_of_a())
    pipeline.process_item({"title": "T", "text": "One two Three", **fields})
    assert documents.proposed[0].sections == expected


READERS: dict[str, tuple[Any, list[str], tuple[str, ...]]] = {
    "none": (None, [], ()),
    "an empty list": ([], [], ()),
    "of the source": ([], ["staff"], ("staff",)),
    "its own": (["Bob Ray", "boss", "boss"], ["staff"], ("Bob Ray", "boss")),
    "one text": ("CN=Pay,OU=Staff", ["staff"], ("CN=Pay,OU=Staff",)),
    "a set": ({"b", "a"}, [], ("a", "b")),
}


@pytest.mark.parametrize("case", READERS.values(), ids=READERS)
def test_who_may_see_a_document_goes_to_the_index(case: tuple[Any, list[str], tuple[str, ...]]) -> None:
    given, of_source, expected = case
    documents = Documents(Placed(URL, UrlOutcome.NEW))
    context = context_with(documents=documents, acl=of_source)
    pipeline = IndexPipeline(context, lambda item: visit_of_a())
    pipeline.process_item({"title": "T", "acl": given})
    pipeline.process_item(Document(URL, URL, "s", acl=given or []))
    assert [one.acl for one in documents.proposed] == [expected, expected]


@pytest.mark.parametrize("value", ["", " ", [""], [None], ["staff", 7], 7, {"staff": True}, b"staff", False])
def test_a_document_whose_readers_are_unknown_is_for_nobody(value: object) -> None:
    documents = Documents(Placed(URL, UrlOutcome.NEW))
    context = context_with(documents=documents)
    for pipeline in (ChecksumPipeline, IndexPipeline):
        with pytest.raises(DropItem, match=sentence("scrapy.field_acl_must_contain_only")):
            pipeline(context, lambda item: visit_of_a()).process_item({"title": "T", "acl": value})
    assert documents.proposed == []


def test_a_document_with_other_readers_is_another() -> None:
    visit, seen = visit_of_a(), list[bytes]()
    pipeline = ChecksumPipeline(context_with(), lambda item: visit)
    for acl in (["staff"], ["staff", "boss"], ["boss", "staff"], []):
        pipeline.process_item({"checksum": b"of the body", "acl": acl})
        seen.append(visit.checksum)
    assert seen[1] == seen[2]
    assert len(set(seen)) == 3
    assert seen[3] == b"of the body"


def test_the_depth_goes_to_the_index() -> None:
    documents = Documents(Placed(URL, UrlOutcome.NEW))
    visit = Visit(QueueEntry(1, URL, "http://h", 3, 1), UrlRecord(URL, "s"), shorter_depth=2)
    IndexPipeline(context_with(documents=documents), lambda item: visit).process_item({"title": "T"})
    assert documents.proposed[0].depth == 2


def test_what_another_url_stands_for_is_dropped() -> None:
    documents = Documents(Refused("http://h/b", Cause(CauseCode.SAME_DISPLAY_URL, "http://h/b", URL)))
    pipeline = IndexPipeline(context_with(documents=documents), lambda item: visit_of_a())
    with pytest.raises(DropItem, match="http://h/a is the display URL of http://h/b"):
        pipeline.process_item({"title": "T"})


def test_a_document_that_came_without_a_visit_ends_with_the_last_pipeline() -> None:
    visit, failed = visit_of_a(), list[tuple[Visit, str]]()
    watch = SimpleNamespace(
        limit_item=lambda item: nullcontext(),
        fail_visit=lambda *how: failed.append(how),
        step_timeout=1.0,
    )
    items = SimpleNamespace(adopt_document=lambda document: visit)
    processor = DocumentPipelines(crawler=cast("Any", SimpleNamespace()))
    processor.attach(
        made_context(),
        cast("Any", items),
        cast("Any", watch),
        cast("Any", SimpleNamespace(allowance=lambda wanted: wanted)),
        cast("Any", SimpleNamespace(count_item=lambda: None)),
    )
    document = Document(URL, URL, "s")

    async def process() -> Any:
        return await processor.process_item_async(document)

    assert asyncio.run(process()) is document
    assert failed == [(visit, "no pipeline finished it")]


def test_the_fields_of_a_document_are_those_that_any_item_would_have() -> None:
    document = Document("https://a.example/", "https://a.example/x", "s", title="T", acl=["staff"])
    ours, any_item = fields_of(document), ItemAdapter(document)
    assert isinstance(ours, DocumentFields)
    assert (dict(ours), len(ours)) == (dict(any_item), len(any_item))
    ours["title"] = "U"
    assert document.title == any_item["title"] == "U"
    for fields in (ours, any_item):
        assert "nothing" not in fields
        assert fields.get("nothing", 1) == 1
        with pytest.raises(KeyError):
            fields["nothing"] = 1
    with pytest.raises(KeyError):
        del ours["nothing"]


def test_other_items_are_read_as_scrapy_reads_them() -> None:
    class Own(Document):
        pass

    own = Own("https://a.example/", "https://a.example/", "s")
    assert isinstance(fields_of(own), ItemAdapter)
    assert dict(fields_of({"title": "T"})) == {"title": "T"}
