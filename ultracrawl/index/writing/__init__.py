"""The way of documents into indexes: durable cache, outlets, the process that writes."""
