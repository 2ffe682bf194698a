"""Search engines that people already have, as destinations: OpenSearch, Elasticsearch, Meilisearch, Typesense, Solr.

`records` makes of a document what all of them hold; `engine_destination` keeps the order of requests; each module knows
the HTTP interface of one engine and nothing else.
"""
