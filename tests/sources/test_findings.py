"""Every mistake gives one finding with its line, the option, the problem and what to write instead."""

import re
from pathlib import Path

import pytest
from support.named import named
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError
from ultracrawl.sources import load_project, render_findings, require

GOOD = "sources:\n  a: {start_urls: [https://a.example/]}\n"
JARGON = re.compile(
    r"pydantic|validat|extra_forbidden|input_value|_type\b|\bstr\b|\bdict\b|NoneType|Traceback", re.IGNORECASE
)


def findings_of(tmp_path, text):
    file = tmp_path / "ultracrawl.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    loaded = load_project(file)
    assert (loaded.project is None) == bool(loaded.fatal)
    return loaded.findings


def source(options):
    """Return a file with one good source and these options, which begin on line 4."""
    lines = "".join(f"    {line}\n" for line in options.splitlines())
    return f"sources:\n  a:\n    start_urls: [https://a.example/]\n{lines}"


CASES = {
    # id: (options of the source, line, key below sources.a, part of the problem, part of the advice)
    "unknown option": ("dept: 3", 4, "dept", "unknown option `dept`", "write `depth`"),
    "unknown option without likeness": (
        "zzz: 3",
        4,
        "zzz",
        "unknown option `zzz`",
        "`ultracrawl schema`",
    ),
    "unknown option of a section": (
        "keep: true",
        4,
        "keep",
        "unknown option",
        "write `storage: {keep: true}`",
    ),
    "unknown option of two sections": (
        "delay: 5",
        4,
        "delay",
        "unknown option",
        "write `politeness: {delay: 5}` or `javascript: {delay: 5}`",
    ),
    "unknown option of the level above": (
        "limits:\n  depth: 3",
        5,
        "limits.depth",
        "unknown option",
        "write `depth` one level above",
    ),
    "unknown option in a group": (
        "robots:\n  nme: x",
        5,
        "robots.nme",
        "unknown option `nme`",
        "write `name`",
    ),
    "unknown option deep down": (
        "boundary:\n  paths:\n    a.example:\n      includes: [/x]",
        7,
        "boundary.paths.a.example.includes",
        "unknown option",
        "write `include`",
    ),
    "type": ("type: wbe", 4, "type", sentence("definitions.no_type_source_wbe"), "write `web`"),
    "depth below 0": ("depth: -1", 4, "depth", "less than 0", "`FULL`"),
    "depth is text": ("depth: deep", 4, "depth", sentence("definitions.deep_not_depth"), "`FULL`"),
    "depth is true": ("depth: true", 4, "depth", sentence("definitions.true_not_depth"), "`FULL`"),
    "boolean": ("robots: {obey: maybe}", 4, "robots.obey", "neither true nor false", "`true` or `false`"),
    "number": (
        "politeness: {delay: slow}",
        4,
        "politeness.delay",
        sentence("definitions.slow_not_number"),
        "`delay: 0.5`",
    ),
    "number too small": ("politeness: {delay: -1}", 4, "politeness.delay", "is less than 0", "`delay: 0.5`"),
    "not a number at all": ("politeness: {delay: .nan}", 4, "politeness.delay", "is not", "`delay: 0.5`"),
    "whole number": (
        "limits: {redirects: 1.5}",
        4,
        "limits.redirects",
        "not a whole number",
        "`redirects: 10`",
    ),
    "text expected": ("user_agent: 12", 4, "user_agent", "`12` is not a text", "in quotes"),
    "header text": ('user_agent: "a\\nCookie: b"', 4, "user_agent", "cannot be sent", "one line"),
    "group expected": ("robots: yes please", 4, "robots", "`yes please` is not a group", "robots: {"),
    "list expected": ("types: {a: b}", 4, "types", "is not a list", "types: ["),
    "size": (
        "limits: {max_size: 3 apples}",
        4,
        "limits.max_size",
        sentence("definitions.3_apples_not_size"),
        "`20 MB`",
    ),
    "size zero": ("limits: {max_size: 0}", 4, "limits.max_size", "less than one byte", "`20 MB`"),
    "redirects": ("redirects: strickt", 4, "redirects", "not a known value", "write `strict`"),
    "media type": ("types: [html]", 4, "types", sentence("definitions.html_not_media_type"), "`text/html`"),
    "fast_39_example_35 wildcard in a field": (
        "types: ['*/html']",
        4,
        "types",
        "not a media type",
        "`text/*`",
    ),
    "wildcard within a field": ("types: [application/ms*]", 4, "types", "not a media type", "`text/*`"),
    "charset": ("default_charset: ebcdic-x", 4, "default_charset", "`ebcdic-x` is not known", "`iso-8859-1`"),
    "acl": ('acl: [staff, ""]', 4, "acl", sentence("definitions.form_not_allowed"), "`acl: [staff]`"),
    "trust": (
        "languages: {trust: text}",
        4,
        "languages.trust",
        "`text` is not",
        "`declared`, `detected` or `both`",
    ),
    "language": ("default_language: English please", 4, "default_language", "not a language code", "`en`"),
    "name of a language": ("default_language: German", 4, "default_language", "not a language code", "`de`"),
    "a language by its own name": (
        "default_language: Deutsch",
        4,
        "default_language",
        "not a language code",
        "`en`",
    ),
    "misspelt language": ("default_language: Germn", 4, "default_language", "not a language code", "`de`"),
    "setting in lower case": (
        "settings: {log_level: INFO}",
        4,
        "settings.log_level",
        "`log_level`",
        "LOG_LEVEL",
    ),
    "class": ("class: MySpider", 4, "class", "`MySpider`", "mypackage.spiders.MySpider"),
    "search attribute": (
        "attributes: {a: Autor}",
        4,
        "attributes.a",
        "no search attribute `Autor`",
        "write `Author`",
    ),
    "beginning of names": ('attributes: {"doc:*": Author}', 4, "attributes.doc:*", "`Author`", "whole names"),
    "name inside": ("name: b", 4, "name", "unknown option `name`", "remove it"),
    "expression": (
        'boundary:\n  domains:\n    include:\n      - a.example\n      - {regexp: "www(\\\\d+.example"}',
        8,
        "boundary.domains.include",
        "`www(\\d+.example` cannot be used: missing )",
        "RE2",
    ),
    "expression of no engine": (
        'boundary: {uris: {exclude: [{regexp: "(?!x.*"}]}}',
        4,
        "boundary.uris.exclude",
        "`(?!x.*` cannot be used",
        "RE2",
    ),
    "kind of rule": (
        "boundary: {domains: {include: [{sufix: a.example}]}}",
        4,
        "boundary.domains.include",
        sentence("definitions.unknown_kind_rule_sufix"),
        "write `suffix`",
    ),
    "two kinds": (
        "boundary: {domains: {include: [{suffix: a, prefix: b}]}}",
        4,
        "boundary.domains.include",
        "this one has 2",
        "`exact`",
    ),
    "URL as host": (
        "boundary: {domains: {include: ['https://a.example/x']}}",
        4,
        "boundary.domains.include",
        sentence("values.not_host_name"),
        "`a.example`",
    ),
    "asterisk in front": (
        "boundary: {domains: {include: ['*.a.example']}}",
        4,
        "boundary.domains.include",
        "asterisk in front",
        "`.a.example`",
    ),
    "mask": (
        "boundary: {domains: {exclude: [{mask: 1.2.3}]}}",
        4,
        "boundary.domains.exclude",
        "1.2.3",
        "192.0.2.0/24",
    ),
    "exclude all": (
        "boundary: {domains: {exclude: ['*']}}",
        4,
        "boundary.domains",
        "excludes every host",
        "name the hosts",
    ),
    "path": (
        "boundary: {paths: {a.example: {include: [docs]}}}",
        4,
        "boundary.paths.a.example.include",
        "`docs`",
        "`/docs`",
    ),
    "host of paths": (
        "boundary: {paths: {'a.example/x': {}}}",
        4,
        "boundary.paths.a.example/x",
        "not a host name",
        "one host",
    ),
    "ultra_search_67 both port lists": (
        "boundary:\n  ports:\n    a.example: {include: [443], exclude: [80]}",
        6,
        "boundary.ports.a.example",
        sentence("definitions.ports_include_ports_exclude"),
        "only one",
    ),
    "port": (
        "boundary: {ports: {a.example: {include: [70000]}}}",
        4,
        "boundary.ports.a.example.include",
        "70000",
        "443",
    ),
    "URL rule": (
        "boundary: {uris: {include: [/docs]}}",
        4,
        "boundary.uris.include",
        "`/docs`",
        "with its scheme",
    ),
    "scheme": (
        "boundary: {schemes: [gopher]}",
        4,
        "boundary.schemes",
        "`gopher`",
        "`http`, `https` or `ftp`",
    ),
    "no scheme": ("boundary: {schemes: []}", 4, "boundary.schemes", "is empty", "schemes: [https]"),
    "network": ("boundary: {networks: [10.1.0.5/16]}", 4, "boundary.networks", "bits set", "`10.1.0.0/16`"),
    "extension": (
        "boundary: {exclude_extensions: ['a b']}",
        4,
        "boundary.exclude_extensions",
        "`a b`",
        "`.zip`",
    ),
    "tag": ("depth: !!python/object:os.system 3", 4, "depth", "has no meaning", "without a tag"),
    "written twice": (
        "depth: 1\ndepth: 2",
        5,
        "depth",
        sentence("definitions.written_twice_first_on_line"),
        "keep one",
    ),
}


def test_one_mistake_one_finding(tmp_path, subtests):
    for name, (options, line, key, problem, instead) in CASES.items():
        with subtests.test(name):
            (finding,) = findings_of(tmp_path, source(options))
            assert (finding.line, finding.key, finding.fatal) == (line, f"sources.a.{key}", True)
            assert problem in finding.problem
            assert instead in finding.instead
            assert not JARGON.search(str(finding))
            assert str(finding).startswith(f"{tmp_path / 'ultracrawl.yaml'}:{line} - sources.a.{key} - ")


START_URLS = {
    "no scheme": ("[a.example]", "not an absolute URL", "`https://a.example`"),
    "no IPv6 address": ("['http://[']", "not an absolute URL", "https://www.example.com/"),
    "not a URL": ("['https://']", "not an absolute URL", "https://www.example.com/"),
    "other scheme": ("['ftp://a.example/']", sentence("definitions.scheme_not_crawled"), "`schemes`"),
    "script": ("['javascript:alert(1)']", "not an absolute URL", "https://www.example.com/"),
    "too long": (f"['https://a.example/{'x' * 3000}']", "longer", "url_length"),
    "password": (
        "['https://me:secret@a.example/']",
        sentence("definitions.example_holds_user_name_password"),
        "remove",
    ),
    "empty list": ("[]", "no start URL", "start_urls: ["),
    "empty text": ("''", "no start URL", "start_urls: ["),
    "number": ("5", "not a list", "start_urls: ["),
}


def test_start_urls(tmp_path, subtests):
    for name, (value, problem, instead) in START_URLS.items():
        with subtests.test(name):
            (finding,) = findings_of(tmp_path, f"sources:\n  a:\n    start_urls: {value}\n")
            assert (finding.line, finding.key) == (3, "sources.a.start_urls")
            assert problem in finding.problem
            assert instead in finding.instead
            assert "secret" not in str(finding)


def test_ultra_search_29_a_source_without_start_urls_is_refused(tmp_path):
    (finding,) = findings_of(tmp_path, "sources:\n  a:\n")
    assert (finding.line, finding.key) == (2, "sources.a.start_urls")


def test_a_start_url_outside_its_own_boundary_is_only_advice(tmp_path):
    text = source("boundary: {domains: {include: [.example.org]}}")
    (finding,) = findings_of(tmp_path, text)
    assert (finding.line, finding.fatal) == (3, False)
    assert finding.key == "sources.a.start_urls"
    assert render_findings([finding]).endswith("(advice)")


WERE_HEADERS = [
    ("attributes: {ETag: Subject}", 4, "attributes.etag"),
    ("attributes:\n  date: Subject\n  server: Subject", 6, "attributes.server"),
    ("extract: {Subject: '{expires}!'}", 4, "extract.subject"),
    ("extract: {Subject: {regexp: '\\d+', of: Age}}", 4, "extract.subject"),
]


def test_a_name_that_was_a_header_is_advice_that_cures_it(tmp_path, subtests):
    for options, line, key in WERE_HEADERS:
        with subtests.test(options):
            (finding,) = findings_of(tmp_path, source(options))
            assert (finding.line, finding.key, finding.fatal) == (line, f"sources.a.{key}", False)
            was, meant = named(finding.problem)[0], named(finding.instead)[0]
            assert meant == f"header.{was}"
            assert findings_of(tmp_path, source(re.sub(was, meant, options, flags=re.IGNORECASE))) == ()


NO_HEADERS = [
    "attributes: {date: Subject}",
    "attributes: {header.date: Subject, header.etag: Subject}",
    "attributes: {etag: Subject}\nextract: {etag: {css: .tag}}",
    "attributes: {expires: Subject}\nfilters: {file: filter.conf}",
]


def test_other_names_are_no_headers(tmp_path, subtests):
    for options in NO_HEADERS:
        with subtests.test(options):
            (tmp_path / "filter.conf").write_text("")
            assert [one for one in findings_of(tmp_path, source(options)) if "attributes" in one.key] == []


HEAD = {
    "ultra_search_51 delete": ("attributes:\n  Author:\n", 2, "attributes.Author", "cannot be deleted"),
    "ultra_search_51 redefine": (
        "attributes:\n  title: number\n",
        2,
        "attributes.title",
        sentence("definitions.title_one_eight"),
    ),
    "ultra_search_52 type": (
        "attributes: {Price: money}\n",
        1,
        "attributes.Price",
        sentence("definitions.money_not_known_value"),
    ),
    "attribute name": ("attributes: {a-b: string}\n", 1, "attributes.a-b", "`a-b`"),
    "case twins": (
        "attributes: {Price: number, price: string}\n",
        1,
        "attributes.price",
        sentence("definitions.only_upper_lower_case"),
    ),
    "engine": ("index: {engine: lucene}\n", 1, "index.engine", "there is no index engine `lucene`"),
    "cache size": ("cache: {size: big}\n", 1, "cache.size", sentence("definitions.big_not_size")),
    "unknown": ("inex: x\n", 1, "inex", "unknown option `inex`"),
    "option of a source": ("dpth: 3\n", 1, "dpth", "unknown option `dpth`"),
    "start_urls in defaults": ("defaults:\n  start_urls: [x]\n", 2, "defaults.start_urls", "unknown option"),
    "mistake in defaults, once": ("defaults:\n  depth: no\n", 2, "defaults.depth", "is not a depth"),
}


def test_mistakes_outside_sources(tmp_path, subtests):
    for name, (text, line, key, problem) in HEAD.items():
        with subtests.test(name):
            (finding,) = findings_of(tmp_path, text + GOOD)
            assert (finding.line, finding.key) == (line, key)
            assert problem in finding.problem
            assert not JARGON.search(str(finding))


UNREADABLE = {
    "empty": (b"", "is empty"),
    "comments only": (b"# nothing\n", "is empty"),
    "list": (b"- a\n", "a list instead of options"),
    "text": (b"hello\n", "`hello` instead of options"),
    "no sources": (b"sources:\n", "no source is defined"),
    "sources are a list": (b"sources: [a]\n", sentence("definitions.list_not_group_sources")),
    "binary": (b"\x00\x01\x02", sentence("values.not_text_file")),
    "utf-16": ("sources: {}".encode("utf-16"), "in the encoding UTF-16"),
    "not utf-8": (b"sources:\n  a: \xff\n", "is not UTF-8"),
    "control characters": (b"a: \x01\n", "is not YAML"),
    "open bracket": (b"sources: [a\n", sentence("definitions.opened_not_closed")),
    "escape": (b'a: "\\d"\n', "begins an escape"),
    "tab": (b"sources:\n\ta: 1\n", "indented with a tab"),
    "indentation": (
        b"sources:\n  a:\n    depth: 1\n   only: /\n",
        sentence("definitions.3_blanks_one_above_4"),
    ),
    "colon in a value": (b"sources:\n  a:\n    description: a: b\n", sentence("definitions.colon")),
    "two documents": (b"a: 1\n---\nb: 2\n", "second document"),
    "unknown alias": (b"a: *b\n", "begins with `*`"),
    "endless alias": (b"sources: &a\n  x: *a\n", "inside its own anchor"),
    "deep brackets": (b"[" * 200_000, "levels deep"),
    "deep brackets, closed": (b"[" * 100_000 + b"]" * 100_000, "levels deep"),
    "deep blocks": ("".join(" " * i + "a:\n" for i in range(200)).encode(), "levels deep"),
    "alias bomb": (
        b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 12)),
        "aliases counted",
    ),
    "merge bomb": (
        b"a0: &a0 {k: [1,2,3,4,5,6,7,8,9]}\n"
        + b"".join(
            b"a%d: &a%d {%s}\n" % (i, i, b",".join(b"k%d: *a%d" % (j, i - 1) for j in range(10)))
            for i in range(1, 12)
        ),
        "aliases counted",
    ),
    "list as option name": (b"? [a]\n: b\n", sentence("definitions.where_name_option_belongs")),
}


def test_files_that_hold_no_definition(tmp_path, subtests):
    for name, (data, problem) in UNREADABLE.items():
        with subtests.test(name):
            findings = findings_of(tmp_path, data)
            assert problem in findings[0].problem
            assert findings[0].fatal
            assert not JARGON.search(str(findings[0]))


SOURCE = "sources:\n  a:\n    start_urls: [https://a.example/]\n"
AT_A_LINE = {
    "asterisk in a list": (f"{SOURCE}    exclude: [*.pdf]\n", 4, "'*...'"),
    "asterisk of an item": (f"{SOURCE}    exclude:\n      - *.pdf\n", 5, "'*...'"),
    "asterisk of a value": (f"{SOURCE}    exclude: *.pdf\n", 4, "'*...'"),
    "at": (f"{SOURCE}    user_agent: @bot\n", 4, "'@...'"),
    "backtick": (f"{SOURCE}    user_agent: `bot`\n", 4, "'`...'"),
    "no blank, last line": (f"{SOURCE}    depth:3\n", 4, "`depth: ...`"),
    "no blank, between lines": (
        "sources:\n  a:\n    depth:3\n    start_urls: [https://a.example/]\n", 3, "`depth: ...`"
    ),
    "no blank, alone": ("sources:\n  a:\n    start_urls:[https://a.example/]\n", 2, "`start_urls: ...`"),
    "no blank before a group": ("sources:\n  a:{start_urls: [https://a.example/]}\n", 2, "`a: ...`"),
    "no blank in a group": (f"{SOURCE}    politeness: {{delay:3}}\n", 4, "`delay: ...`"),
    "equals sign": (f"{SOURCE}    depth = 3\n", 4, "`depth: ...`"),
    "open brace": (f"{SOURCE}    politeness: {{delay: 3\n    depth: 3\n", 4, "close it"),
    "comment in a list": (f"{SOURCE}    only: [/a/ #b]\n    depth: 3\n", 4, "begins a comment"),
    "quotes in a value": (f"{SOURCE}    user_agent: 'it's'\n", 4, '`user_agent: "..."`'),
    "password": ("sources:\n  a:\n    password:s3cret\n    depth: 3\n", 3, "`password: ...`"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "instead"), AT_A_LINE.values(), ids=AT_A_LINE)
def test_slips_in_yaml_name_the_line_and_what_to_write(tmp_path, text, line, instead):
    found = [finding for finding in findings_of(tmp_path, text.encode()) if finding.fatal]
    assert [finding.line for finding in found] == [line]
    assert instead in found[0].instead
    assert "s3cret" not in str(found[0])


def test_a_definition_in_utf_16_is_called_so(tmp_path):
    (finding,) = findings_of(tmp_path, SOURCE.encode("utf-16"))
    assert (finding.line, finding.fatal) == (1, True)
    assert "UTF-16" in finding.problem


def test_missing_file_and_folder(tmp_path):
    (missing,) = load_project(tmp_path / "none.yaml").findings
    assert (missing.file, missing.line, missing.fatal) == (str(tmp_path / "none.yaml"), 0, True)
    (empty,) = load_project(tmp_path).findings
    assert (empty.file, empty.line, empty.fatal) == (str(tmp_path), 0, True)
    (package,) = load_project("no_such_package_here:folder").findings
    assert (package.fatal, named(package.problem)) == (True, ["no_such_package_here"])


def test_all_mistakes_at_once_in_the_order_of_lines(tmp_path):
    text = (
        "index: {engine: lucene}\n"
        "dfaults: {}\n"
        "sources:\n"
        "  a:\n"
        "    start_urls: [a.example]\n"
        "    dept: 3\n"
        "    robots: {obey: maybe}\n"
        "    attributes: {x: Autor}\n"
        "  b: 5\n"
        "  'c d':\n"
        "    start_urls: [https://c.example/]\n"
        "    depth: x\n"
        "  a: {}\n"
    )
    findings = findings_of(tmp_path, text)
    assert [(finding.line, finding.key) for finding in findings] == [
        (1, "index.engine"),
        (2, "dfaults"),
        (5, "sources.a.start_urls"),
        (6, "sources.a.dept"),
        (7, "sources.a.robots.obey"),
        (8, "sources.a.attributes.x"),
        (9, "sources.b"),
        (10, "sources.c d"),
        (12, "sources.c d.depth"),
        (13, "sources.a"),
    ]


def test_require_raises_the_users_error_with_all_fatal_findings(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(source("dept: 3\nredirects: x"))
    with pytest.raises(DefinitionError) as raised:
        require(load_project(file))
    assert isinstance(raised.value, UserError)
    assert len(raised.value.findings) == 2
    assert str(raised.value).count("\n") == 1


def test_a_folder_given_as_a_definition_of_its_own_kind(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.yaml").write_text("start_urls: [https://a.example/]\ndepht: 1\n")
    (tmp_path / "ultracrawl.yaml").write_text("defaults: {dept: 1}\n")
    findings = load_project(tmp_path).findings
    assert [(Path(finding.file).name, finding.line) for finding in findings] == [
        ("ultracrawl.yaml", 1),
        ("a.yaml", 2),
    ]


SEARCHED = [("Autor", False), ("Price", False), ("Writer", True), ("Author", True)]


def test_searched_attributes_are_texts_that_exist(tmp_path, subtests):
    for name, right in SEARCHED:
        with subtests.test(name):
            found = findings_of(
                tmp_path,
                f"attributes: {{Price: number, Writer: string}}\nsearched_attributes: [{name}]\n"
                "sources: {a: {start_urls: https://a.example/}}\n",
            )
            places = [(one.line, one.key) for one in found if one.fatal]
            assert places == ([] if right else [(2, "searched_attributes")])
