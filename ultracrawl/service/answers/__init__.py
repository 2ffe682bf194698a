"""Golden queries: checks that the pages that people look for are among the first hits.

`checking.check_answers` runs the queries of a file (`sources.golden_queries`); `watching.AnswerWatch` does so after
crawls, for a notice when a page falls out; `outcome` is what its latest check found.
"""
