"""How crawls of several sources share sites: leases, turns, and the clocks that go along."""
