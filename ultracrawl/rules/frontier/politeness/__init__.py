"""When a site may be asked again: delays, back-off, Retry-After and hours of the day."""
