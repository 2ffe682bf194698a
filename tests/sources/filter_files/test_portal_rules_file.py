"""`filterrules.conf`, `classification.conf` and `robot.conf` (portal robot checklist 67, 105 to 127)."""

from __future__ import annotations

from importlib.resources import files

import pytest
from support.filters import page
from support.sentences import sentence

from ultracrawl.dialects.portal_robot.properties import PROPERTIES, read_properties
from ultracrawl.rules.filters.classification import Classifier
from ultracrawl.rules.filters.resource import View
from ultracrawl.sources.filter_files.rules_file import RulesFile, read_classification, read_rules

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"


def rules(text: str) -> RulesFile:
    result, read = read_rules(text)
    assert not read.findings, read.findings
    return result


SITES = """
<FilterRule name=zip>
   Match source=path by=ends-with string=.zip
   Match source="MIME type" by=is string=application/zip
</FilterRule>
<FilterRule name=keep behavior=include>
   Match source=url by=contains string=/keep/
</FilterRule>
<FilterRule name=off enable=off>
   Match source=path by=begins-with string=/
</FilterRule>
<Site name=www.siroe.com>
   Host name=www.siroe.com port=80 protocol=http
   Host name=www2.siroe.com
   Use rule=off
   Use rule=keep
   Use rule=zip
</Site>
<Site name=siroe.net kind=domain>
   Use rule=zip enable=off
</Site>
<FilterRule name=case>
   Match source=host by=is string=Case.COM:8443
   Match source=type by=begins-with string=TEXT/
</FilterRule>
<Site name=case.com>
   Use rule=case
</Site>
<Site name=Bücher.com></Site>
<Site name=port.com:8080></Site>
<Site name="others of ours">
   Host name=two.com:8080
   Host name=::1
   Host name=[::2]:81
</Site>
<Site name=off.com enable=off></Site>
<Site name=any.com>
   Use rule=zip
   Use rule=keep
</Site>
"""
JUDGED = {
    "a host of the site": ("http://www.siroe.com/a", None, ""),
    "rules about hosts": ("http://case.com/a", "text/html", "filter rules"),
    "rules about a host with its port": ("https://case.com:8443/a", None, "filter rules"),
    "another port of it": ("https://case.com/a", None, ""),
    "a host in other letters": ("http://xn--bcher-kva.com/", None, ""),
    "a port in the name": ("http://port.com:8080/", None, ""),
    "a port in the name of a host": ("http://two.com:8080/", None, ""),
    "that port alone": ("http://two.com/", None, "site not allowed"),
    "an address": ("http://[::1]/", None, ""),
    "an address with its port": ("http://[::2]:81/", None, ""),
    "an address on another port": ("http://[::2]/", None, "site not allowed"),
    "a port that is not": ("http://port.com/", None, "site not allowed"),
    "in any case": ("http://WWW.Siroe.com/a", None, ""),
    "another port": ("http://www.siroe.com:8080/a", None, "site not allowed"),
    "another protocol": ("http://www2.siroe.com/a", None, ""),
    "protocol of the host": ("https://www.siroe.com:80/a", None, "protocol not allowed"),
    "portal_robot_105-server has no subdomains": ("http://x.www2.siroe.com/", None, "site not allowed"),
    "portal_robot_105-domain": ("http://siroe.net/", None, ""),
    "portal_robot_105-below the domain": ("http://a.b.siroe.net/x.zip", None, ""),
    "not a label": ("http://notsiroe.net/", None, "site not allowed"),
    "portal_robot_106-no site": ("http://elsewhere.com/", None, "site not allowed"),
    "a site that is off": ("http://off.com/", None, "site not allowed"),
    "excluded": ("http://www2.siroe.com/a.zip", None, "filter rules"),
    "portal_robot_107-the first match decides": ("http://www2.siroe.com/keep/a.zip", None, ""),
    "portal_robot_107-in the order of the site": ("http://any.com/keep/a.zip", None, "filter rules"),
    "portal_robot_67-type not known yet": ("http://any.com/a", None, ""),
    "portal_robot_67-type known": ("http://any.com/a", "application/zip", "filter rules"),
}


def test_sites_and_rules(subtests: pytest.Subtests) -> None:
    for name, (url, media_type, refusal) in JUDGED.items():
        with subtests.test(name):
            decision = rules(SITES).compiled().judge(url, media_type)
            assert (decision.accept, decision.rule if not decision.accept else "") == (not refusal, refusal)


MATCHES = {
    "is": ("source=host by=is string=h.com", True),
    "contains": ("source=url by=contains string=//h.com", True),
    "begins-with": ("source=path by=begins-with string=/a", True),
    "ends-with": ("source=path by=ends-with string=b", True),
    "regex": ("source=path by=regex string=/a.*", True),
    "regex covers all": ("source=path by=regex string=a", False),
    "protocol": ("source=protocol by=is string=http", True),
    "no match": ("source=host by=is string=h", False),
    "portal_robot_108-url and is by default": ("string=http://h.com/a/b", True),
}


def test_portal_robot_108_109_what_rules_test(subtests: pytest.Subtests) -> None:
    for name, (match, excluded) in MATCHES.items():
        with subtests.test(name):
            text = (
                f"<FilterRule name=r>\nMatch {match}\n</FilterRule>\n<Site name=h.com>\nUse rule=r\n</Site>"
            )
            assert rules(text).compiled().judge("http://h.com/a/b").accept is not excluded


def test_portal_robot_111_112_the_predefined_rules() -> None:
    found = rules((DEFAULTS / "filterrules.conf").read_text()).rules
    on = {rule.title for rule in found if rule.enabled and rule.default}
    off = {rule.title for rule in found if not rule.enabled and not rule.default}
    assert (len(found), len(on), len(off)) == (19, 12, 7)
    assert off == {
        "Lotus Domino documents",
        "Lotus Domino OpenViews",
        "Plug-in files",
        "PowerPoint files",
        "Spreadsheet files",
        "System directories (UNIX)",
        "System directories (NT)",
    }


PREDEFINED = {
    "archive-files": "http://h/a.tgz",
    "backup-files": "http://h/a~",
    "cgi-files": "http://h/cgi-bin/x",
    "revision-control-files": "http://h/a/.git/config",
    "temporary-files": "http://h/a/tmp/x",
    "unix-system-directories": "ftp://h/etc/passwd",
    "nt-system-directories": "ftp://h/c/winnt/x",
    "domino-views": "http://h/a.nsf?OpenView",
}


def test_predefined_rules_exclude(subtests: pytest.Subtests) -> None:
    for name, url in PREDEFINED.items():
        with subtests.test(name):
            text = (DEFAULTS / "filterrules.conf").read_text().replace("enable=off", "enable=on")
            site = f"\n<Site name=h>\n   Use rule={name}\n</Site>\n"
            decision = rules(text + site).compiled().judge(url)
            assert (decision.accept, decision.reason) == (False, f"h: {name}")


LEFT_OUT = """
    /app/run.cgi?x=1 /app/run.CGI/info /A.ZIP /x.zip?v=1 /P.JPG /script.PL /tmp /Temp/ /temp?x=1 /a.svg
    /a.webp /a.webm /a.mkv /a.flac /a.tar.xz /a~ /a.c,v?rev=1 /font.woff2 /a.MJS /main.log?day=1
    /get?file=a.zip
"""
KEPT = """
    /zip /a.zipper /a.html?b=.zipped /template/ /attempt /a.svg/x /tmpl/x /a.cgit /a.pdf /a.docx
    /a.html?old
"""


@pytest.mark.parametrize(("paths", "accepted"), [(LEFT_OUT, False), (KEPT, True)], ids=["left out", "kept"])
def test_portal_robot_111_endings_are_compared_without_case_and_query(paths: str, accepted: bool) -> None:
    result = rules((DEFAULTS / "filterrules.conf").read_text())
    judge = result.compiled(starts=["http://h/"]).judge
    assert [path for path in paths.split() if judge(f"http://h{path}").accept is not accepted] == []


def test_portal_robot_115_116_starting_points() -> None:
    text = """<Site name=a.com>
    Start url=http://a.com/x depth=3
    Start url=http://a.com/y depth=-1
    Start url=http://a.com/z enable=off
    </Site>
    <Site name=b.com></Site>
    <Site name=c.com enable=off></Site>"""
    result, read = read_rules(text)
    assert not read.findings
    points = result.starting_points()
    assert [(one.url, one.depth) for one in points] == [
        ("http://a.com/x", 3),
        ("http://a.com/y", -1),
        ("http://b.com/", None),
    ]


WRONG = {
    "rule that is not there": ("<Site name=a>\nUse rule=zip\n</Site>", 2, "no filter rule `zip`"),
    "unknown key": ("<Site name=a kin=domain>\n</Site>", 1, "takes no `kin`"),
    "unknown kind": ("<Site name=a kind=big>\n</Site>", 1, "none of server, domain"),
    "unknown source": ("<FilterRule name=a>\nMatch source=size string=1\n</FilterRule>", 2, "not a source"),
    "unknown comparison": ("<FilterRule name=a>\nMatch by=like string=1\n</FilterRule>", 2, "none of is"),
    "expression": ("<FilterRule name=a>\nMatch by=regex string=(\n</FilterRule>", 2, "expression"),
    "behavior": ("<FilterRule name=a behavior=drop>\n</FilterRule>", 1, "none of exclude"),
    "switch": ("<FilterRule name=a enable=perhaps>\n</FilterRule>", 1, "not on or off"),
    "port": ("<Site name=a>\nHost name=a port=0\n</Site>", 2, "not a whole number"),
    "a port that is none": ("<Site name=a>\nHost name=a port=99999\n</Site>", 2, "1 to 65535"),
    "a test for nothing": ("<FilterRule name=a>\nMatch by=ends-with\n</FilterRule>", 2, "lacks string"),
    "protocol": ("<Site name=a>\nHost name=a protocol=gopher\n</Site>", 2, "is not a protocol"),
    "start": ("<Site name=a>\nStart url=/x\n</Site>", 2, "not a whole URL"),
    "start elsewhere": ("<Site name=a>\nStart url=gopher://a/\n</Site>", 2, "of http, https, ftp"),
    "a URL as a host": ("<Site name=a>\nHost name=http://a/\n</Site>", 2, sentence("values.not_host_name")),
    "a label as a host": ('<Site name="our own">\n</Site>', 1, sentence("values.not_host_name")),
    "depth": ("<Site name=a>\nStart url=http://a/ depth=-2\n</Site>", 2, "not a whole number"),
    "outside of blocks": ("Use rule=a", 1, "outside of every block"),
    "another line": ("<Site name=a>\nMatch by=is\n</Site>", 2, "is not allowed in"),
    "another block": ("<Filter name=a>\n</Filter>", 1, "there is no <filter>"),
    "no name": ("<Site kind=domain>\n</Site>", 1, "lacks name"),
    "twice": ("<Site name=a>\n</Site>\n<Site name=a>\n</Site>", 3, "a second <site>"),
}


def test_mistakes_have_their_line(subtests: pytest.Subtests) -> None:
    for name, (text, line, problem) in WRONG.items():
        with subtests.test(name):
            findings = read_rules(text)[1].findings
            assert any(found.line == line and problem in found.problem for found in findings), findings


CLASSIFY = """
Classify source=host by=is string=www.siroe.com category=Siroe
Classify source=path by=begins-with string=/a category="Siroe:A"
Classify source=author by=contains string=Jordan category="People:Jordan"
Classify source=host by=is string=www.siroe.com category=Siroe
Classify source=host by=is string=other category=Other
"""


@pytest.mark.parametrize("most", [10, 2], ids=["portal_robot_118_120", "portal_robot_119"])
def test_classification(most: int) -> None:
    found, read = read_classification(CLASSIFY)
    assert not read.findings
    view = View(page("<meta name=author content='M. Jordan'>"))
    Classifier(found, most).classify(view)
    assert view.rd["classification"] == ["Siroe", "Siroe:A", "People:Jordan"][:most]


def test_portal_robot_121_fields_of_the_finished_description_count() -> None:
    found, _ = read_classification("Classify source=topic by=is string=x category=X")
    view = View(page())
    view.rd["topic"] = ["x"]
    Classifier(found, 10).classify(view)
    assert view.rd["classification"] == ["X"]


def test_what_is_wrong_with_a_classification() -> None:
    text = "Classify source=host string=a\nClassified x=y\nClassify by=regex string=( category=c"
    assert [found.line for found in read_classification(text)[1].findings] == [1, 2, 3]


SAMPLE = """<Process csid="x-catalog://host.example:80/jack" \\
   auto-proxy="http://proxy.example:80/"
   auto_serv="http://proxy.example:80/"
   command-port=21445
   convert-timeout=600
   depth="-1"
   # email="user@domain"
   enable-ip=true
   loglevel=2
   max-connections=12
   onCompletion=shutdown
   server-delay=1
   smart-host-heuristics=yes
   start=http://a/
   start=http://b/
/half/a/path
</Process>
"""


def test_the_printed_robot_conf() -> None:
    found, read = read_properties(SAMPLE)
    assert [(one.line, one.problem, one.fatal) for one in read.findings] == [
        (16, sentence("robot.stray_line"), False)
    ]
    assert found["csid"] == "x-catalog://host.example:80/jack"
    assert (found["depth"], found["email"], found["loglevel"]) == (-1, "user@domain", 2)
    assert (found["max-concurrent"], found["onCompletion"], found["start"]) == (
        12,
        "quit",
        ("http://a/", "http://b/"),
    )
    assert found["smart-host-heuristics"] is True


DOCUMENTED = {
    "portal_robot_117-depth": 10,
    "portal_robot_124-connect-timeout": 120.0,
    "portal_robot_124-convert-timeout": 600.0,
    "portal_robot_127-loglevel": 1,
    "portal_robot_137-onCompletion": "idle",
    "portal_robot_122-max-concurrent": 8,
    "portal_robot_122-site-max-concurrent": 2,
    "portal_robot_122-server-delay": 0.0,
    "portal_robot_122-enumeration-filter": "enumeration-default",
    "portal_robot_122-index-after-ngenerated": 30,
    "portal_robot_122-max-classifications": 10,
}


def test_documented_defaults(subtests: pytest.Subtests) -> None:
    for name, expected in DOCUMENTED.items():
        with subtests.test(name):
            assert read_properties("<Process csid=a></Process>")[0][name.partition("-")[2]] == expected


BAD = {
    "portal_robot_127-loglevel 6": ("loglevel=6", "0 to 5"),
    "a switch": ("enable-ip=maybe", "true or false"),
    "a number": ("max-concurrent=0", "1 or more"),
    "seconds": ("server-delay=soon", "seconds"),
    "a word": ("onCompletion=stop", "idle or loop or quit"),
    "depth": ("depth=-2", "-1 or more"),
}


@pytest.mark.parametrize(("pair", "problem"), BAD.values(), ids=BAD)
def test_bad_values_are_said(pair: str, problem: str) -> None:
    (found,) = read_properties(f"<Process csid=a \\\n {pair}\n</Process>")[1].findings
    assert (found.line, found.fatal) == (2, True)
    assert problem in found.problem


def test_unknown_properties_are_warnings() -> None:
    (found,) = read_properties("<Process csid=a max-conccurent=3></Process>")[1].findings
    assert (found.fatal, found.instead) == (False, "did you mean `max-concurrent`")


def test_no_process_is_said() -> None:
    assert "no <Process" in read_properties("# nothing")[1].findings[0].problem


def test_every_property_says_what_it_does() -> None:
    assert all(one.effect for one in PROPERTIES.values())
