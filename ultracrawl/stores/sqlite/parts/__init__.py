"""Parts of the store with tables of their own, beside those of documents, queue and runs."""
