"""Settings of a plain Scrapy project; those below the line are of ultracrawl."""

BOT_NAME = "intranet"
SPIDER_MODULES = ["intranet.spiders"]
ROBOTSTXT_OBEY = True

# ---- incremental, by two settings: where it is remembered what was seen, and who asks what has changed

ULTRACRAWL_DATA = "var"
DOWNLOADER_MIDDLEWARES = {"ultracrawl.middlewares.ConditionalMiddleware": 705}

# ---- and searched: what is new or has changed goes into an index

ITEM_PIPELINES = {
    "ultracrawl.pipelines.ChecksumPipeline": 100,
    "ultracrawl.pipelines.AttributePipeline": 200,
    "ultracrawl.pipelines.IndexPipeline": 900,
}
