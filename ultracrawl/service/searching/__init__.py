"""Searching for those who ask a service: every face of it (API, pages) sends an order to `Searching.run`.

orders: what is searched for, as values that can cross the border of a process. requests: `Searching`. places: fairness
between requesters. searchers: open searchers. answers: the JSON object of an order.
"""
