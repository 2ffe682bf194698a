"""Item pipelines, in order: `ChecksumPipeline`, `AttributePipeline`, `IndexPipeline`.

Items are read with itemadapter: a spider may yield `Document`s, dicts, dataclasses or Scrapy items with the fields of
`ultracrawl.model.Document`.
"""

from ultracrawl.pipelines.attributes import AttributePipeline
from ultracrawl.pipelines.checksum import ChecksumPipeline
from ultracrawl.pipelines.index import IndexPipeline

__all__ = ["AttributePipeline", "ChecksumPipeline", "IndexPipeline"]
