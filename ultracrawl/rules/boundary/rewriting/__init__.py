"""Rewriting of URLs before any rule applies: rewrite rules, host aliases, w3lib steps, the user's rewriter."""
