"""Delivery of documents to indexes: document cache, destination queues, the index process."""
