"""Addresses of hosts: looked up in threads, remembered for a run."""
