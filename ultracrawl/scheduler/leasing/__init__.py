"""Sharing sites between the crawls of several sources: leases, turns, and the transfer of politeness clocks."""
