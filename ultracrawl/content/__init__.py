"""What a response holds: bytes become values, without any I/O.

`PageReader` reads answers as pages by the rules of one source, with what `AnswerHead` says.
`parse_html` and `parse_text` give a `Page`, `parse_directives` what META robots and X-Robots-Tag ask for,
`declared_base` what `<base href>` declares;
`parse_sitemap` gives a `Sitemap` of `SitemapUrl`s (`SitemapKind` says what the file was).
`decode` and `find_charset` find encodings; `declared_type`,
`sniff_type`, `effective_type` and `type_matches` are about media types, `parse_http_date` and
`parse_w3c_date` about moments, `parse_refresh` about META refresh, `parse_srcset` about image candidates.
`read_xml` reads XML from strangers safely: it sends `XmlEvents` or raises `XmlRefusedError`.
The module `languages` knows codes and names of languages. `ContentRule`
says what of a page is its text. `DEFAULT_KINDS` are the links followed unless a source says otherwise.
"""
