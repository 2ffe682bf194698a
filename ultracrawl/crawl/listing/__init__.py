"""Sources that are listed: what their listers name is queued, and their fetchers answer visits."""
