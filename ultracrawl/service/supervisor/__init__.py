"""Crawls in child processes: starting, monitoring, restarting and ending them; and the long-running service."""
