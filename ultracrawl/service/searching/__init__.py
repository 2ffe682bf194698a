"""Searching for those who ask a service: every face of it (API, pages) sends an order to `Searching.run`.

orders: what is searched for. requests: `Searching`. places: fairness between requesters. results: the cache of results.
In the service: processes, process, options; messages cross to the search processes: worker, searchers, answers.
"""
