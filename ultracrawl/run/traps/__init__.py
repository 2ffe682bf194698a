"""Recognises crawler traps in a crawl, and remembers them."""
