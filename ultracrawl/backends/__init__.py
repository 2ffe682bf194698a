"""Names to classes: opens the state store, the document cache and the index that a project names."""

from ultracrawl.backends.open import (
    Indexer,
    index_config,
    open_cache,
    open_documents,
    open_index,
    open_indexer,
    open_lists,
    open_state,
    state_exists,
    stored_documents_exist,
    value_lists,
)

__all__ = [
    "Indexer",
    "index_config",
    "open_cache",
    "open_documents",
    "open_index",
    "open_indexer",
    "open_lists",
    "open_state",
    "state_exists",
    "stored_documents_exist",
    "value_lists",
]
