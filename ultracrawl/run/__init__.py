"""One run of one source, from its first request to its last commit.

* `CrawlContext`: the source, its compiled rules, the clock and the ports through which features act.
* `Feature`, `Hooks`: the base class of crawl features, and the registry that calls their hooks.
* `Recorder`: records and counts the one outcome of every visit.
* `Visit`: one URL from the frontier to its outcome.

Scrapy components get at them with `context_of(crawler)` and `parts_of(crawler)[FeatureClass]`. Each feature has its
own package: `auth`, `discovery`, `filters`, `indexing`, `inspection`, `listing`, `logs`, `placement`, `reading`,
`relations`, `removal`, `rendering`, `control`. All of them may use `transport` and `download_errors`.

The names below are imported on first use, because commands need only some of them and should not import Scrapy.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
