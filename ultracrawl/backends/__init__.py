"""Names to classes: opens the state store, the document cache and the index that a project names."""

from ultracrawl.backends.open import (
    cache_folder,
    feeding_switch,
    former_indexes,
    index_config,
    open_cache,
    open_documents,
    open_index,
    open_indexer,
    open_lists,
    open_outlets,
    open_state,
    robot_file,
    state_exists,
    state_file,
    stored_documents_exist,
    value_lists,
)
from ultracrawl.backends.searching import Searcher
from ultracrawl.index.outlet import Indexer

__all__ = [
    "Indexer",
    "Searcher",
    "cache_folder",
    "feeding_switch",
    "former_indexes",
    "index_config",
    "open_cache",
    "open_documents",
    "open_index",
    "open_indexer",
    "open_lists",
    "open_outlets",
    "open_state",
    "robot_file",
    "state_exists",
    "state_file",
    "stored_documents_exist",
    "value_lists",
]
