"""Value types shared by all layers; each is imported on first access.

* `Decision`: the verdict of a rule with its reason
* `Finding`: a mistake in a definition; `DefinitionError` carries several
* `UrlOutcome`, `StatusCode`, `Cause`: how the visit of a URL ended, and why
* `Removal`: why a document leaves the index
* `UrlRecord`: a row of the document table
* `Link`, `Page`: the result of parsing a response
* `Conversion`: the result of converting a document that is not HTML
* `Document`: the item of the item pipelines
* `RunReport`, `CrawlStatistics`: one crawl of one source, and its summary numbers
* `ScheduleStatus`: the state of a schedule
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
