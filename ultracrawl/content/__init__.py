"""What a response holds: bytes become values, without any I/O.

`PageReader` reads answers as pages by the rules of one source, with what `AnswerHead` says.
`parse_html` and `parse_text` give a `Page`, `parse_directives` what META robots and X-Robots-Tag ask for,
`declared_base` what `<base href>` declares;
`parse_sitemap` gives a `Sitemap` of `SitemapUrl`s (`SitemapKind` says what the file was).
`decode` and `find_charset` find encodings; `declared_type`,
`sniff_type`, `effective_type` and `type_matches` are about media types, `parse_http_date` and
`parse_w3c_date` about moments, `parse_refresh` about META refresh, `parse_srcset` about image candidates.
`read_xml` reads XML from strangers safely: it sends `XmlEvents` or raises `XmlRefusedError`. `first_words`
makes a description from the text. The module `languages` knows codes and names of languages. `outline_of` gives the
headings of a page (`Outline`). `DEFAULT_KINDS` are the links followed unless a source says otherwise.
"""

from ultracrawl.content.charset.decoding import decode, find_charset
from ultracrawl.content.directives import parse_directives
from ultracrawl.content.feeds.sitemap import Sitemap, SitemapKind, SitemapUrl, parse_sitemap
from ultracrawl.content.html.harvest import declared_base
from ultracrawl.content.html.links import DEFAULT_KINDS
from ultracrawl.content.html.outline import Outline, outline_of
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.srcset import parse_srcset
from ultracrawl.content.mime import declared_type, effective_type, sniff_type, type_matches
from ultracrawl.content.reader import LINK_TYPES, AnswerHead, PageReader
from ultracrawl.content.text import first_words, parse_text
from ultracrawl.content.xml import XmlEvents, XmlRefusedError, read_xml
from ultracrawl.model.dates import parse_http_date, parse_w3c_date

__all__ = [
    "DEFAULT_KINDS",
    "LINK_TYPES",
    "AnswerHead",
    "Outline",
    "PageReader",
    "Sitemap",
    "SitemapKind",
    "SitemapUrl",
    "XmlEvents",
    "XmlRefusedError",
    "declared_base",
    "declared_type",
    "decode",
    "effective_type",
    "find_charset",
    "first_words",
    "outline_of",
    "parse_directives",
    "parse_html",
    "parse_http_date",
    "parse_refresh",
    "parse_sitemap",
    "parse_srcset",
    "parse_text",
    "parse_w3c_date",
    "read_xml",
    "sniff_type",
    "type_matches",
]
