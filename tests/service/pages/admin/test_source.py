"""The pages of a source and of its URLs: plots, outcomes, lists in parts, files, submitting, and explanations."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from typing import Any
from urllib.parse import quote

import pytest
from lxml.html import document_fromstring, fragment_fromstring
from service.pages.admin.conftest import Administration, texts
from support.clock import wall_time
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.service.access.requester import Role
from ultracrawl.service.editing.versions import versions_folder
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.service.pages.admin.sources import source_routes, url_routes
from ultracrawl.service.pages.admin.sources.overview import speed
from ultracrawl.stores.control_channel import SiteWait

READER_PATHS = (
    "/admin/sources/site",
    "/admin/sources/site/runs?compare=1&compare=1",
    "/admin/sources/site/runs/1",
)
EDITOR_PATHS = (
    "/admin/sources/site/urls",
    "/admin/sources/site/urls.csv",
    "/admin/sources/site/url?url=http://a.example/",
)
SCRIPT = "<script>alert(1)</script>"


def test_the_page_says_who_sees_what_is_read_behind_a_log_in(workspace: InProcessWorkspace, url: str) -> None:
    plain = {"start_urls": [f"{url}/"]}
    log_in = {"authentication": {"staff": {"url": f"{url}/", "user": "ada", "password": "${PW}"}}}
    meant = {**plain, **log_in, "acl": "everybody"}
    workspace.write({"sources": {"plain": plain, "open": {**plain, **log_in}, "meant": meant}})
    administration = Administration(workspace)
    for name, said in (("plain", 0), ("open", 1), ("meant", 0)):
        lines = texts(administration.get(f"/admin/sources/{name}"), ".exposed")
        assert len(lines) == said
        assert all("authentication.staff" in line for line in lines)


@pytest.mark.parametrize("path", [*READER_PATHS, *EDITOR_PATHS])
def test_pages_need_a_session_and_the_role_of_the_api(administration: Administration, path: str) -> None:
    assert administration.status(path, None) == 303
    assert administration.status(path, Role.READER) == (200 if path in READER_PATHS else 403)
    assert administration.status(path, Role.EDITOR) == 200


def test_unknown_sources_are_not_found(administration: Administration) -> None:
    for path in (*READER_PATHS, *EDITOR_PATHS):
        assert administration.status(path.replace("/site", "/nothing")) == 404


def test_a_page_of_a_source_has_its_runs_as_plots_and_as_a_table(administration: Administration) -> None:
    assert not administration.get("/admin/sources/site", Role.READER).cssselect(".plot"), "one run is no plot"
    administration.workspace.crawl()
    page = administration.get("/admin/sources/site", Role.READER)
    assert len(page.cssselect("figure svg[aria-label]")) == 7, "all but errors, of which there were none"
    rows = [texts(row, "td, th") for row in page.cssselect("table tbody tr")]
    assert [row[0] for row in rows] == ["2", "1"]
    assert rows[1][3:5] == ["3", "3"]
    assert not page.cssselect(".filter"), "readers see no URLs"


def test_two_runs_are_compared_by_a_form(administration: Administration, url: str) -> None:
    administration.workspace.define(f"{url}/", refresh={"interval": "1 h"}, exclude=["/egret"])
    administration.workspace.crawl()
    form = administration.get("/admin/sources/site", Role.READER).cssselect("form.compare")[0]
    chosen = [one.get("value") for one in form.cssselect("option[selected]")]
    assert chosen == ["1", "2"], "the one before the latest, and the latest"
    page = administration.get(f"{form.get('action')}?compare=1&compare=2", Role.READER)
    rows = {row[0]: row[1:] for row in (texts(one, "th, td") for one in page.cssselect("tbody tr"))}
    assert rows["Pages read"][:2] == ["3", "2"]
    assert rows["Documents"] == ["3", "2", "−1"]
    assert rows["New"] == ["3", "0", "−3"]
    (json_link,) = [one.get("href") for one in page.cssselect(".head .as a")]
    found = administration.browser(Role.READER).get(json_link).json()
    assert found["numbers"]["documents"] == {"first": 3, "second": 2, "difference": -1}
    assert found["outcomes"]["NEW"]["difference"] == -3
    for query, status in (
        ("compare=1", 400),
        ("compare=1&compare=0", 400),
        ("compare=1&compare=9", 404),
        ("", 400),
    ):
        assert administration.status(f"/admin/sources/site/runs?{query}") == status
    assert administration.status("/admin/sources/nothing/runs?compare=1&compare=1") == 404


def test_one_run_has_nothing_beside_it(administration: Administration) -> None:
    assert not administration.get("/admin/sources/site").cssselect("form.compare")


def test_the_number_of_a_run_leads_to_its_report(administration: Administration) -> None:
    administration.workspace.crawl()
    page = administration.get("/admin/sources/site", Role.READER)
    (second, first) = [one.get("href") for one in page.cssselect("tbody th a")]
    run = administration.get(first, Role.READER)
    rows = {row[0]: row[1] for row in (texts(one, "th, td") for one in run.cssselect("tbody tr")) if row[1:]}
    assert (rows["Pages read"], rows["Documents"], rows["New"]) == ("3", "3", "3")
    assert not run.cssselect("tbody a, .path .aside"), "readers see no URLs, and nothing was before"
    run = administration.get(second, Role.EDITOR)
    assert {administration.status(one.get("href"), Role.EDITOR) for one in run.cssselect("tbody a")} == {200}
    (compared,) = [one.get("href") for one in run.cssselect(".path .aside")]
    assert "compare=1&compare=2" in compared
    assert administration.status(compared, Role.READER) == 200
    for number, status in (("0", 400), ("9", 404), ("x", 400), ("9" * 30, 400)):
        assert administration.status(f"/admin/sources/site/runs/{number}") == status


def test_a_saved_definition_is_marked_between_the_runs(administration: Administration) -> None:
    path = "/admin/sources/site/definition"
    page = administration.get(path)
    lines = page.cssselect("textarea")[0].text.removeprefix("\n")
    assert not administration.get("/admin/sources/site").cssselect(".saved"), "nobody has saved one"
    administration.workspace.crawl()
    changed, revision = f"{lines}\n    exclude: [/egret]", page.cssselect("[name=revision]")[0].get("value")
    assert administration.send(path, lines=changed, revision=revision).status_code == 303
    for run in (None, 3):
        page = administration.get("/admin/sources/site")
        assert len(page.cssselect("svg.plot path.saved")) == len(page.cssselect("svg.plot")) == 7
        rows = [
            one.cssselect("th a")[0].text if one.cssselect("th") else "saved"
            for one in page.cssselect("tbody tr")
        ]
        assert rows == (["saved", "2", "1"] if run is None else ["3", "saved", "2", "1"])
        label = page.cssselect("svg.plot")[0].get("aria-label").rpartition(";")[2]
        assert label
        assert (str(run) in label) == (run is not None), label
        (link,) = page.cssselect("tr.saved a")
        assert "user:administrator" in link.text_content()
        assert administration.status(link.get("href")) == 200
        administration.workspace.crawl()
    page = administration.get("/admin/sources/site", Role.READER)
    assert page.cssselect("tr.saved")
    assert "administrator" not in page.text_content(), "who it was, only administrators see"


def test_an_open_page_follows_the_crawl(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, path = administration.supervisor.known, "/admin/sources/site"
    counts = {"fetched": 1200, "queued": 758, "errors": 4, "failed": 1}
    known["site"] = SourceState("site", SourcePhase.RUNNING, "2", counts, begun=wall_time() - 100)
    now = administration.get(path, Role.READER).cssselect("#now")[0]
    figures = dict(zip(texts(now, "dt"), texts(now, "dd"), strict=True))
    assert (figures["Pages read"], figures["URLs that wait"], figures["Errors"]) == ("1,200", "758", "4")
    assert 11 < float(figures["Pages a second"]) <= 12

    def asked(address: str) -> Any:
        return administration.browser().ask("GET", address, headers={"HX-Request": "true"})

    known["site"] = replace(known["site"], live={**counts, "fetched": 1300})
    with monkeypatch.context() as patched:
        patched.setattr(source_routes, "source_status", lambda *_: pytest.fail("a state was read"))
        answer = asked(now.get("hx-get"))
    assert len(answer.content) < 2000
    part = fragment_fromstring(answer.text)
    assert "1,300" in texts(part, "dd")
    assert (part.get("hx-trigger"), part.get("hx-get")) == ("every 2s", now.get("hx-get"))
    ended, seen = SourceState("site", last_end=wall_time()), now.get("hx-get")
    for state, buttons, notices in (
        (replace(known["site"], phase=SourcePhase.PAUSED), "Resume", 0),
        (ended, "Crawl", 1),
        (replace(ended, last_end=ended.last_end + 5), "Crawl", 1),  # a run between two questions
    ):
        known["site"] = state
        answer = asked(seen)
        assert answer.headers["HX-Retarget"] == answer.headers["HX-Reselect"] == "#main"
        page = document_fromstring(answer.text)
        assert texts(page, ".orders button")[-1] == buttons
        links = [one.get("href") for one in page.cssselect("#now .notice a")]
        assert links == [f"{path}/runs/1"] * notices
        seen = page.cssselect("#now")[0].get("hx-get")
        assert "HX-Retarget" not in asked(seen).headers, "it is shown once"
    assert not administration.get(seen).cssselect("#now .notice"), "a page that is loaded shows no news"


def test_a_crawl_that_waits_for_a_site_names_it_in_place_of_a_speed(administration: Administration) -> None:
    known = administration.supervisor.known
    known["site"] = SourceState("site", SourcePhase.RUNNING, "2", {"fetched": 9}, begun=wall_time() - 100)
    figures = len(administration.get("/admin/sources/site").cssselect("#now .figures dt"))
    known["site"] = replace(known["site"], wait=SiteWait("h.test:8080", "refused", wall_time() + 60))
    page = administration.get("/admin/sources/site")
    assert texts(page, "#now .notice code") == ["h.test:8080"]
    assert len(page.cssselect("#now .figures dt")) == figures - 1


@pytest.mark.parametrize(
    ("phase", "begun", "is_known"),
    [
        (SourcePhase.RUNNING, 50.0, True),
        (SourcePhase.RUNNING, 0.0, False),
        (SourcePhase.RUNNING, 99.9, False),
        (SourcePhase.BACKING_OFF, 50.0, False),
        (SourcePhase.IDLE, 50.0, False),
    ],
)
def test_speed_is_known_while_pages_are_read(phase: SourcePhase, begun: float, is_known: bool) -> None:
    live = SourceState("site", phase, live={"fetched": 100}, begun=begun)
    assert speed(live, 100.0) == (2.0 if is_known else None)


def test_a_damaged_history_hides_no_page(administration: Administration) -> None:
    file = versions_folder(administration.project) / "site.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    administration.workspace.crawl()
    assert len(administration.get("/admin/sources/site").cssselect("svg.plot")) == 7


def test_outcomes_lead_to_their_urls(administration: Administration, url: str) -> None:
    page = administration.get("/admin/sources/site")
    links = {" ".join(one.text_content().split()): one.get("href") for one in page.cssselect(".filter a")}
    listed = administration.get(links["New 3"])
    assert texts(listed, ".address") == [f"{url}/", f"{url}/egret", f"{url}/heron"]
    assert administration.status("/admin/sources/site/urls?outcome=NONSENSE") == 400


def test_urls_come_in_parts(
    administration: Administration, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setattr(url_routes, "ROWS", 2)
    monkeypatch.setattr(url_routes, "_BATCH", 2)
    first = administration.get("/admin/sources/site/urls?outcome=NEW")
    following = administration.get(first.cssselect(".pages a[rel=next]")[0].get("href"))
    assert texts(first, ".address") + texts(following, ".address") == [
        f"{url}/",
        f"{url}/egret",
        f"{url}/heron",
    ]
    assert not following.cssselect(".pages a[rel=next]")
    answer = administration.browser().get("/admin/sources/site/urls.csv")
    assert [row["url"] for row in csv.DictReader(StringIO(answer.text))] == [
        f"{url}/",
        f"{url}/egret",
        f"{url}/heron",
    ]


def test_a_submitted_url_is_queued_and_a_known_one_fetched_again(
    administration: Administration, url: str
) -> None:
    path = "/admin/sources/site/submit"
    answer = administration.send(path, Role.EDITOR, url=f"{url}/new")
    assert answer.status_code == 303
    assert administration.status(answer.headers["location"]) == 200
    refused = administration.send(path, url="http://elsewhere.example/", again="1")
    assert refused.status_code == 409
    (field,) = document_fromstring(refused.text).cssselect("[aria-invalid]")
    assert field.get("value") == "http://elsewhere.example/"
    assert document_fromstring(refused.text).cssselect(f"#{field.get('aria-describedby')}[role=alert]")
    assert document_fromstring(refused.text).cssselect("[name=again][checked]")
    assert administration.send(path, url=f"{url}/heron").status_code == 409
    assert administration.send(path, url=f"{url}/heron", again="1").status_code == 303
    assert administration.send(path, Role.READER, url=f"{url}/x").status_code == 403
    assert administration.browser().ask("POST", path, data={"url": f"{url}/x"}).status_code == 403
    assert administration.status(f"/admin/sources/site/url?url={url}/x") == 200
    assert len(administration.get("/admin/sources/site/urls").cssselect(".address")) == 4


def test_an_explanation_is_a_chain_that_says_what_decides(administration: Administration, url: str) -> None:
    page = administration.get(f"/admin/sources/site/url?url={quote(f'{url}/heron')}", Role.EDITOR)
    assert page.cssselect(".verdict.good-box")
    assert not page.cssselect(".decides")
    assert "Heron" in texts(page, ".facts dd")
    excluded = administration.get("/admin/sources/site/url?url=http://elsewhere.example/a")
    (decides,) = texts(excluded, ".decides .stage")
    assert decides == "Host"
    keys = [one.get("title") for one in excluded.cssselect(".chain .stage")]
    assert all(key != word for key, word in zip(keys, texts(excluded, ".chain .stage"), strict=True))
    (form,) = [one for one in excluded.cssselect("form") if one.cssselect("#asked-url")]
    assert administration.status(f"{form.get('action')}?url={quote(f'{url}/heron')}") == 200
    assert excluded.cssselect(".verdict.bad-box")
    assert administration.status("/admin/sources/site/url?url=") == 400
    assert administration.status("/admin/sources/site/url?url=%00") in {200, 400}


def test_the_answer_decides_where_no_rule_excludes_a_url(
    workspace: InProcessWorkspace, site: NetworkSite, url: str
) -> None:
    site.page("/", title="Home", text="words", headers={"X-Robots-Tag": "noindex"})
    workspace.define(f"{url}/")
    workspace.crawl(code=1)
    page = Administration(workspace).get(f"/admin/sources/site/url?url={url}/")
    (decides,) = page.cssselect(".chain .decides")
    assert decides.cssselect(".stage")[0].get("title") == "answer"
    assert decides.cssselect(".hidden")[0].text == "excludes"


def test_what_was_read_has_its_sections_and_its_length(workspace: InProcessWorkspace) -> None:
    site = NetworkSite()
    markup = "<title>Birds</title><p>of the lake<h2 id=nests>Nests</h2><p>made of reed<h2>Eggs</h2><p>white"
    site.file("/", markup.encode(), "text/html")
    with site.serve() as url:
        workspace.define(f"{url}/")
        workspace.crawl()
    administration = Administration(workspace)
    page = administration.get(f"/admin/sources/site/url?url={url}/", Role.EDITOR)
    assert texts(page, ".outline li")[-2:] == ["Nests #nests", "Eggs"]
    document = administration.browser(Role.EDITOR).get(f"/api/v1/documents?source=site&url={url}/").json()
    assert document["characters"] == len("of the lake Nests made of reed Eggs white")
    assert document["sections"][-2]["url"] == f"{url}/#nests"


def test_a_past_run_is_explained(workspace: InProcessWorkspace, url: str) -> None:
    workspace.define(f"{url}/", log={"candidates": True})
    workspace.crawl()
    administration = Administration(workspace)
    page = administration.get(f"/admin/sources/site/url?url={url}/heron&as_of_run=1")
    assert len(page.cssselect(".chain")) == 2
    assert administration.status(f"/admin/sources/site/url?url={url}/heron&as_of_run=77") == 400


def test_what_pages_and_urls_say_is_text(workspace: InProcessWorkspace) -> None:
    site = NetworkSite()
    site.page("/", title=SCRIPT, links=["/a?x=%3Cscript%3E", '/b"onload="x'], text=SCRIPT)
    with site.serve() as url:
        workspace.define(f"{url}/")
        workspace.crawl()
        administration = Administration(workspace)
        for path in (
            "/admin/sources/site/urls",
            f"/admin/sources/site/url?url={url}/",
            f"/admin/sources/site/url?url={quote(SCRIPT)}",
            "/admin/sources/site/url?url=javascript:alert(1)",
        ):
            page = administration.get(path)
            assert not [one for one in page.cssselect("script") if one.text]
            assert not [one for one in page.iter("*") for name in one.attrib if name.startswith("on")]
            assert not [one for one in page.cssselect("[href]") if one.get("href").startswith("javascript")]
