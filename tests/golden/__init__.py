"""Golden traces: what the program did with some 40 small sites, stored, and the same after every change of the code.

Each pair of site and definition in `pairs` is crawled, changed and crawled again; crawled, killed and crawled on; and
looked at without a crawl. All of it is driven from outside, by the command `ultracrawl` and files, so that no change
inside the program changes a test. `traces/NAME.json` keeps what came out: requests, URLs, reports, documents, texts,
and what some twenty searches find in the end. `traces/alone` is of the components that work in any Scrapy project,
`traces/served` of a service with schedules that gets every order.

A third of the pairs runs in `make test` (`test_quick`), all of them in `make servers-test`.

**A change of a trace is a change of behaviour: the commit that changes one says in its message which, and why.**

Traces are written anew by `make servers-test ARGS=tests/golden JOBS=0` with `ULTRACRAWL_GOLDEN=write` in the
environment (the tests still fail if a kill leaves something else than an undisturbed crawl); `git diff
tests/golden/traces` shows what became of them. What is left out of them, and why, stands in `normal`.
"""
