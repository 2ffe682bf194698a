"""The way of documents into indexes: durable cache, destinations, the process that writes."""
