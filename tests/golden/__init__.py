"""Golden traces: what the program did with some 40 small sites, stored, and the same after every change of the code.

Each pair of site and definition in `pairs` is crawled, changed and crawled again; crawled, killed and crawled on; and
looked at without a crawl. All of it is driven from outside, by the command `ultracrawl` and files, so that no change
inside the program changes a test. `traces/NAME.json` keeps what came out: requests, URLs, reports, documents, texts,
and what some twenty searches find in the end. `traces/alone` is of the components that work in any Scrapy project,
`traces/served` of a service with schedules that gets every order.

A third of the pairs runs in `make test`, all of them in `make ci`, which kills each once, at a moment that the commit
draws. `make night` kills them at all moments, and plays runs in which nothing changes.

**A change of a trace is a change of behaviour: the commit that changes one says in its message which, and why.**

Traces are written anew by `ULTRACRAWL_GOLDEN=write .venv/bin/python -m pytest tests/golden`
(the tests still fail if a kill leaves something else than an undisturbed crawl); `git diff
tests/golden/traces` shows what became of them. What is left out of them, and why, stands in `normal`.
"""
