"""The sample intranet, crawled by a class of its own."""
