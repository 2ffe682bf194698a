"""Documents that leave the index or wait to enter it: deletions, expiry, orphans, a changed scope, approval."""
