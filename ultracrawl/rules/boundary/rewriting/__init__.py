"""What becomes of a URL before any rule is asked: rewrite rules, copies of hosts, the user's own rewriter."""
