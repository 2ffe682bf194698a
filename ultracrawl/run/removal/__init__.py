"""Documents that leave the index: deletions, expiry, orphans, changes of scope, unknown documents."""
