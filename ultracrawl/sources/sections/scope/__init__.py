"""Options for the scope of a source: boundary, URLs, links, limits, filters, sites."""
