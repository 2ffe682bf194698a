"""Parsers for the bodies of responses: HTML, text, feeds, sitemaps, XML and converted documents. No I/O.

`reader.PageReader` parses a body into a `Page` by the options of a source; `html`, `text`, `feeds` and `xml` have the
parsers, `converters` those of PDF, Office and other formats, `service` the processes in which these run. `charset` and
`mime` detect encodings and media types; `directives` parses META robots and X-Robots-Tag.
"""
