"""Sources that are listed: their listers name documents, which are queued, and their fetchers answer visits."""
