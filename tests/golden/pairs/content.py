"""What becomes of an answer: attributes, formats, character sets, languages, filters, storage."""

from __future__ import annotations

import gzip
import io
import zipfile

from support import files

from golden.pair import Change, pair
from golden.stage import Stage

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pair(
    kill_at=5,
    then=(("lists", "--json"), ("search", "--json", "--language", "de", "--where", "Country=de", "page")),
)
def attributes(on: Stage) -> Change:
    """Attributes of all types, from META, rules and JSON-LD, with lists of values."""
    on.define(
        {
            "attributes": {"Country": "string", "Price": "number", "Published": "date", "Product": "string"},
            "lists": {"Country": {"de": {"en": "Germany", "de": "Deutschland"}, "fr": "France", "xx": None}},
        },
        attributes={
            "country": "Country",
            "dc.date": "Published",
            "date": "Published",
            "header.x-maker": "Product",
            "product-name": "Product",
            "og:title": "Product",
        },
        extract={
            "Subject": "=Handbook",
            "Price": {"css": ".price"},
            "Description": "{host}/{title}",
            "product-name": [
                {"regexp": r"/products/(\w+)", "of": "url"},
                {"xpath": "//span[@id='sku']/text()"},
            ],
            "Author": {"css": "meta[name=writer]", "attribute": "content", "urls": [f"{on.url}/a"]},
        },
        description_fallback=True,
        default_language="sv",
    )
    site = on.site
    site.write(
        "/",
        "Start",
        "a page with a text that describes itself, as it has no description",
        ["/a", "/products/chair"],
        lang=None,
    )
    meta = {
        "country": "de",
        "dc.date": "2024-02-03",
        "writer": "Jo Lee",
        "author": "not Jo",
        "keywords": "x, y",
        "description": "given",
    }
    head = "".join(f'<meta name="{name}" content="{value}">' for name, value in meta.items())
    site.write("/a", "A", "page", ["/b"], head=head, body='<p class="price">12.50</p>')
    site.write(
        "/products/chair",
        "Chair",
        "page",
        head='<meta property="og:title" content="Seat"><meta name="x-maker" content="no maker">',
        body='<span id="sku">S7</span>',
        headers={"X-Maker": "Oak & Co"},
    )
    ld = '{"@context": "https://schema.org", "@type": "Article", "author": {"name": "Ann"}}'
    wrong = '<meta name="dc.date" content="yesterday"><meta name="country" content="fr">'
    site.write(
        "/b",
        "B",
        "page",
        head=f'{wrong}<script type="application/ld+json">{ld}</script>',
        body='<p class="price">dear</p>',
    )

    def change() -> None:
        site.write(
            "/a", "A", "page", ["/b"], head=head.replace('"de"', '"fr"'), body='<p class="price">13</p>'
        )

    return change


def stored_zip(members: dict[str, str]) -> bytes:
    """Return a zip file whose size depends on no library."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def word(text: str, link: str) -> bytes:
    """Return a small document of Word."""
    space = "http://schemas.openxmlformats.org"
    kind = f"{space}/officeDocument/2006/relationships/hyperlink"
    relation = f'<Relationship Id="r1" Type="{kind}" Target="{link}" TargetMode="External"/>'
    relations = f'<Relationships xmlns="{space}/package/2006/relationships">{relation}</Relationships>'
    return stored_zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"/>',
            "word/document.xml": f'<w:document xmlns:w="{space}/wordprocessingml/2006/main">'
            f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
            "word/_rels/document.xml.rels": relations,
            "docProps/core.xml": f'<cp:coreProperties xmlns:cp="{space}/package/2006/metadata/core-properties" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Word</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>',
        }
    )


@pair(kill_at=6)
def documents(on: Stage) -> Change:
    """Formats that are converted, those inside others, and what cannot be converted."""
    on.define(
        types=["text/html", "text/plain", "documents", "mail", "archives", "data"], conversion={"nesting": 2}
    )
    site = on.site
    made = {
        "/a.pdf": (
            files.pdf(["portable words"], link=f"{on.url}/from-pdf", title="Portable"),
            "application/pdf",
        ),
        "/a.docx": (word("office words", f"{on.url}/from-word"), WORD),
        "/a.rtf": (files.rtf("rich words"), "application/rtf"),
        "/a.eml": (
            b"Subject: Mail\nFrom: ann@mail.example\nDate: Fri, 01 Mar 2024 12:00:00 +0000\n\nmailed words\n",
            "message/rfc822",
        ),
        "/a.zip": (
            stored_zip({"inside.txt": "packed words", "page.html": "<title>P</title>zipped words"}),
            "application/zip",
        ),
        "/a.csv": (b"name,size\nbeaver,12\notter,7\n", "text/csv"),
        "/a.json": (b'{"animal": "heron", "legs": 2}', "application/json"),
        "/a.xml": (b"<?xml version='1.0'?><animals><one>badger</one></animals>", "application/xml"),
        "/broken.pdf": (b"%PDF-1.7\nnothing of the kind", "application/pdf"),
        "/locked.pdf": (files.locked_pdf(), "application/pdf"),
        "/a.bin": (bytes(range(256)), "application/octet-stream"),
    }
    site.write("/", "Start", "", list(made))
    for path, (body, kind) in made.items():
        site.file(path, body, kind)
    site.write("/from-pdf", "From PDF", "a link of a PDF led here")
    site.write("/from-word", "From Word", "a link of Word led here")

    def change() -> None:
        site.file("/a.csv", b"name,size\nfox,9\n", "text/csv")
        site.remove("/a.rtf")

    return change


@pair(kill_at=6)
def types_and_charsets(on: Stage) -> Change:
    """Types, what is only followed, what bytes show, cuts, headers that drop, character sets, compressed answers."""
    on.define(
        types=["text/html", "text/plain"],
        follow_only_types=["application/xhtml+xml"],
        detect_types=True,
        cut_off="1 KB",
        truncate=True,
        exclude_headers={"X-State": ["draft", "old.*"]},
        default_charset="windows-1252",
        http={"compression": True},
        politeness={"backoff": {"longest": 0}},
    )
    site = on.site
    made = {
        "/latin": ("<title>Latin</title>Gr\xfc\xdfe".encode("latin-1"), "text/html"),
        "/utf8": ("<meta charset=utf-8><title>UTF</title>Grüße".encode(), "text/html"),
        "/bom": ("\ufeff<title>BOM</title>Grüße".encode("utf-16-le"), "text/html"),
        "/header": ("<title>Greek</title>Αθήνα".encode("iso-8859-7"), "text/html; charset=iso-8859-7"),
        "/wrong": ("<meta charset=koi8-r><title>Both</title>Grüße".encode(), "text/html; charset=utf-8"),
        "/disguised": (b"<html><body>in truth a page</body></html>", "image/png"),
        "/picture": (b"\x89PNG\r\n\x1a\n" + bytes(50), "text/html"),
        "/long": (b"<title>Long</title>" + b"<p>word</p>" * 200 + b"end", "text/html"),
        "/strict": (
            b'<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="/by-strict">x</a></body></html>',
            "application/xhtml+xml",
        ),
        "/text": (b"plain words\n", "text/plain"),
        "/empty": (b"", "text/html"),
        "/style": (b"p {}", "text/css"),
        "/none": (b"<title>None</title>no type at all", ""),
    }
    site.write("/", "Start", "", [*made, "/draft", "/older", "/gzip", "/not-gzip"])
    for path, (body, kind) in made.items():
        site.file(path, body, kind)
    site.write("/draft", "Draft", "", headers={"X-State": "draft"})
    site.write("/older", "Old", "", headers={"X-State": "older"})
    packed = gzip.compress(b"<title>Packed</title>packed words", mtime=0)
    site.file("/gzip", packed, "text/html", headers={"Content-Encoding": "gzip"})
    site.file("/not-gzip", b"<title>Lie</title>not packed", "text/html", headers={"Content-Encoding": "gzip"})
    site.write("/by-strict", "By strict", "found in XHTML")

    def change() -> None:
        on.define(
            types=["text/html", "text/plain"], cut_off="1 KB", truncate=False, http={"compression": False}
        )

    return change


@pair(kill_at=4)
def languages(on: Stage) -> Change:
    """Only some languages are kept; links lead through others for a hop; some hosts are exempt."""
    on.define(
        focused={"languages": ["german", "unknown"], "depth": 1, "exempt": ["127.0.0.2"], "detect": False},
        boundary={"domains": {"include": ["127.0.0.1", "127.0.0.2"]}},
        log={"screened": True},
    )
    site = on.site
    site.write("/", "Anfang", "Hier beginnt es", ["/en", "/de", "/none", f"{on.second}/en"], lang="de")
    site.write("/en", "English", "a page", ["/en/1"], lang="en")
    site.write("/en/1", "English again", "another page", ["/en/2"], lang="en")
    site.write("/en/2", "Deutsch, zu weit", "noch eine Seite", lang="de")
    site.write("/de", "Deutsch", "eine Seite", ["/fr"], lang="de-AT")
    site.write("/fr", "Français", "une page", headers={"Content-Language": "fr"}, lang=None)
    site.write("/none", "12345", "67890", lang=None)

    def change() -> None:
        site.write("/en", "Deutsch nun", "eine Seite", ["/en/1"], lang="de")
        site.write("/de", "English now", "a page", ["/fr"], lang="en")

    return change


@pair(kill_at=5, then=(("reindex", "--json"), ("search", "--json", "kept")), files=("var/links/*.txt",))
def storage(on: Stage) -> Change:
    """Bodies are kept, documents made again from them, links written down."""
    top = {"attributes": {"Team": "string"}}
    keep = {
        "keep": True,
        "form": "files",
        "duplicates": True,
        "clusters": 2,
        "link_lists": "var/links",
        "compress_exclude": ["text/plain"],
    }
    on.define(top, storage=keep)
    site = on.site
    site.write("/", "Start", "", ["/a", "/copy", "/b.txt"], head='<meta name="team" content="red">')
    site.write("/a", "A", "kept words", head='<meta name="team" content="blue">')
    site.write("/copy", "A", "kept words", head='<meta name="team" content="blue">')
    site.file("/b.txt", b"kept words of a text", "text/plain")

    def change() -> None:
        on.define(top, storage=keep, attributes={"team": "Team"})
        site.write("/a", "A", "kept words, changed", head='<meta name="team" content="green">')

    return change


@pair(kill_at=5, then=(("search", "--json", "called"),))
def relations(on: Stage) -> Change:
    """What documents tell of others: duplicates, redirects, mirrors, META values, links, referrers; texts of links."""
    on.define(
        relations={
            "tell": ["duplicates", "redirects", "mirrors", "metadata"],
            "links": True,
            "referrers": 5,
            "listed": 2,
        },
        duplicates={"by": "body", "listed": 1, "always_listed": ".*/kept-.*", "follow_links": False},
        sites={"aliases": {"127.0.0.2": "127.0.0.1"}},
        boundary={"domains": {"include": ["127.0.0.1", "127.0.0.2"]}},
    )
    site = on.site
    site.write(
        "/",
        "Start",
        "",
        {"/a": "called one", "/b": "called two", "/moved": "called moved", "/same-1": "x", "/same-2": "y"},
    )
    site.write(
        "/a", "A", "first", {"/b": "called three", "/kept-same": "z"}, head='<meta name="team" content="red">'
    )
    site.write("/b", "B", "second", {f"{on.second}/a": "called by an alias", "/": "home"})
    for path in ("/same-1", "/same-2", "/kept-same"):
        site.write(path, "Same", "same", ["/behind-a-duplicate"] if path == "/kept-same" else [])
    site.redirect("/moved", "/b")

    def change() -> None:
        site.write("/a", "A", "first", {"/kept-same": "z"}, head='<meta name="team" content="blue">')
        site.write("/moved", "Not moved", "stays here")

    return change


@pair(kill_at=5)
def filters_in_yaml(on: Stage) -> Change:
    """Filters, functions and classification of the portal robot in a source of YAML."""
    on.file("scrapy.cfg", "[settings]\n")
    on.file("own_filters.py", "def by_department(pb, csf, csr):\n    csr.rd['department'] = [pb['name']]\n")
    on.file(
        "config/filter.conf",
        '<Filter name="enumeration-default">\n   MetaData fn=filter-by-prefix src=path deny="/private/"\n'
        "   Enumerate fn=enumerate-urls max=1024 type=text/html\n</Filter>\n"
        '<Filter name="generation-default">\n'
        '   MetaData fn=filter-by-prefix src=path deny="/private/"\n'
        '   MetaData fn=filter-by-exact src=path deny="/list"\n'
        "   Data fn=assign-source dst=content-charset src=content-charset\n"
        "   Generate fn=extract-html-meta truncate=200 type=text/html\n"
        "   Generate fn=extract-full-text truncate=4096 dst=full-text\n"
        "   Generate fn=by-department name=Sales\n</Filter>\n",
    )
    on.file(
        "config/classification.conf",
        'Classify source=path by=begins-with string="/hr/" category="Company:Staff"\n',
    )
    on.define(
        filters={
            "functions": {"by-department": "own_filters.by_department"},
            "file": "config/filter.conf",
            "classification": "config/classification.conf",
            "max_classifications": 3,
        }
    )
    site = on.site
    site.write("/", "Start", "", ["/hr/a", "/private/x", "/list"])
    site.write("/hr/a", "A", "of the staff", head='<meta name="author" content="Jo Lee">')
    site.write("/list", "List", "is only followed", ["/behind"])
    site.write("/behind", "Behind", "the list")

    def change() -> None:
        site.write("/list", "List", "is only followed", ["/behind", "/hr/b"])
        site.write("/hr/b", "B", "came later")

    return change


@pair(kill_at=4)
def own_class(on: Stage) -> Change:
    """A spider of its own: other links, other documents, documents from `start()`, settings of Scrapy."""
    on.file("scrapy.cfg", "[settings]\n")
    on.file(
        "own_spider.py",
        "from ultracrawl.spiders import SourceSpider\n\n\n"
        "class Own(SourceSpider):\n"
        "    def links(self, response, page):\n"
        "        return response.css('main a::attr(href)').getall()\n\n"
        "    def documents(self, response, page):\n"
        "        if page.title == 'Skipped':\n"
        "            return\n"
        "        if page.title == 'Broken':\n"
        "            raise ValueError('cannot be read')\n"
        "        yield {'text': ' '.join(response.css('main ::text').getall()), 'search_attributes': {'Pages': 3}}\n",
    )
    on.define(
        {"attributes": {"Pages": "number"}},
        **{"class": "own_spider.Own"},
        settings={"COMPRESSION_ENABLED": True},
    )
    site = on.site
    main = '<main>only this counts <a href="/a">a</a> <a href="/skipped">s</a> <a href="/broken">b</a></main>'
    site.write("/", "Start", "not this", ["/not-followed"], body=main)
    site.write("/a", "A", "not this", body="<main>of a</main>")
    site.write("/skipped", "Skipped", "", body='<main>skipped <a href="/b">b</a></main>')
    site.write("/broken", "Broken", "", body="<main>broken</main>")
    site.write("/b", "B", "", body="<main>of b</main>")

    def change() -> None:
        site.write("/a", "A", "not this", body="<main>of a, changed</main>")
        site.write("/broken", "Mended", "", body="<main>mended</main>")

    return change
