"""The way of documents to the indexes of a source: durable cache, index processes, confirmation, pauses."""
