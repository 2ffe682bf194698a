"""Inspection of a source without requests: explanations of URLs, forecast of the next run, queue, sites."""
