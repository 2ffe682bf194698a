"""Middleware around the whole application: the proxy in front, checks before every request, cookies set late."""
