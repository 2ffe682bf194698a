"""Options of scrapers' files that have no effect here, and why."""

_ENGINE = "it configures the search engine that a scraper fills"
_SENDING = "it is about sending records to a search engine"
_NOTE = "it is a note of the scraper"

UNUSED = {
    "custom_settings": _ENGINE,
    "custom_settings_schema": _ENGINE,
    "query_rules": _ENGINE,
    "synonyms": _ENGINE,
    "stopwords": _ENGINE,
    "primary_key": _ENGINE,
    "extra_records": "records that no page has are not indexed",
    "api_key": _SENDING,
    "app_id": _SENDING,
    "index_name_tmp": "the index is updated in place",
    "buffer_size_limit": _SENDING,
    "flush_interval_seconds": _SENDING,
    "nb_hits": _NOTE,
    "nb_hits_max": "the number of sections is not limited",
    "update_nb_hits": _NOTE,
    "conversation_id": _NOTE,
    "comments": _NOTE,
    "conversation_enabled": _NOTE,
    "docker_cpu": _NOTE,
    "docker_memory": _NOTE,
    "strategy": "there is one way to make sections of a page",
    "strict_redirect": "redirects may never leave the start URLs",
    "strict_redirects": "redirects may never leave the start URLs",
    "use_anchors": "the fragment of a URL never names a page of its own",
    "stop_content": "pages are not left out by their text",
    "keep_tags": "texts are indexed without tags",
    "dns_resolver": "the resolver of the system is used",
    "relative_url": "hits have whole URLs",
}
"""The reason by option."""
